"""Simulation and bake."""
