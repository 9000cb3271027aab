"""Joints whose factors are functions of the coordinates: the ellipse, OpenSim's CustomJoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError, ModelError
from ..kernels import layout
from ..validation import unit_axis
from .base import IDENTITY, POSITIVE, Block, Factorization
from .curve_packing import kernel_twists
from .elementary import X, Y, Z, sliding, turning
from .functions import Function, TangentAngle, Wave, function_from_dict
from .joint import Joint


def function_block(twist: FloatArray, function: Function, weights: Sequence[float], first: int = 0) -> Block:
    """exp(twist f(u)) where u is the weighted sum of the coordinates from `first` on."""
    data = np.concatenate([kernel_twists(twist[None])[0], [len(weights)], weights, function.data()])
    return Block(layout.FUNCTION, first, IDENTITY, data)


@dataclass(frozen=True, eq=False)
class Elliptic(Joint):
    """Sliding along an ellipse in the x-y plane, turned with its tangent (Lee & Terzopoulos 2008, eqs. 17-20).

    Attributes:
        a, b: semi-axes along x and y [m]; at q = 0 the frame is at (0, -b).
    """

    a: float = field(metadata=POSITIVE)
    b: float = field(metadata=POSITIVE)
    type: ClassVar[str] = "elliptic"
    coordinate_names = ("angle",)
    coordinate_units = ("rad",)

    def factorization(self) -> Factorization:
        return Factorization(
            (
                function_block(sliding(X), Wave(sine=self.a), [1.0]),
                function_block(sliding(Y), Wave(cosine=-self.b), [1.0]),
                function_block(turning(Z), TangentAngle(self.a, self.b), [1.0]),
            ),
            IDENTITY,
        )


@dataclass(frozen=True, eq=False)
class Custom(Joint):
    """OpenSim's CustomJoint: translations along three axes of the parent, then three rotations, each a function.

    Attributes:
        coordinates: their names, at least one. units: ``"rad"`` (default), ``"m"`` or ``"1"`` of each.
        rotations, translations: three entries (axis, function, coordinate name or None) each. Without a coordinate the
            function is taken at 0: a `Linear` is then a constant. Axes are unit vectors; rotation axes move with the
            body, translation axes are fixed in the parent.
    """

    coordinates: tuple[str, ...]
    rotations: tuple[Any, ...]
    translations: tuple[Any, ...]
    units: tuple[str, ...] = ()
    type: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        for key in ("coordinates", "units", "rotations", "translations"):
            if not isinstance(getattr(self, key), list | tuple):
                raise ModelError(f"custom joint {key} must be a list, got {getattr(self, key)!r:.80}")
        names = tuple(self.coordinates)
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise ModelError(f"custom joint coordinates must be different names, got {self.coordinates!r}")
        units = tuple(self.units) or ("rad",) * len(names)
        if (
            len(units) != len(names)
            or not all(isinstance(unit, str) for unit in units)
            or not set(units) <= {"rad", "m", "1"}
        ):
            raise ModelError(f"custom joint units must be 'rad', 'm' or '1' per coordinate, got {units!r}")
        vars(self).update(coordinates=names, units=units, coordinate_names=names, coordinate_units=units)
        for key in ("rotations", "translations"):
            object.__setattr__(self, key, tuple(_checked_axes(getattr(self, key), key, names)))
        used = {name for _, _, name in (*self.rotations, *self.translations)}
        for name in names:
            if name not in used:
                raise ModelError(f"custom joint coordinate {name!r} moves nothing")

    def factorization(self) -> Factorization:
        def block(twist: FloatArray, function: Function, name: str | None) -> Block:
            if name is None:
                return function_block(twist, function, [])
            return function_block(twist, function, [1.0], self.coordinates.index(name))

        slides = [block(sliding(axis), function, name) for axis, function, name in self.translations]
        turns = [block(turning(axis), function, name) for axis, function, name in self.rotations]
        return Factorization((*slides, *turns), IDENTITY)

    def to_dict(self) -> dict[str, Any]:
        def listed(entries: Sequence[Any]) -> list[Any]:
            return [
                {"axis": list(axis), "function": function.to_dict(), "coordinate": name}
                for axis, function, name in entries
            ]

        return {
            "type": self.type,
            "coordinates": list(self.coordinates),
            "units": list(self.units),
            "rotations": listed(self.rotations),
            "translations": listed(self.translations),
        }


def _checked_axes(entries: Any, key: str, names: tuple[str, ...]) -> list[Any]:
    """Three (axis, function, coordinate) of a custom joint; entries read from a file are objects with those keys."""
    checked = []
    for number_, entry in enumerate(entries):
        where = f"custom joint {key}[{number_}]"
        if isinstance(entry, dict):
            if set(entry) != {"axis", "function", "coordinate"}:
                raise FormatError(f"{where} must have axis, function and coordinate, got {sorted(entry)}")
            entry = (entry["axis"], function_from_dict(entry["function"]), entry["coordinate"])
        if not isinstance(entry, list | tuple) or len(entry) != 3:
            raise ModelError(f"{where} must be (axis, function, coordinate), got {entry!r:.80}")
        axis, function, name = entry
        if not isinstance(function, Function):
            raise ModelError(f"{where} must follow a function of physics.joints, got {function!r:.80}")
        if name is not None and name not in names:
            raise ModelError(f"{where} follows an unknown coordinate {name!r}; there are {', '.join(names)}")
        checked.append((tuple(float(x) for x in unit_axis(axis, f"{where} axis")), function, name))
    if len(checked) != 3:
        raise ModelError(f"custom joint {key} must be three, got {len(checked)}")
    return checked
