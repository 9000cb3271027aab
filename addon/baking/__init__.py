"""Baking."""
