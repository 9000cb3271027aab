"""Baked."""
