"""Bodies with their limits and the laws of their coordinates, and the state that they are in."""
