"""Panel and operators of checks."""
