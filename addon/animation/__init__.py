"""Animation."""
