"""Muscles: curves whose points stick to bodies, and the surfaces that they wrap over."""
