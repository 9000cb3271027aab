"""Muscles."""
