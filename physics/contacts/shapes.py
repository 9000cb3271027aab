"""Shapes that are colliders only."""

from dataclasses import dataclass
from typing import ClassVar

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import finite
from .cores import Core, hull_core
from .obstacles import Obstacle


@dataclass(frozen=True, eq=False)
class Convex(Obstacle):
    """The convex hull of points.

    Attributes:
        points: (n, 3) [m], at least four, not in a plane; those inside the hull are ignored.
    """

    points: FloatArray
    type: ClassVar[str] = "convex"

    def __post_init__(self) -> None:
        points = finite(self.points, "points of a convex shape")
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
            raise ModelError(
                f"points of a convex shape must have shape (n, 3), n at least 4, got {points.shape}"
            )
        self._set("points", points)
        self._set("_core", hull_core(points))
        self.lock()

    def core(self) -> Core:
        return vars(self)["_core"]
