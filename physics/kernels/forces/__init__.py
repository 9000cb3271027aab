"""Springs, ground, mounts, limits and laws of coordinates."""
