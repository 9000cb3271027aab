"""Bodies: what has mass."""
