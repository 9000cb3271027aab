"""Live mode: the scene's model runs by the clock while its knobs are turned."""
