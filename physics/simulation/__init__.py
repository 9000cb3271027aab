"""Runs: `simulate`, many at once, loops and live ones."""
