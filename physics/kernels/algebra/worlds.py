"""Numbers of four worlds that an operation processes together, with operators and in the tuples of `vectors`.

Compiled, such a number is one register (see `compiler.worlds`); plain Python uses arrays of four. In arrays they lie
along the last axis.
"""

from typing import TypeAlias

import numpy as np

from ..compiler.jit import inline, worldwise
from .spatial import in_quarter
from .vectors import Array, Rotation, Twist, Vector

Worlds: TypeAlias = Array
WIDTH = 4


@worldwise
def load_worlds(array: Array, row: int) -> Worlds:
    return array[row].copy()


@worldwise
def store_worlds(array: Array, row: int, x: Worlds) -> None:
    array[row] = x


@worldwise
def in_all(x: float) -> Worlds:
    """A number that is the same in all worlds."""
    return np.full(WIDTH, x)


@worldwise
def where_less(x: Worlds, y: Worlds, a: Worlds, b: Worlds) -> Worlds:
    """a in the worlds where x < y, else b."""
    return np.where(x < y, a, b)


@worldwise
def any_less(x: Worlds, y: Worlds) -> bool:
    """Whether x < y in any world."""
    return bool((x < y).any())


@worldwise
def sizes(x: Worlds) -> Worlds:
    """Absolute values."""
    return np.abs(x)


@inline
def loaded3(array: Array, row: int) -> Vector:
    return load_worlds(array, row), load_worlds(array, row + 1), load_worlds(array, row + 2)


@inline
def loaded6(array: Array, row: int) -> Twist:
    return loaded3(array, row) + loaded3(array, row + 3)


@inline
def loaded9(array: Array, row: int) -> Rotation:
    return loaded6(array, row) + loaded3(array, row + 6)


@inline
def keep3(array: Array, row: int, x: Vector) -> None:
    store_worlds(array, row, x[0])
    store_worlds(array, row + 1, x[1])
    store_worlds(array, row + 2, x[2])


@inline
def keep6(array: Array, row: int, x: Twist) -> None:
    keep3(array, row, x[:3])
    keep3(array, row + 3, x[3:])


@inline
def keep9(array: Array, row: int, x: Rotation) -> None:
    keep6(array, row, x[:6])
    keep3(array, row + 6, x[6:])


@inline
def sines_cosines(x: Worlds) -> tuple[Worlds, Worlds]:
    """`spatial.near_sine_cosine` of all worlds."""
    k, sine, cosine = in_quarter(x)
    square, near = k * k, in_all(0.5)
    unswapped, sign = sizes(square - 1.0), 1.0 - 0.5 * square
    return (
        where_less(unswapped, near, k * cosine, sign * sine),
        where_less(unswapped, near, -k * sine, sign * cosine),
    )
