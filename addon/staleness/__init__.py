"""Staleness."""
