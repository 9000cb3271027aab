"""Points of a muscle's path: fixed to a body, moving in it, or present for a range of a coordinate only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body
from ..errors import FormatError, ModelError
from ..forces.base import body_index, link_points
from ..joints.base import IDENTITY
from ..joints.functions import Function, function_from_dict
from ..kernels.muscles import layout as at
from ..registry import check_keys
from ..validation import listed, near_names, number


@dataclass(frozen=True)
class Moving:
    """A component of a point that follows a coordinate, as OpenSim's moving path points do.

    Attributes:
        coordinate: ``body.coordinate``, one of the model's coordinate names.
        function: of that coordinate [m] (`physics.joints.functions`).
    """

    coordinate: str
    function: Function

    def __post_init__(self) -> None:
        if not isinstance(self.coordinate, str) or not isinstance(self.function, Function):
            raise ModelError(
                "a moving component needs the name of a coordinate and a function, "
                f"got {self.coordinate!r:.40} and {self.function!r:.40}"
            )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description."""
        return {"coordinate": self.coordinate, "function": self.function.to_dict()}


@dataclass(frozen=True)
class Condition:
    """A range of a coordinate in which a point is present, as of OpenSim's conditional path points.

    Attributes:
        coordinate: ``body.coordinate``, one of the model's coordinate names.
        lower, upper: ends of the range, both included.
    """

    coordinate: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not isinstance(self.coordinate, str):
            raise ModelError(f"a condition needs the name of a coordinate, got {self.coordinate!r:.80}")
        lower, upper = number(self.lower, "lower of a condition"), number(self.upper, "upper of a condition")
        if not lower <= upper:
            raise ModelError(f"the range of a condition is reversed: {lower:g} to {upper:g}")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description."""
        return {"coordinate": self.coordinate, "lower": self.lower, "upper": self.upper}


@dataclass(frozen=True)
class PathPoint:
    """A point of a muscle's path: its origin, its insertion, or one in between.

    Attributes:
        body: the body that carries it, or its name; None for the world.
        position: in the body's frame (3,) [m]; each component a number, or `Moving`.
        condition: when it is present; None: always.
    """

    body: Any
    position: Any
    condition: Condition | None = None

    def __post_init__(self) -> None:
        body = self.body.name if isinstance(self.body, Body) else self.body
        if body is not None and not isinstance(body, str):
            raise ModelError(f"the body of a path point must be a body, its name or None, got {body!r:.80}")
        object.__setattr__(self, "body", body)
        given = self.position
        if not isinstance(given, np.ndarray) or given.ndim != 1:
            given = listed(given, "components of a path point")
        if len(given) != 3:
            raise ModelError(f"a path point has three components, got {given!r:.80}")
        checked = (
            part if isinstance(part, Moving) else number(part, "a path point's component") for part in given
        )
        object.__setattr__(self, "position", tuple(checked))
        if self.condition is not None and not isinstance(self.condition, Condition):
            raise ModelError(f"a path point's condition must be a Condition, got {self.condition!r:.80}")

    @property
    def moves(self) -> bool:
        """Whether it moves in its body."""
        return any(isinstance(part, Moving) for part in self.position)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that move it in its body."""
        return tuple(part.coordinate for part in self.position if isinstance(part, Moving))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description."""
        described: dict[str, Any] = {
            "body": self.body,
            "position": [
                part.to_dict() if isinstance(part, Moving) else float(part) for part in self.position
            ],
        }
        if self.condition is not None:
            described["condition"] = self.condition.to_dict()
        return described

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
    check_keys(description, ("body", "position", "condition"), ("body", "position"), "path point")
    position = description["position"]
    if not isinstance(position, list | tuple):
        raise FormatError(f"the position of a path point must be a list, got {position!r:.80}")
    parts = [_component(part) for part in position]
    condition = description.get("condition")
    if condition is not None:
        keys = ("coordinate", "lower", "upper")
        check_keys(condition, keys, keys, "condition of a path point")
        condition = Condition(**condition)
    return PathPoint(description["body"], parts, condition)


def _component(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    check_keys(part, ("coordinate", "function"), ("coordinate", "function"), "moving component")
    return Moving(part["coordinate"], function_from_dict(part["function"]))
