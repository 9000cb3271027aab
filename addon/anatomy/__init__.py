"""Meshes and the knee's motion that the demo and the presets are made of, as one file."""
