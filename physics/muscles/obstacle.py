"""The base of all surfaces that a muscle's path wraps over, each fixed to a body."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays, Value
from ..joints.symbols import Drawing, Pen
from ..kernels.wrapping import layout as wrap_layout
from ..validation import POSITIVE, TRUTH, check_fields, finite_array

SENSES = {
    "shorter": wrap_layout.SHORTER,
    "counterclockwise": wrap_layout.COUNTERCLOCKWISE,
    "clockwise": wrap_layout.CLOCKWISE,
}
AXES = {f"{sign}{axis}": k for k, axis in enumerate("xyz") for sign in "+-"}
ACROSS = tuple(name for name in AXES if name[1] != "z")
# metadata of fields: their unit, and whether a smaller value leaves more room around the surface
LENGTH: dict[str, Any] = {"unit": "m", **POSITIVE}
THICKNESS: dict[str, Any] = {"thickness": True, **LENGTH}
#: an obstacle's frame in its body's frame, and the obstacle
Part: TypeAlias = "tuple[FloatArray, Obstacle]"


def _body(value: Any, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ModelError(f"{name} must be a name or None, got {value!r:.80}")
    return value


@dataclass(frozen=True, eq=False, kw_only=True)
class Obstacle(ReadOnlyArrays, Value):
    """Base of all surfaces to wrap over. An obstacle is immutable; equal ones have equal ``to_dict()``.

    Attributes:
        body: name of the body that carries it, None for the world.
        frame: (4, 4) its own frame in that body's frame.
        side: on which side the path passes: towards a point (3,) in its own frame, towards an end of an axis (``"+x"``,
            ``"-x"`` ... ``"-z"``, OpenSim's quadrant), or the ``"shorter"`` way round a circular section. For cylinders
            and capsules also ``"counterclockwise"`` or ``"clockwise"`` about z, always. With a point or an axis, a line
            that misses the surface is free, but for a cylinder or capsule with both ends on the other half. A line
            through an ellipsoid is passed the shorter way unless that bulges away from the point by more than 143
            degrees (cosine -0.8).
        always: whether the path passes on that side wherever its ends are: a line past the other side goes round, and
            so does one that bulges only partly away from the point. Round a cylinder, with one end on either half and
            both nearer than its radius to the plane through its axis and the side, it then runs counterclockwise from
            the end on that side. Needs a side.
        type: the obstacle's name in files and menus.
        kind: the kernels' number for it, as in ``kernels.wrapping.surface``.
        sides: the names that `side` may have. through: whether paths run through it, not around it.
        open_ends: whether `grid` leaves its ends open.
    """

    body: str | None = field(default=None, metadata={"check": _body})
    frame: FloatArray = field(default=None, metadata={"check": lie.frame_or_identity})  # type: ignore[arg-type]
    side: Any = "shorter"
    always: bool = field(default=False, metadata=TRUTH)
    type: ClassVar[str]
    kind: ClassVar[int]
    sides: ClassVar[tuple[str, ...]] = ("shorter", *AXES)
    through: ClassVar[bool] = False
    open_ends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_fields(self, f" of a {self.type}")
        self._check_side()
        if self.always and isinstance(self.side, str) and self.side == "shorter":
            raise ModelError(
                f"a {self.type} that a path always passes on one side needs a side, got 'shorter'"
            )
        self.lock()

    def _check_side(self) -> None:
        if isinstance(self.side, str):
            if self.side not in self.sides:
                raise ModelError(
                    f"side of a {self.type} must be a point or one of {self.sides}, got {self.side!r:.80}"
                )
            return
        point = finite_array(self.side, (3,), f"side of a {self.type}")
        if not np.abs(point).max() > 0.0:
            raise ModelError(f"side of a {self.type} must not be its origin")
        self._set("side", point)

    def _set(self, key: str, value: Any) -> None:
        object.__setattr__(self, key, value)

    def parameters(self) -> FloatArray:
        """Parameters of the shape for the kernels."""
        raise TypeError(f"{type(self).__name__} must define parameters()")

    def least_radius(self) -> float:
        """Least radius of the shape [m]: of its numbers that are a thickness."""
        thick = [name for name, setting in self.settings().items() if setting.get("thickness")]
        return float(min(np.min(getattr(self, name)) for name in thick))

    @classmethod
    def settings(cls) -> dict[str, Mapping[str, Any]]:
        """Unit, and whether it is a thickness, of each number that makes the shape, by name."""
        return {entry.name: entry.metadata for entry in fields(cls) if "unit" in entry.metadata}

    def nearness(self, points: FloatArray) -> FloatArray:
        """How near points (n, 3) in its own frame are, (n,): below 1 inside, or in the hole of a torus."""
        raise TypeError(f"{type(self).__name__} does not say what is inside")

    def parts(self) -> list[Part]:
        """Its primitive surfaces in the order in which the path meets them, with their frames."""
        return [(self.frame, self)]

    def record(self) -> FloatArray:
        """Record for the kernels: kind, sense, hint, parameters (see ``kernels.wrapping.layout``)."""
        record = np.zeros(wrap_layout.SHAPE_WIDTH)
        record[wrap_layout.SHAPE_KIND] = self.kind
        hint, by_hint = wrap_layout.SHAPE_HINT, wrap_layout.ALWAYS if self.always else wrap_layout.BY_HINT
        if not isinstance(self.side, str):
            record[wrap_layout.SHAPE_SENSE] = by_hint
            record[hint : hint + 3] = self.side / np.linalg.norm(self.side)
        elif self.side in AXES:
            record[wrap_layout.SHAPE_SENSE] = by_hint
            record[hint + AXES[self.side]] = 1.0 if self.side[0] == "+" else -1.0
        else:
            record[wrap_layout.SHAPE_SENSE] = SENSES[self.side]
        values = self.parameters()
        record[wrap_layout.SHAPE_PARAMETERS : wrap_layout.SHAPE_PARAMETERS + len(values)] = values
        return record

    def grid(self, around: int = 24, along: int = 12) -> FloatArray:
        """Points of the surface in its own frame, (along + 1, around, 3), closed in the second direction."""
        raise TypeError(f"{type(self).__name__} must define grid()")

    def drawing(self) -> Drawing:
        """Points and lines that show the surface, in its body's frame."""
        pen = Pen()
        grid = self.grid() @ self.frame[:3, :3].T + self.frame[:3, 3]
        for ring in grid[::3]:
            pen.stroke(np.concatenate([ring, ring[:1]]), "surface")
        for meridian in grid.swapaxes(0, 1)[::3]:
            pen.stroke(meridian, "surface")
        return pen.drawing()


def revolved(radius: Any, height: Any, around: int) -> FloatArray:
    """Points at these radii and heights (k,), revolved about z (k, around, 3)."""
    angle = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    r, z = np.atleast_1d(radius)[:, None], np.atleast_1d(height)[:, None]
    return np.stack(np.broadcast_arrays(r * np.cos(angle), r * np.sin(angle), z), axis=-1)


def capsule_nearness(points: FloatArray, radius: float, length: float) -> FloatArray:
    """Distances of points (n, 3) from a stretch of the z axis, by the radius."""
    beyond = np.maximum(np.abs(points[:, 2]) - 0.5 * length, 0.0)
    return np.asarray(np.hypot(np.linalg.norm(points[:, :2], axis=1), beyond) / radius)
