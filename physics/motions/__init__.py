"""Prescribed motions, excitations and tables of forces over time."""
