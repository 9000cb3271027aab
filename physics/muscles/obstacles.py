"""The surfaces that a muscle's path wraps over, and the registry of their names in files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .. import registry
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..joints.symbols import Drawing, Pen
from ..validation import optional, vector
from .obstacle import ACROSS, AXES, LENGTH, THICKNESS, Obstacle, Part, capsule_nearness, revolved


@dataclass(frozen=True, eq=False, kw_only=True)
class Sphere(Obstacle):
    """A sphere about the origin of its frame.

    Attributes:
        radius: [m], positive.
    """

    radius: float = field(metadata=THICKNESS)
    type: ClassVar[str] = "sphere"
    kind: ClassVar[int] = 0

    def nearness(self, points: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(points, axis=1) / self.radius)

    def parameters(self) -> FloatArray:
        return np.array([self.radius])

    def grid(self, around: int = 24, along: int = 12) -> FloatArray:
        angle = np.linspace(0.0, np.pi, along + 1)
        return revolved(self.radius * np.sin(angle), self.radius * np.cos(angle), around)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cylinder(Obstacle):
    """A cylinder about the z axis of its frame.

    Attributes:
        radius: [m], positive.
        length: along z, the origin in the middle [m]; None: infinite. A path is straight where the points at which it
            would attach and leave are both beyond an end.
    """

    radius: float = field(metadata=THICKNESS)
    length: float | None = field(default=None, metadata=optional(LENGTH))
    type: ClassVar[str] = "cylinder"
    kind: ClassVar[int] = 1
    sides: ClassVar[tuple[str, ...]] = ("shorter", *ACROSS, "counterclockwise", "clockwise")
    open_ends: ClassVar[bool] = True

    def _check_side(self) -> None:
        along = isinstance(self.side, str) and self.side in ("+z", "-z")
        if not along:
            super()._check_side()
        if along or (not isinstance(self.side, str) and not np.any(self.side[:2])):
            raise ModelError(f"side of a cylinder must not lie along its axis z, got {self.side!r}")

    def nearness(self, points: FloatArray) -> FloatArray:
        return capsule_nearness(points, self.radius, np.inf if self.length is None else self.length)

    def parameters(self) -> FloatArray:
        return np.array([self.radius, np.inf if self.length is None else 0.5 * self.length])

    def grid(self, around: int = 24, along: int = 12) -> FloatArray:
        half = 2.0 * self.radius if self.length is None else 0.5 * self.length
        return revolved(np.full(along + 1, self.radius), np.linspace(-half, half, along + 1), around)


@dataclass(frozen=True, eq=False, kw_only=True)
class SphereCappedCylinder(Obstacle):
    """A cylinder with spherical ends: all points at one radius from a segment of its frame's z axis.

    Attributes:
        radius: [m], positive. length: of the segment, the origin in its middle [m], positive.
    """

    radius: float = field(metadata=THICKNESS)
    length: float = field(metadata=LENGTH)
    type: ClassVar[str] = "sphere_capped_cylinder"
    kind: ClassVar[int] = 4
    sides: ClassVar[tuple[str, ...]] = ("shorter", *AXES, "counterclockwise", "clockwise")

    def nearness(self, points: FloatArray) -> FloatArray:
        return capsule_nearness(points, self.radius, self.length)

    def parameters(self) -> FloatArray:
        return np.array([self.radius, 0.5 * self.length])

    def grid(self, around: int = 24, along: int = 12) -> FloatArray:
        angle = np.linspace(0.0, 0.5 * np.pi, along // 2 + 1)
        r, z = self.radius * np.sin(angle), 0.5 * self.length + self.radius * np.cos(angle)
        return revolved(np.concatenate([r, r[::-1]]), np.concatenate([z, -z[::-1]]), around)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ellipsoid(Obstacle):
    """An ellipsoid about the origin of its frame, along its axes.

    Attributes:
        radii: (3,) semi-axes [m], positive.
    """

    radii: FloatArray = field(metadata=THICKNESS | vector(3, positive=True))
    type: ClassVar[str] = "ellipsoid"
    kind: ClassVar[int] = 2

    def nearness(self, points: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(points / self.radii, axis=1))

    def parameters(self) -> FloatArray:
        return self.radii

    def grid(self, around: int = 24, along: int = 12) -> FloatArray:
        angle = np.linspace(0.0, np.pi, along + 1)
        return revolved(np.sin(angle), np.cos(angle), around) * self.radii


@dataclass(frozen=True, eq=False, kw_only=True)
class Torus(Obstacle):
    """A torus about the z axis of its frame; the path runs through its hole.

    The path touches the tube at one place at most, as on a pulley. A path that no longer goes through the hole is
    straight, even where it crosses other parts of the tube.

    Attributes:
        major_radius: of the circle in the tube's middle [m], positive.
        minor_radius: of the tube [m], positive, less than the major one.
    """

    major_radius: float = field(metadata=LENGTH)
    minor_radius: float = field(metadata=LENGTH)
    type: ClassVar[str] = "torus"
    kind: ClassVar[int] = 3
    sides: ClassVar[tuple[str, ...]] = ("shorter",)
    through: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.minor_radius < self.major_radius:
            raise ModelError(
                f"minor_radius of a torus must be less than its major_radius {self.major_radius:g}, "
                f"got {self.minor_radius:g}"
            )

    def _check_side(self) -> None:
        if not isinstance(self.side, str) or self.side != "shorter":
            raise ModelError(
                f"a torus has no sides, its path runs through the hole: side must be 'shorter', got {self.side!r:.80}"
            )

    def least_radius(self) -> float:
        return self.minor_radius

    def nearness(self, points: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(points, axis=1) / self.major_radius)

    def parameters(self) -> FloatArray:
        return np.array([self.major_radius, self.minor_radius])

    def grid(self, around: int = 24, along: int = 12) -> FloatArray:
        angle = np.linspace(0.0, 2.0 * np.pi, along + 1)
        r = self.major_radius + self.minor_radius * np.cos(angle)
        return revolved(r, self.minor_radius * np.sin(angle), around)


@dataclass(frozen=True, eq=False, kw_only=True)
class DoubleCylinder(Obstacle):
    """Two cylinders that the path meets in turn (Garner & Pandy 2000); the first lies about z of the frame.

    Attributes:
        radius, second_radius: [m], positive.
        second_frame: (4, 4) of the second cylinder, in the frame of the first. second_side: as `side`.
    """

    radius: float = field(metadata=THICKNESS)
    second_radius: float = field(metadata=THICKNESS)
    second_frame: FloatArray = field(metadata={"check": lie.check_frame})
    second_side: Any = "shorter"
    type: ClassVar[str] = "double_cylinder"
    sides: ClassVar[tuple[str, ...]] = Cylinder.sides

    def __post_init__(self) -> None:
        super().__post_init__()
        other = Cylinder(radius=self.second_radius, side=self.second_side, always=self.always)
        self._set("second_side", other.side)

    def nearness(self, points: FloatArray) -> FloatArray:
        place = self.second_frame
        second = np.linalg.norm(((points - place[:3, 3]) @ place[:3, :3])[:, :2], axis=1) / self.second_radius
        return np.asarray(np.minimum(np.linalg.norm(points[:, :2], axis=1) / self.radius, second))

    def parts(self) -> list[Part]:
        shared: dict[str, Any] = {"body": self.body, "always": self.always}
        first = Cylinder(frame=self.frame, side=self.side, radius=self.radius, **shared)
        place = self.frame @ self.second_frame
        second = Cylinder(frame=place, side=self.second_side, radius=self.second_radius, **shared)
        return [(first.frame, first), (second.frame, second)]

    def drawing(self) -> Drawing:
        pen = Pen()
        for _, part in self.parts():
            pen.add(part.drawing())
        return pen.drawing()


#: every obstacle class by its ``type``
REGISTRY: dict[str, type[Obstacle]] = registry.by_type(
    Sphere, Cylinder, SphereCappedCylinder, Ellipsoid, Torus, DoubleCylinder
)


def obstacle_from_dict(description: Mapping[str, Any]) -> Obstacle:
    """The obstacle described by ``Obstacle.to_dict``; FormatError or ModelError if it is invalid."""
    return registry.from_dict(description, REGISTRY, "an obstacle")
