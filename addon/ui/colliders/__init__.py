"""Panel and operators of colliders."""
