"""Points of a muscle's path: fixed to a body, moving in it, or present for a range of a coordinate only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..bodies.body import name_of
from ..errors import FormatError, ModelError
from ..forces.base import body_index, link_points
from ..geometry.immutable import Value
from ..joints.base import IDENTITY
from ..joints.functions import Function, function_from_dict
from ..kernels.muscles import layout as at
from ..registry import instance_from_dict
from ..validation import NUMBER, listed, near_names, number, of_kind, optional


@dataclass(frozen=True)
class Moving(Value):
    """A component of a point that follows a coordinate, as OpenSim's moving path points do.

    Attributes:
        coordinate: ``body.coordinate``, one of the model's coordinate names.
        function: of that coordinate [m] (`physics.joints.functions`).
    """

    coordinate: str = field(metadata=of_kind(str))
    function: Function = field(metadata=of_kind(Function))
    of: ClassVar[str] = " of a moving component"


@dataclass(frozen=True)
class Condition(Value):
    """A range of a coordinate in which a point is present, as of OpenSim's conditional path points.

    Attributes:
        coordinate: ``body.coordinate``, one of the model's coordinate names.
        lower, upper: ends of the range, both included.
    """

    coordinate: str = field(metadata=of_kind(str))
    lower: float = field(metadata=NUMBER)
    upper: float = field(metadata=NUMBER)
    of: ClassVar[str] = " of a condition"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.lower <= self.upper:
            raise ModelError(f"the range of a condition is reversed: {self.lower:g} to {self.upper:g}")


def _body(value: Any, name: str) -> str | None:
    named = name_of(value)
    if named is not None and not isinstance(named, str):
        raise ModelError(f"{name} must be a body, its name or None, got {named!r:.80}")
    return named


def _position(value: Any, name: str) -> tuple[float | Moving, ...]:
    parts = value if isinstance(value, np.ndarray) and value.ndim == 1 else listed(value, name)
    if len(parts) != 3:
        raise ModelError(f"{name} must have three components, got {parts!r:.80}")
    return tuple(part if isinstance(part, Moving) else number(part, name) for part in parts)


@dataclass(frozen=True)
class PathPoint(Value):
    """A point of a muscle's path: its origin, its insertion, or one in between.

    Attributes:
        body: the body that carries it, or its name; None for the world.
        position: in the body's frame (3,) [m]; each component a number, or `Moving`.
        condition: when it is present; None: always.
    """

    body: Any = field(metadata={"check": _body})
    position: Any = field(metadata={"check": _position})
    condition: Condition | None = field(default=None, metadata=optional(of_kind(Condition)))
    of: ClassVar[str] = " of a path point"

    @property
    def moves(self) -> bool:
        """Whether it moves in its body."""
        return any(isinstance(part, Moving) for part in self.position)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that move it in its body."""
        return tuple(part.coordinate for part in self.position if isinstance(part, Moving))

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in super().to_dict().items() if key != "condition" or value}

    def packed(
        self,
        index: Mapping[str, int],
        coordinates: Mapping[str, int],
        frames: Sequence[FloatArray],
        size: int,
    ) -> tuple[FloatArray, FloatArray]:
        """The point's row (``kernels.muscles.layout``), and the records of its functions, to begin at `size`.

        Raises:
            ModelError: a body or a coordinate is missing.
        """
        body = body_index(self.body, index, "body of a path point", world=True)
        frame = IDENTITY if body < 0 else frames[body]
        row = np.zeros(at.VIA_WIDTH)
        row[at.VIA_BODY], row[at.VIA_MOVES] = body, self.moves
        row[at.VIA_CONDITION] = -1.0
        if self.condition is not None:
            row[at.VIA_CONDITION] = coordinate_number(self.condition.coordinate, coordinates)
            row[at.VIA_LOWER], row[at.VIA_UPPER] = self.condition.lower, self.condition.upper
        row[at.VIA_COORDINATES : at.VIA_COORDINATES + 3] = -1.0
        row[at.VIA_FRAME : at.VIA_FRAME + 9] = frame[:3, :3].ravel()
        row[at.VIA_FRAME + 9 : at.VIA_FRAME + 12] = frame[:3, 3]
        functions: list[FloatArray] = []
        for j, part in enumerate(self.position):
            if isinstance(part, Moving):
                row[at.VIA_COORDINATES + j] = coordinate_number(part.coordinate, coordinates)
                row[at.VIA_FUNCTIONS + j] = size + sum(map(len, functions))
                functions.append(part.function.data())
            else:
                row[at.VIA_POINT + j] = part
        if not self.moves:
            point = np.array(self.position, dtype=np.float64)
            row[at.VIA_POINT : at.VIA_POINT + 3] = link_points(point, body, frames)
        return row, np.concatenate([*functions, np.zeros(0)])


def coordinate_number(name: str, coordinates: Mapping[str, int]) -> int:
    """Index of a coordinate by its name; ModelError if there is none."""
    if name not in coordinates:
        raise ModelError(f"no coordinate is named {name!r}{near_names(name, coordinates)}")
    return coordinates[name]


def point_from_dict(description: Any) -> PathPoint:
    """The point described by `PathPoint.to_dict`; FormatError if a key is unknown or missing."""
    read = {"position": _components, "condition": _condition}
    return instance_from_dict(description, PathPoint, "path point", read)


def _components(entries: Any) -> list[Any]:
    if not isinstance(entries, list | tuple):
        raise FormatError(f"the position of a path point must be a list, got {entries!r:.80}")
    read = {"function": function_from_dict}
    return [
        instance_from_dict(entry, Moving, "moving component", read) if isinstance(entry, Mapping) else entry
        for entry in entries
    ]


def _condition(entry: Any) -> Condition | None:
    return None if entry is None else instance_from_dict(entry, Condition, "condition of a path point")
