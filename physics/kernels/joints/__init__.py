"""Poses, velocities and derivatives of products of exponentials and splines."""
