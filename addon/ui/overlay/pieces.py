"""Lines that the overlay draws, and their styles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...blender import physics_access

#: colour and width [px] of the lines of each role in physics.joints.symbols
STYLES: dict[str, tuple[tuple[float, float, float], float]] = {
    "surface": ((0.78, 0.60, 0.35), 1.5),
    "path": ((1.00, 0.62, 0.10), 2.5),
    "axis": ((0.86, 0.88, 0.92), 1.5),
    **dict.fromkeys(("frame_x", "sample_x"), ((0.93, 0.24, 0.30), 1.5)),
    **dict.fromkeys(("frame_y", "sample_y"), ((0.46, 0.78, 0.13), 1.5)),
    **dict.fromkeys(("frame_z", "sample_z"), ((0.18, 0.52, 0.93), 1.5)),
    "limit": ((1.00, 0.30, 0.62), 2.5),
    "value": ((0.30, 0.85, 1.00), 2.5),
}


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of one width: ends (k, 2, 3) in Blender units, colours (k, 4)."""

    width: float
    ends: np.ndarray
    colors: np.ndarray

    def moved(self, place: np.ndarray) -> Lines:
        """The lines transformed by a pose (4, 4)."""
        return Lines(self.width, self.ends @ place[:3, :3].T + place[:3, 3], self.colors)


def painted(width: float, ends: np.ndarray, colors: Any, strength: float) -> Lines:
    """Lines with colours (k, 3 or 4), or one for all; `strength` scales their opacity."""
    rgba = np.ones((len(ends), 4))
    array = np.asarray(colors)
    rgba[:, : array.shape[-1]] = array
    rgba[:, 3] *= strength
    return Lines(width, ends, rgba)


def piece_lines(
    piece: physics_access.Drawing, roles: tuple[str, ...], metre: float, strength: float
) -> list[Lines]:
    """Lines of a piece of a joint's drawing that have these roles."""
    return [
        painted(width, piece.segments(role) * metre, color, strength)
        for role, (color, width) in STYLES.items()
        if role in roles and role in piece.roles
    ]


class Kept:
    """What was made for each of several things, until what it depends on changes."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Any, Any]] = {}

    def of(self, name: Any, key: Any, make: Callable[[], Any]) -> Any:
        """What was made for a thing with this key; what `make` returns if it has another one."""
        known = self._made.get(name)
        if known is None or known[0] != key:
            known = self._made[name] = key, make()
        return known[1]

    def forget(self) -> None:
        """Drop all."""
        self._made.clear()
