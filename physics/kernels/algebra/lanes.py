"""Vectors of three numbers that an operation processes together, and pairs of them: twists and wrenches.

Compiled, a vector is one register (see `compiler.vectors`) and an operation is one instruction; plain Python uses
tuples. In arrays they are padded to four numbers, of which the last is ignored.
"""

from typing import TypeAlias

from .. import layout as at
from ..compiler.jit import inline, lanewise
from .spatial import Series
from .vectors import Array, Rotation, Twist, Vector, add3, cross, dot3, scale_add3

Lanes: TypeAlias = Vector
Pair: TypeAlias = tuple[Lanes, Lanes]  # angular and linear
Columns: TypeAlias = tuple[Lanes, Lanes, Lanes]  # of a matrix


@lanewise
def flat_from(array: Array, row: int) -> Array:
    """All numbers from a row on; Numba's `reshape` calls NumPy each time."""
    return array[row:].reshape(-1)


@lanewise
def load_lanes(array: Array, row: int, offset: int) -> Lanes:
    return array[row, offset], array[row, offset + 1], array[row, offset + 2]


@lanewise
def flat_lanes(array: Array, offset: int) -> Lanes:
    return array[offset], array[offset + 1], array[offset + 2]


@lanewise
def store_lanes(array: Array, row: int, offset: int, x: Lanes) -> None:
    array[row, offset], array[row, offset + 1], array[row, offset + 2] = x


@lanewise
def store_flat(array: Array, offset: int, x: Lanes) -> None:
    array[offset], array[offset + 1], array[offset + 2] = x


@lanewise
def lanes_of(x: Vector) -> Lanes:
    return x


@lanewise
def numbers_of(x: Lanes) -> Vector:
    return x


@lanewise
def scale_lanes(factor: float, x: Lanes) -> Lanes:
    return factor * x[0], factor * x[1], factor * x[2]


@lanewise
def add_lanes(a: Lanes, b: Lanes) -> Lanes:
    return add3(a, b)


@lanewise
def scale_add_lanes(a: Lanes, factor: float, b: Lanes) -> Lanes:
    """a + factor b."""
    return scale_add3(a, factor, b)


@lanewise
def times_lanes(a: Lanes, b: Lanes) -> Lanes:
    """Product of components."""
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


@lanewise
def cross_lanes(a: Lanes, b: Lanes) -> Lanes:
    return cross(a, b)


@lanewise
def cross_sum(a: Lanes, b: Lanes, c: Lanes, d: Lanes) -> Lanes:
    """a x b + c x d."""
    return add3(cross(a, b), cross(c, d))


@lanewise
def diagonal_columns(x: float) -> Columns:
    """x times the identity."""
    return (x, 0.0, 0.0), (0.0, x, 0.0), (0.0, 0.0, x)


@lanewise
def skew_columns(x: Lanes) -> Columns:
    """[x], which times y is x x y."""
    return (0.0, x[2], -x[1]), (-x[2], 0.0, x[0]), (x[1], -x[0], 0.0)


@lanewise
def skew_rows(x: Lanes) -> Columns:
    """[x]^T = -[x]."""
    return (0.0, -x[2], x[1]), (x[2], 0.0, -x[0]), (-x[1], x[0], 0.0)


@lanewise
def dot_lanes(a: Lanes, b: Lanes, c: Lanes, d: Lanes) -> float:
    """a . b + c . d."""
    return dot3(a, b) + dot3(c, d)


@inline
def series_lanes(x: Lanes, c: Series) -> Lanes:
    """`spatial.series` of three numbers."""
    y = times_lanes(x, x)
    a = scale_add_lanes(lanes_of((c[0], c[0], c[0])), c[1], x)
    b = scale_add_lanes(lanes_of((c[2], c[2], c[2])), c[3], x)
    d = scale_add_lanes(lanes_of((c[4], c[4], c[4])), c[5], x)
    b = add_lanes(b, times_lanes(y, scale_add_lanes(d, c[6], y)))
    return add_lanes(a, times_lanes(y, b))


@inline
def load_pair(array: Array, row: int, offset: int) -> Pair:
    return load_lanes(array, row, offset), load_lanes(array, row, offset + 4)


@inline
def store_pair(array: Array, row: int, offset: int, x: Pair) -> None:
    store_lanes(array, row, offset, x[0])
    store_lanes(array, row, offset + 4, x[1])


@inline
def load_axes(work: Array, i: int) -> Columns:
    """Rotation of body i's pose."""
    return load_lanes(work, i, at.POSE), load_lanes(work, i, at.POSE + 4), load_lanes(work, i, at.POSE + 8)


@inline
def pair_of(x: Twist) -> Pair:
    return lanes_of((x[0], x[1], x[2])), lanes_of((x[3], x[4], x[5]))


@inline
def twist_of(x: Pair) -> Twist:
    a, b = numbers_of(x[0]), numbers_of(x[1])
    return a[0], a[1], a[2], b[0], b[1], b[2]


@inline
def add_pair(a: Pair, b: Pair) -> Pair:
    return add_lanes(a[0], b[0]), add_lanes(a[1], b[1])


@inline
def scale_add_pair(a: Pair, factor: float, b: Pair) -> Pair:
    """a + factor b."""
    return scale_add_lanes(a[0], factor, b[0]), scale_add_lanes(a[1], factor, b[1])


@inline
def dot_pair(a: Pair, b: Pair) -> float:
    return dot_lanes(a[0], b[0], a[1], b[1])


@inline
def axes_of(r: Rotation) -> Columns:
    return lanes_of((r[0], r[3], r[6])), lanes_of((r[1], r[4], r[7])), lanes_of((r[2], r[5], r[8]))


@inline
def rotation_of(columns: Columns) -> Rotation:
    x, y, z = numbers_of(columns[0]), numbers_of(columns[1]), numbers_of(columns[2])
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@inline
def scale_pair(factor: float, x: Pair) -> Pair:
    return scale_lanes(factor, x[0]), scale_lanes(factor, x[1])


@inline
def bracket_pair(a: Pair, b: Pair) -> Pair:
    """`spatial.bracket`."""
    return cross_lanes(a[0], b[0]), cross_sum(a[1], b[0], a[0], b[1])


@inline
def screwed_pair(w: Lanes, v: Lanes, point: Lanes) -> Pair:
    """`spatial.twist_through`."""
    return w, add_lanes(v, cross_lanes(point, w))


@inline
def columns_times(columns: Columns, x: Vector) -> Lanes:
    """A matrix times a vector."""
    first = scale_add_lanes(scale_lanes(x[0], columns[0]), x[1], columns[1])
    return scale_add_lanes(first, x[2], columns[2])


@inline
def add_columns_times(y: Lanes, columns: Columns, x: Vector) -> Lanes:
    """y + a matrix times a vector."""
    return scale_add_lanes(
        scale_add_lanes(scale_add_lanes(y, x[0], columns[0]), x[1], columns[1]), x[2], columns[2]
    )


@inline
def columns_product(columns: Columns, r: Rotation) -> Columns:
    """A matrix times one that is given by rows."""
    return (
        columns_times(columns, (r[0], r[3], r[6])),
        columns_times(columns, (r[1], r[4], r[7])),
        columns_times(columns, (r[2], r[5], r[8])),
    )


@inline
def turned_columns(axes: Columns, sine: float, cosine: float) -> Columns:
    """A rotation times a rotation about its own z axis."""
    x, y, z = axes
    return (
        scale_add_lanes(scale_lanes(cosine, x), sine, y),
        scale_add_lanes(scale_lanes(cosine, y), -sine, x),
        z,
    )
