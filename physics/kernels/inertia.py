"""Spatial inertia of a rigid body in world axes about the tree's reference point, and what it does to twists.

[[angular, coupling], [coupling^T, linear]] with angular and linear symmetric (xx, xy, xz, yy, yz, zz) and coupling
= m [r] (Lee & Terzopoulos 2008, eq. 8).
"""

from __future__ import annotations

from typing import TypeAlias

from ._jit import inline
from .layout import ANGULAR, COM, COUPLING, INERTIA, LINEAR, MASS, POSE, VELOCITY
from .spatial import (
    Array,
    Rotation,
    Twist,
    Vector,
    add3,
    cross,
    load3,
    load6,
    load9,
    rotate,
    scale_add6,
    store6,
    store9,
)

Symmetric: TypeAlias = tuple[float, float, float, float, float, float]
Inertia: TypeAlias = tuple[Symmetric, Rotation, Symmetric]


@inline
def symmetric_times(s: Symmetric, x: Vector) -> Vector:
    return (
        s[0] * x[0] + s[1] * x[1] + s[2] * x[2],
        s[1] * x[0] + s[3] * x[1] + s[4] * x[2],
        s[2] * x[0] + s[4] * x[1] + s[5] * x[2],
    )


@inline
def world_inertia(
    body_float: Array, i: int, r: Rotation, p: Vector, v: Twist, a: Twist
) -> tuple[Inertia, Twist]:
    """Inertia of rigid body i about the reference point, and the wrench J a - ad_v^* J v that its motion takes.

    (r, p) is the pose of its link frame, v its twist and a its acceleration. With w x c the part of the mass centre's
    velocity that turning brings, the wrench is the force m (a_u + a_w x c + w x (u + w x c)) in the mass centre and
    the couple I a_w + w x I w (Lee & Terzopoulos 2008, eq. 7): far less work than the six by six products.
    """
    mass = body_float[i, MASS]
    c = add3(p, rotate(r, load3(body_float, i, COM)))
    least = body_float[i, INERTIA]
    e = rotate(r, load3(body_float, i, INERTIA + 1))
    f = rotate(r, load3(body_float, i, INERTIA + 4))
    central = (
        least + (e[0] * e[0] + f[0] * f[0]),
        e[0] * e[1] + f[0] * f[1],
        e[0] * e[2] + f[0] * f[2],
        least + (e[1] * e[1] + f[1] * f[1]),
        e[1] * e[2] + f[1] * f[2],
        least + (e[2] * e[2] + f[2] * f[2]),
    )
    w = (v[0], v[1], v[2])
    turn = (a[0], a[1], a[2])
    push = cross(w, add3((v[3], v[4], v[5]), cross(w, c)))
    push = add3(push, add3((a[3], a[4], a[5]), cross(turn, c)))
    force = (mass * push[0], mass * push[1], mass * push[2])
    couple = add3(cross(w, symmetric_times(central, w)), symmetric_times(central, turn))
    couple = add3(couple, cross(c, force))
    x, y, z = mass * c[0], mass * c[1], mass * c[2]
    angular = (
        central[0] + (y * c[1] + z * c[2]),
        central[1] - x * c[1],
        central[2] - x * c[2],
        central[3] + (x * c[0] + z * c[2]),
        central[4] - y * c[2],
        central[5] + (x * c[0] + y * c[1]),
    )
    inertia = (angular, (0.0, -z, y, z, 0.0, -x, -y, x, 0.0), (mass, 0.0, 0.0, mass, 0.0, mass))
    return inertia, (couple[0], couple[1], couple[2], force[0], force[1], force[2])


@inline
def moving_inertia(body_float: Array, i: int, a: Twist, work: Array) -> tuple[Inertia, Twist]:
    """`world_inertia` of body i where `kinematics` has brought it, for an acceleration a."""
    r, p, v = load9(work, i, POSE), load3(work, i, POSE + 9), load6(work, i, VELOCITY)
    return world_inertia(body_float, i, r, p, v, a)


@inline
def momentum(inertia: Inertia, s: Twist) -> Twist:
    """Inertia (rigid, composite or articulated) times a twist or an acceleration."""
    angular, coupling, linear = inertia
    w = (s[0], s[1], s[2])
    u = (s[3], s[4], s[5])
    top = add3(symmetric_times(angular, w), rotate(coupling, u))
    low = symmetric_times(linear, u)
    return (
        top[0],
        top[1],
        top[2],
        low[0] + (coupling[0] * w[0] + coupling[3] * w[1] + coupling[6] * w[2]),
        low[1] + (coupling[1] * w[0] + coupling[4] * w[1] + coupling[7] * w[2]),
        low[2] + (coupling[2] * w[0] + coupling[5] * w[1] + coupling[8] * w[2]),
    )


@inline
def store_inertia(work: Array, i: int, inertia: Inertia) -> None:
    store6(work, i, ANGULAR, inertia[0])
    store9(work, i, COUPLING, inertia[1])
    store6(work, i, LINEAR, inertia[2])


@inline
def load_inertia(work: Array, i: int) -> Inertia:
    return load6(work, i, ANGULAR), load9(work, i, COUPLING), load6(work, i, LINEAR)


@inline
def sum_of(one: Inertia, other: Inertia) -> Inertia:
    a, b = one[1], other[1]
    coupling = (
        *(a[0] + b[0], a[1] + b[1], a[2] + b[2]),
        *(a[3] + b[3], a[4] + b[4], a[5] + b[5]),
        *(a[6] + b[6], a[7] + b[7], a[8] + b[8]),
    )
    return scale_add6(one[0], 1.0, other[0]), coupling, scale_add6(one[2], 1.0, other[2])


@inline
def add_inertia(work: Array, i: int, inertia: Inertia) -> None:
    """Add to what is stored for body i."""
    store_inertia(work, i, sum_of(load_inertia(work, i), inertia))


@inline
def take_out(inertia: Inertia, u: Twist, inverse: float) -> Inertia:
    """Articulated inertia without the motion whose projected inertia is u: subtract u u^T / d."""
    angular, coupling, linear = inertia
    a, b, c = inverse * u[0], inverse * u[1], inverse * u[2]
    x, y, z = inverse * u[3], inverse * u[4], inverse * u[5]
    return (
        (
            angular[0] - a * u[0],
            angular[1] - a * u[1],
            angular[2] - a * u[2],
            angular[3] - b * u[1],
            angular[4] - b * u[2],
            angular[5] - c * u[2],
        ),
        (
            coupling[0] - a * u[3],
            coupling[1] - a * u[4],
            coupling[2] - a * u[5],
            coupling[3] - b * u[3],
            coupling[4] - b * u[4],
            coupling[5] - b * u[5],
            coupling[6] - c * u[3],
            coupling[7] - c * u[4],
            coupling[8] - c * u[5],
        ),
        (
            linear[0] - x * u[3],
            linear[1] - x * u[4],
            linear[2] - x * u[5],
            linear[3] - y * u[4],
            linear[4] - y * u[5],
            linear[5] - z * u[5],
        ),
    )
