"""Panel and operators of goals."""
