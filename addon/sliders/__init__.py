"""Sliders."""
