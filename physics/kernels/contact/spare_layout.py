"""Rows of a system's vectors of an island, after those of `impacts`."""

from __future__ import annotations

from .impacts import IMPACT_VECTORS

# the first impulses of the step, and those nearest to the conditions; right side, impulses, speeds without impulses,
# their targets, friction, restitution
BEGIN, NEAREST, RIGHT, IMPULSE, FREE, TARGET, FRICTION, RESTITUTION = range(
    IMPACT_VECTORS, IMPACT_VECTORS + 8
)
SPARE_VECTORS = IMPACT_VECTORS + 8
JAMMED = 1e-9  # residual of impulses without solution
