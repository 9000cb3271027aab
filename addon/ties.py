"""What of a model hangs together, and on the world: by joints, constraints, springs, ground and muscles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np


def of_bodies(model: Any) -> Iterator[tuple[int, int]]:
    """Numbers of two bodies (-1: the world) for all that lets one lie on, or hang from, the other: joints between
    bodies, constraints, springs, ground.
    """
    for number, body in enumerate(model.bodies):
        if body.parent >= 0:
            yield number, body.parent
    for each in (*model.springs, *model.forces, *model.contacts):
        if hasattr(each, "other"):
            yield each.body, each.other
    owners = {name: number for number, body in enumerate(model.bodies) for name in _coordinates(body)}
    for constraint in model.constraints.values():
        if constraint.type == "coupling":
            for name in constraint.drivers:
                yield owners[constraint.coordinate], owners[name]
        elif hasattr(constraint, "other"):
            yield model.index(constraint.body), _number(model, constraint.other)


def of_muscles(model: Any) -> Iterator[tuple[int, int]]:
    """As `of_bodies`, for the points of each muscle and the next ones."""
    for muscle in model.muscles:
        points = [part for part in muscle.path if hasattr(part, "moves")]
        for one, other in pairwise(points):
            yield _number(model, one.body), _number(model, other.body)


def together(model: Any, pairs: Iterable[tuple[int, int]]) -> np.ndarray:
    """A number for each body (nb,), the same where pairs tie one to the other, be it by way of more of them; not by
    the world.
    """
    groups = np.arange(len(model.bodies))
    for one, other in pairs:
        if one >= 0 and other >= 0:
            groups[groups == groups[other]] = groups[one]
    return groups


def _number(model: Any, name: str | None) -> int:
    return -1 if name is None else int(model.index(name))


def _coordinates(body: Any) -> list[str]:
    return [f"{body.name}.{name}" for name in body.joint.coordinate_names]
