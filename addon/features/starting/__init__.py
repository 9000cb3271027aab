"""Where a simulation starts, and what time does in it."""
