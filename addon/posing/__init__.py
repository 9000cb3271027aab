"""Posing."""
