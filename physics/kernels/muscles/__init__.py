"""Muscles: paths, mass along them, Hill's laws and their states."""
