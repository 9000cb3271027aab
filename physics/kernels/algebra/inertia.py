"""Spatial inertia of a rigid body in world axes about the tree's reference point, and its products with twists.

[[angular, coupling], [coupling^T, linear]] with coupling = m [r] (Lee & Terzopoulos 2008, eq. 8), by its six columns,
each an angular and a linear part in `lanes`; symmetric parts are stored twice, which costs no instruction.
"""

from typing import TypeAlias

from .. import layout as at
from ..compiler.jit import inline
from .access import load3
from .lanes import (
    Columns,
    Lanes,
    Pair,
    add_columns_times,
    add_lanes,
    add_pair,
    columns_times,
    cross_lanes,
    cross_sum,
    diagonal_columns,
    dot_lanes,
    lanes_of,
    load_axes,
    load_lanes,
    load_pair,
    numbers_of,
    scale_add_lanes,
    scale_add_pair,
    scale_lanes,
    skew_columns,
    skew_rows,
    store_pair,
    twist_of,
)
from .vectors import NONE, Array, Twist

Inertia: TypeAlias = tuple[Pair, Pair, Pair, Pair, Pair, Pair]


@inline
def central_inertia(body_float: Array, i: int, axes: Columns) -> Columns:
    """Rotational inertia of body i about its mass centre, for the axes of its link frame."""
    least = diagonal_columns(body_float[i, at.INERTIA])
    e = columns_times(axes, load3(body_float, i, at.INERTIA + 1))
    f = columns_times(axes, load3(body_float, i, at.INERTIA + 4))
    a, b = numbers_of(e), numbers_of(f)
    return (
        scale_add_lanes(scale_add_lanes(least[0], a[0], e), b[0], f),
        scale_add_lanes(scale_add_lanes(least[1], a[1], e), b[1], f),
        scale_add_lanes(scale_add_lanes(least[2], a[2], e), b[2], f),
    )


@inline
def inertia_about(mass: float, c: Lanes, central: Columns) -> Inertia:
    """Spatial inertia of a body with its mass centre at c. The angular part is central - m [c]^2."""
    x, y, z = numbers_of(c)
    coupling, linear = scale_lanes(mass, c), diagonal_columns(mass)
    first, second, third = skew_columns(coupling)
    transposed = skew_rows(coupling)
    return (
        (scale_add_lanes(scale_add_lanes(central[0], y, third), -z, second), transposed[0]),
        (scale_add_lanes(scale_add_lanes(central[1], z, first), -x, third), transposed[1]),
        (scale_add_lanes(scale_add_lanes(central[2], x, second), -y, first), transposed[2]),
        (first, linear[0]),
        (second, linear[1]),
        (third, linear[2]),
    )


@inline
def moving_inertia(body_float: Array, i: int, a: Pair, work: Array) -> tuple[Inertia, Pair]:
    """Inertia of rigid body i at its pose from `kinematics`, about the reference point, and the wrench J a - ad_v^* J v
    of its motion with an acceleration a.

    With w x c the part of the mass centre's velocity due to rotation, the wrench is the force m (a_u + a_w x c + w x (u
    + w x c)) in the mass centre and the couple I a_w + w x I w (Lee & Terzopoulos 2008, eq. 7): cheaper than the six by
    six products, with less round-off far from the reference point.
    """
    axes, mass = load_axes(work, i), body_float[i, at.MASS]
    c = add_columns_times(load_lanes(work, i, at.ORIGIN), axes, load3(body_float, i, at.COM))
    central = central_inertia(body_float, i, axes)
    w, u = load_pair(work, i, at.VELOCITY)
    turning = cross_sum(a[0], c, w, add_lanes(u, cross_lanes(w, c)))
    force = scale_lanes(mass, add_lanes(a[1], turning))
    couple = cross_sum(w, columns_times(central, load3(work, i, at.VELOCITY)), c, force)
    couple = add_lanes(columns_times(central, numbers_of(a[0])), couple)
    return inertia_about(mass, c, central), (couple, force)


@inline
def kinetic_energy_of(body_float: Array, i: int, work: Array) -> float:
    """Kinetic energy of rigid body i at its pose from `kinematics`: translation of the mass centre, and rotation with I
    = c 1 + e e^T + f f^T in its own axes.
    """
    axes = load_axes(work, i)
    w, u = load_pair(work, i, at.VELOCITY)
    c = add_columns_times(load_lanes(work, i, at.ORIGIN), axes, load3(body_float, i, at.COM))
    u = add_lanes(u, cross_lanes(w, c))
    e = columns_times(axes, load3(body_float, i, at.INERTIA + 1))
    f = columns_times(axes, load3(body_float, i, at.INERTIA + 4))
    least, mass = body_float[i, at.INERTIA], body_float[i, at.MASS]
    turning = dot_lanes(w, scale_lanes(least, w), u, scale_lanes(mass, u))
    none = lanes_of((0.0, 0.0, 0.0))
    along, across = dot_lanes(e, w, none, none), dot_lanes(f, w, none, none)
    return 0.5 * (turning + along * along + across * across)


@inline
def inertia_times(inertia: Inertia, s: Twist) -> Pair:
    """Inertia (rigid, composite or articulated) times a twist or an acceleration; two partial sums reduce latency."""
    j = inertia
    one = scale_lanes(s[0], j[0][0]), scale_lanes(s[0], j[0][1])
    other = scale_lanes(s[3], j[3][0]), scale_lanes(s[3], j[3][1])
    one = scale_add_pair(scale_add_pair(one, s[1], j[1]), s[2], j[2])
    return add_pair(one, scale_add_pair(scale_add_pair(other, s[4], j[4]), s[5], j[5]))


@inline
def momentum(inertia: Inertia, s: Twist) -> Twist:
    """`inertia_times` on scalars."""
    return twist_of(inertia_times(inertia, s))


@inline
def store_inertia(work: Array, i: int, inertia: Inertia) -> None:
    store_pair(work, i, at.COLUMNS, inertia[0])
    store_pair(work, i, at.COLUMNS + 8, inertia[1])
    store_pair(work, i, at.COLUMNS + 16, inertia[2])
    store_pair(work, i, at.COLUMNS + 24, inertia[3])
    store_pair(work, i, at.COLUMNS + 32, inertia[4])
    store_pair(work, i, at.COLUMNS + 40, inertia[5])


@inline
def clear_inertia(work: Array, i: int) -> None:
    """Store no inertia."""
    none = lanes_of(NONE), lanes_of(NONE)
    store_inertia(work, i, (none, none, none, none, none, none))


@inline
def load_inertia(work: Array, i: int) -> Inertia:
    return (
        load_pair(work, i, at.COLUMNS),
        load_pair(work, i, at.COLUMNS + 8),
        load_pair(work, i, at.COLUMNS + 16),
        load_pair(work, i, at.COLUMNS + 24),
        load_pair(work, i, at.COLUMNS + 32),
        load_pair(work, i, at.COLUMNS + 40),
    )


@inline
def sum_of(one: Inertia, other: Inertia) -> Inertia:
    return (
        add_pair(one[0], other[0]), add_pair(one[1], other[1]), add_pair(one[2], other[2]),
        add_pair(one[3], other[3]), add_pair(one[4], other[4]), add_pair(one[5], other[5]),
    )  # fmt: skip


@inline
def add_inertia(work: Array, i: int, inertia: Inertia) -> None:
    """Add to the stored inertia of body i."""
    store_inertia(work, i, sum_of(load_inertia(work, i), inertia))


@inline
def take_out(inertia: Inertia, u: Pair, inverse: float) -> Inertia:
    """Remove the motion with projected inertia u from an articulated inertia: subtract u u^T / d.

    The products of u do not depend on 1 / d.
    """
    j, n = inertia, twist_of(u)
    return (
        scale_add_pair(j[0], -inverse, (scale_lanes(n[0], u[0]), scale_lanes(n[0], u[1]))),
        scale_add_pair(j[1], -inverse, (scale_lanes(n[1], u[0]), scale_lanes(n[1], u[1]))),
        scale_add_pair(j[2], -inverse, (scale_lanes(n[2], u[0]), scale_lanes(n[2], u[1]))),
        scale_add_pair(j[3], -inverse, (scale_lanes(n[3], u[0]), scale_lanes(n[3], u[1]))),
        scale_add_pair(j[4], -inverse, (scale_lanes(n[4], u[0]), scale_lanes(n[4], u[1]))),
        scale_add_pair(j[5], -inverse, (scale_lanes(n[5], u[0]), scale_lanes(n[5], u[1]))),
    )
