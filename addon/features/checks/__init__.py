"""Scene check, and the list of warnings."""
