"""Numerical kernels, which run compiled or as plain Python; each room imports only rooms below it."""
