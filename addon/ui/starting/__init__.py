"""Panel of the start of a simulation."""
