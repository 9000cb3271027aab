"""Panels and operators of the simulation and the bake."""
