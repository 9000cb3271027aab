"""Radii of the surfaces under muscles' paths, and numbers of muscles' laws, as parameters of a motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..model.model import Model
from ..muscles.muscle import Muscle
from ..muscles.obstacle import Obstacle
from ..muscles.wrapping import Wrap
from .path_points import slices

#: share of a number by which differences of order four displace it, and by twice that: paths end at the tolerance of
#: their search, and tendons are stiff
DISPLACED = {"radii": 1e-4, "laws": 2e-5}


def _thicknesses(obstacle: Obstacle) -> list[str]:
    """Names of an obstacle's radii."""
    return [name for name, setting in obstacle.settings().items() if setting.get("thickness")]


def radii_of(muscle: Muscle) -> list[float]:
    """Radii (m,) [m] of the surfaces that a muscle's path wraps over, in its order."""
    surfaces = [each for wrap in muscle.strands.values() for each in wrap.obstacles]
    return [
        float(x) for each in surfaces for name in _thicknesses(each) for x in np.ravel(getattr(each, name))
    ]


def law_fields(muscle: Muscle) -> list[str]:
    """Names of the numbers of a muscle's law."""
    law: Any = muscle.law
    numbers = [] if law is None else [each.name for each in fields(law) if each.init]
    kept = [name for name in numbers if isinstance(getattr(law, name), int | float)]
    return [name for name in kept if not isinstance(getattr(law, name), bool)]


def law_numbers(muscle: Muscle) -> list[float]:
    """Those numbers (k,)."""
    return [float(getattr(muscle.law, name)) for name in law_fields(muscle)]


def slices_of(model: Model, numbers: Callable[[Muscle], list[float]]) -> list[slice]:
    """Of each muscle's numbers among those of all."""
    return slices(len(numbers(muscle)) for muscle in model.muscles)


def all_numbers(model: Model, numbers: Callable[[Muscle], list[float]]) -> FloatArray:
    """The numbers of all muscles."""
    return np.array([x for muscle in model.muscles for x in numbers(muscle)], dtype=np.float64)


def with_radii(muscle: Muscle, radii: FloatArray) -> Muscle:
    """The muscle with other radii (m,); itself if they are its own."""
    if radii.tolist() == radii_of(muscle):
        return muscle
    rest = iter(radii.tolist())
    path = [
        replace(item, obstacles=tuple(_with_radii(each, rest) for each in item.obstacles))
        if isinstance(item, Wrap)
        else item
        for item in muscle.path
    ]
    return replace(muscle, path=tuple(path))


def _with_radii(obstacle: Obstacle, rest: Iterable[float]) -> Obstacle:
    changed: dict[str, Any] = {}
    for name in _thicknesses(obstacle):
        old, numbers = getattr(obstacle, name), iter(rest)
        changed[name] = next(numbers) if np.ndim(old) == 0 else np.array([next(numbers) for _ in old])
    return replace(obstacle, **changed)


def with_law(muscle: Muscle, numbers: FloatArray) -> Muscle:
    """The muscle with other numbers (k,) of its law; itself if they are its own."""
    if muscle.law is None or numbers.tolist() == law_numbers(muscle):
        return muscle
    law: Any = muscle.law
    return replace(muscle, law=replace(law, **dict(zip(law_fields(muscle), numbers.tolist()))))


def displacement(key: str, value: float) -> float:
    """By how much differences displace a number of radii or laws."""
    return DISPLACED[key] * (abs(value) or 1.0)
