"""Rotations, twists, splines and smoothing of arrays."""
