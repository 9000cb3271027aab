"""Constraints between bodies, springs, ground."""
