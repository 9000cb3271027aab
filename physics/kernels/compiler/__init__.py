"""Compiles kernels, links them by name and caches them."""
