"""Control frames: the Empties that shape a spline curve joint."""
