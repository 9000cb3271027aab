"""Making."""
