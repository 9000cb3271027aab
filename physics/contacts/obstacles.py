"""Shapes that points of bodies collide with, each in its own frame, and their registry by type."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .. import registry
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.immutable import ReadOnlyArrays, Value
from ..kernels.contact import layout as contact_layout
from ..validation import NOT_NEGATIVE, POSITIVE, check_fields, finite, vector
from .cores import Core, box_core


class Obstacle(ReadOnlyArrays, Value):
    """Base of all obstacles. An obstacle is immutable; equal ones have equal ``to_dict()``.

    Attributes:
        type: the obstacle's name in files and menus.
        kind: the kernels' number for it.
    """

    type: ClassVar[str]
    kind: ClassVar[int]

    def __post_init__(self) -> None:
        check_fields(self, f" of a {self.type.replace('_', ' ')}")
        self.lock()

    def parameters(self) -> FloatArray:
        """Parameters of the shape for the kernels (see ``kernels.contact.geometry``)."""
        raise TypeError(f"{type(self).__name__} does not implement parameters()")

    def core(self) -> Core:
        """The convex core of the shape and its radius, for colliders."""
        raise TypeError(f"{type(self).__name__} does not implement core()")

    def _set(self, key: str, value: Any) -> None:
        object.__setattr__(self, key, value)


@dataclass(frozen=True, eq=False)
class Plane(Obstacle):
    """The plane z = 0 of its frame; solid below."""

    type: ClassVar[str] = "plane"
    kind: ClassVar[int] = contact_layout.PLANE

    def parameters(self) -> FloatArray:
        return np.zeros(0)

    def core(self) -> Core:
        return Core(np.zeros((0, 3)))


@dataclass(frozen=True, eq=False)
class Sphere(Obstacle):
    """A ball about the origin of its frame.

    Attributes:
        radius: [m], positive.
    """

    radius: float = field(metadata=POSITIVE)
    type: ClassVar[str] = "sphere"
    kind: ClassVar[int] = contact_layout.SPHERE

    def parameters(self) -> FloatArray:
        return np.array([self.radius])

    def core(self) -> Core:
        return Core(np.zeros((1, 3)), self.radius)


@dataclass(frozen=True, eq=False)
class Capsule(Obstacle):
    """All points within the radius of a segment of the z axis centred at the origin of its frame.

    Attributes:
        radius: [m], positive. half_length: of the segment [m], not negative.
    """

    radius: float = field(metadata=POSITIVE)
    half_length: float = field(metadata=NOT_NEGATIVE)
    type: ClassVar[str] = "capsule"
    kind: ClassVar[int] = contact_layout.CAPSULE

    def parameters(self) -> FloatArray:
        return np.array([self.radius, self.half_length])

    def core(self) -> Core:
        ends = np.array([[0.0, 0.0, -self.half_length], [0.0, 0.0, self.half_length]])
        return Core(ends if self.half_length > 0.0 else ends[:1], self.radius)


@dataclass(frozen=True, eq=False)
class Box(Obstacle):
    """A box centred at the origin of its frame, along its axes.

    A point inside leaves through the nearest face. Among faces at nearly equal distance, one below the centre of mass
    of the point's body is preferred: so boxes of equal width can be stacked.

    Attributes:
        half_sizes: (3,) [m], positive.
    """

    half_sizes: FloatArray = field(metadata=vector(3, positive=True))
    type: ClassVar[str] = "box"
    kind: ClassVar[int] = contact_layout.BOX

    def parameters(self) -> FloatArray:
        return self.half_sizes

    def core(self) -> Core:
        return box_core(self.half_sizes)


def _heights(value: Any, name: str) -> FloatArray:
    heights = finite(value, name)
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise ModelError(f"{name} must be at least 2 by 2, got shape {heights.shape}")
    return heights


@dataclass(frozen=True, eq=False)
class HeightField(Obstacle):
    """Ground z = h(x, y) over a rectangle that starts at the origin of its frame; solid below, nothing outside.

    h is the bicubic interpolation of Catmull & Rom (1974) between the samples, with a continuous slope; for a collider
    triangles between them. Gaps are distances from the nearest point of the surface.

    Attributes:
        heights: (rows, columns) [m], at least 2 by 2; heights[i, j] belongs to x = i spacing[0], y = j spacing[1].
        spacing: (2,) [m], positive.
    """

    heights: FloatArray = field(metadata={"check": _heights})
    spacing: FloatArray = field(metadata=vector(2, positive=True))
    type: ClassVar[str] = "height_field"
    kind: ClassVar[int] = contact_layout.HEIGHT_FIELD

    def core(self) -> Core:
        """Triangles between the samples."""
        rows, columns = self.heights.shape
        i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
        vertices = np.stack([i * self.spacing[0], j * self.spacing[1], self.heights], axis=-1).reshape(-1, 3)
        corner = (i * columns + j)[:-1, :-1].ravel()
        halves = [
            [corner, corner + columns, corner + 1],
            [corner + 1, corner + columns, corner + columns + 1],
        ]
        return Core(vertices, triangles=np.concatenate([np.stack(half, axis=1) for half in halves]))

    def parameters(self) -> FloatArray:
        padded = self.heights
        for _ in range(2):  # pad by a ring of linearly extrapolated samples
            first, last = 2.0 * padded[:1] - padded[1:2], 2.0 * padded[-1:] - padded[-2:-1]
            padded = np.concatenate([first, padded, last]).T
        # The absolute interpolation weights sum to at most 1.25 in each direction, so the surface exceeds its samples
        # by at most (1.25^2 - 1) / 2 of their range.
        top = padded.max() + 0.3 * (padded.max() - padded.min())
        return np.concatenate([self.heights.shape, self.spacing, [top], padded.ravel()])


#: every obstacle class by its ``type``; a new obstacle needs an entry here and in ``kernels.contact.geometry``
REGISTRY: dict[str, type[Obstacle]] = registry.by_type(Plane, Sphere, Capsule, Box, HeightField)


def obstacle_from_dict(description: Mapping[str, Any]) -> Obstacle:
    """The obstacle that ``Obstacle.to_dict`` described.

    Raises:
        FormatError: the type or a key is unknown, or a required key is missing.
        ModelError: the obstacle rejects a value.
    """
    return registry.from_dict(description, REGISTRY, "an obstacle")
