"""Bodies with their limits and the laws of their coordinates."""
