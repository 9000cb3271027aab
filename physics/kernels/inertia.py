"""Spatial inertia of a rigid body in world axes about the tree's reference point, and what it does to twists.

[[angular, coupling], [coupling^T, linear]] with angular and linear symmetric (xx, xy, xz, yy, yz, zz) and coupling = m [r]
(Lee & Terzopoulos 2008, eq. 8).
"""

from __future__ import annotations

from typing import TypeAlias

from ._jit import jit
from .layout import ANGULAR, COM, COUPLING, INERTIA, LINEAR, MASS, POSE
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
    store6,
    store9,
)

Symmetric: TypeAlias = tuple[float, float, float, float, float, float]


@jit
def rotate_symmetric(r: Rotation, s: Symmetric) -> Symmetric:
    """R S R^T for a symmetric S."""
    x = rotate(r, (s[0], s[1], s[2]))
    y = rotate(r, (s[1], s[3], s[4]))
    z = rotate(r, (s[2], s[4], s[5]))
    # columns of R S are x, y, z read across: (R S)[row] = (x[row], y[row], z[row])
    return (
        x[0] * r[0] + y[0] * r[1] + z[0] * r[2],
        x[0] * r[3] + y[0] * r[4] + z[0] * r[5],
        x[0] * r[6] + y[0] * r[7] + z[0] * r[8],
        x[1] * r[3] + y[1] * r[4] + z[1] * r[5],
        x[1] * r[6] + y[1] * r[7] + z[1] * r[8],
        x[2] * r[6] + y[2] * r[7] + z[2] * r[8],
    )


@jit
def symmetric_times(s: Symmetric, x: Vector) -> Vector:
    return (
        s[0] * x[0] + s[1] * x[1] + s[2] * x[2],
        s[1] * x[0] + s[3] * x[1] + s[4] * x[2],
        s[2] * x[0] + s[4] * x[1] + s[5] * x[2],
    )


@jit
def world_inertia(body_float: Array, i: int, work: Array) -> tuple[float, Vector, Symmetric]:
    """Mass, centre of mass (from the reference point) and rotational inertia about the reference point."""
    mass = body_float[i, MASS]
    r = load9(work, i, POSE)
    com = add3(load3(work, i, POSE + 9), rotate(r, load3(body_float, i, COM)))
    central = rotate_symmetric(r, load6(body_float, i, INERTIA))
    x, y, z = com
    angular = (
        central[0] + mass * (y * y + z * z),
        central[1] - mass * x * y,
        central[2] - mass * x * z,
        central[3] + mass * (x * x + z * z),
        central[4] - mass * y * z,
        central[5] + mass * (x * x + y * y),
    )
    return mass, com, angular


@jit
def momentum(mass: float, com: Vector, angular: Symmetric, v: Twist) -> Twist:
    """Spatial inertia of a rigid body times a twist (or an acceleration)."""
    w = (v[0], v[1], v[2])
    u = (v[3], v[4], v[5])
    turn = symmetric_times(angular, w)
    lever = cross(com, u)
    carried = cross(w, com)
    return (
        turn[0] + mass * lever[0],
        turn[1] + mass * lever[1],
        turn[2] + mass * lever[2],
        mass * (u[0] + carried[0]),
        mass * (u[1] + carried[1]),
        mass * (u[2] + carried[2]),
    )


@jit
def velocity_cross_momentum(v: Twist, h: Twist) -> Twist:
    """-ad_v^* h, the rate of a momentum carried along (Lee & Terzopoulos 2008, eq. 7)."""
    return (
        v[1] * h[2] - v[2] * h[1] + v[4] * h[5] - v[5] * h[4],
        v[2] * h[0] - v[0] * h[2] + v[5] * h[3] - v[3] * h[5],
        v[0] * h[1] - v[1] * h[0] + v[3] * h[4] - v[4] * h[3],
        v[1] * h[5] - v[2] * h[4],
        v[2] * h[3] - v[0] * h[5],
        v[0] * h[4] - v[1] * h[3],
    )


@jit
def store_rigid_inertia(work: Array, i: int, mass: float, com: Vector, angular: Symmetric) -> None:
    """Start the articulated (or composite) inertia of body i from its own."""
    x, y, z = mass * com[0], mass * com[1], mass * com[2]
    store6(work, i, ANGULAR, angular)
    store9(work, i, COUPLING, (0.0, -z, y, z, 0.0, -x, -y, x, 0.0))
    store6(work, i, LINEAR, (mass, 0.0, 0.0, mass, 0.0, mass))


@jit
def stored_inertia_times(work: Array, i: int, s: Twist) -> Twist:
    """Stored (articulated or composite) inertia of body i times a twist."""
    w = (s[0], s[1], s[2])
    u = (s[3], s[4], s[5])
    coupling = load9(work, i, COUPLING)
    top = add3(symmetric_times(load6(work, i, ANGULAR), w), rotate(coupling, u))
    low = symmetric_times(load6(work, i, LINEAR), u)
    return (
        top[0],
        top[1],
        top[2],
        low[0] + coupling[0] * w[0] + coupling[3] * w[1] + coupling[6] * w[2],
        low[1] + coupling[1] * w[0] + coupling[4] * w[1] + coupling[7] * w[2],
        low[2] + coupling[2] * w[0] + coupling[5] * w[1] + coupling[8] * w[2],
    )
