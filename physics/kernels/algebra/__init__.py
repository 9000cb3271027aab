"""Vectors, rotations, twists and small dense systems."""
