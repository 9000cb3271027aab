"""Compiling."""
