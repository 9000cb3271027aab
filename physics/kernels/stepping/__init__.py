"""Time steps: explicit, implicit and event-driven rollouts."""
