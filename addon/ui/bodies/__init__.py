"""Panel and operators of bodies."""
