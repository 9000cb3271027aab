"""Muscles: their paths over the bodies and over obstacles."""
