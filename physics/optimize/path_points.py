"""Points of muscles' paths as parameters of a motion: each is carried by a body that can be shifted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body
from ..errors import ModelError
from ..joints import Translational
from ..model.model import Model
from ..muscles.muscle import Muscle
from ..muscles.path import PathPoint

AXES = 3


@dataclass(frozen=True, eq=False)
class Shift(Translational):
    """Three lengths that stay at 0."""

    prescribed = (True,) * AXES


def point_numbers(muscle: Muscle) -> FloatArray:
    """Positions (m, 3) of a muscle's path points in their bodies [m]; 0 where one moves."""
    rows = [(0.0,) * AXES if point.moves else point.position for point in muscle.points]
    return np.array(rows, dtype=np.float64)


def point_slices(model: Model) -> list[slice]:
    """Of each muscle's path points among those of all."""
    return slices(len(muscle.points) for muscle in model.muscles)


def slices(counts: Iterable[int]) -> list[slice]:
    """Of successive parts with these numbers of rows."""
    ends = np.cumsum([0, *counts])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def check_points(muscle: Muscle, index: int | None) -> None:
    """ModelError if a path point (all if None) moves in its body."""
    for k, point in enumerate(muscle.points):
        if point.moves and index in (None, k):
            raise ModelError(f"point {k} of muscle {muscle.name!r} moves in its body: it has no gradient")


def with_points(muscle: Muscle, points: Sequence[PathPoint]) -> Muscle:
    others = iter(points)
    path = tuple(next(others) if isinstance(item, PathPoint) else item for item in muscle.path)
    return replace(muscle, path=path)


def moved_muscles(model: Model, numbers: FloatArray) -> tuple[Muscle, ...]:
    """The model's muscles with other positions (m, 3) of all path points; those that are their own stay."""
    result = []
    for muscle, rows in zip(model.muscles, point_slices(model)):
        if not np.array_equal(numbers[rows], point_numbers(muscle)):
            pairs = zip(muscle.points, numbers[rows].tolist())
            muscle = with_points(
                muscle, [each if each.moves else replace(each, position=at) for each, at in pairs]
            )
        result.append(muscle)
    return tuple(result)


def carried(model: Model, points: Sequence[int]) -> tuple[list[Body], tuple[Muscle, ...]]:
    """A body for each of some path points, by number among those of all, and the muscles with points on them."""
    bodies, muscles, open_ = [], [], np.tile([-np.inf, np.inf], (AXES, 1))
    for muscle, rows in zip(model.muscles, point_slices(model)):
        path = list(muscle.points)
        for k in range(rows.stop - rows.start):
            if rows.start + k not in points:
                continue
            name, point, place, none = f"point {k} of {muscle.name}", path[k], np.eye(4), np.zeros(AXES)
            place[:3, 3] = point.position
            given: dict[str, Any] = {"joint_in_parent": place, "body_in_joint": np.eye(4), "limits": open_}
            given |= dict.fromkeys(("stiffness", "rest", "damping", "armature", "com"), none)
            given |= dict.fromkeys(("elastic", "damper", "viscosity"), (None,) * AXES)
            given |= {"limit_stiffness": none, "limit_damping": none, "limit_restitution": None}
            parent = -1 if point.body is None else model.index(point.body)
            bodies.append(Body(name, parent, Shift(), mass=0.0, inertia=np.zeros((3, 3)), **given).lock())
            path[k] = PathPoint(name, (0.0,) * AXES, point.condition)
        muscles.append(with_points(muscle, path))
    return bodies, tuple(muscles)
