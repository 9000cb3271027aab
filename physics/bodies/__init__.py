"""Bodies with their limits, the laws of their coordinates, and their state."""
