"""Springs with dampers between points of two bodies, or of a body and the world (Wang 2022, sec. 3.10.3).

A row in data: body, point in its link frame, the other body, its point, stiffness, damping, rest length.
"""

from __future__ import annotations

import math

from ._jit import inline, jit
from .layout import (
    FORCE,
    POSE,
    REFERENCE,
    ROOT,
    SPRING_COUNT,
    SPRING_DAMPING,
    SPRING_OTHER,
    SPRING_REST,
    SPRING_ROWS,
    SPRING_STIFFNESS,
    SPRING_WIDTH,
    VELOCITY,
)
from .spatial import Array, Vector, add3, cross, flat3, load3, load6, load9, rotate, scale_add6, store6

ALONE = 1e-12  # m: ends that coincide have no direction to pull in


@inline
def end_of_spring(data: Array, at: int, body_int: Array, work: Array) -> tuple[Vector, Vector, Vector]:
    """World position, lever about the tree's reference point, and velocity of an end; `at` is where it is described."""
    body = int(data[at])
    point = flat3(data, at + 1)
    if body < 0:
        return point, point, (0.0, 0.0, 0.0)
    lever = add3(load3(work, body, POSE + 9), rotate(load9(work, body, POSE), point))
    twist = load6(work, body, VELOCITY)
    turn = cross((twist[0], twist[1], twist[2]), lever)
    velocity = add3((twist[3], twist[4], twist[5]), turn)
    return add3(lever, load3(work, body_int[body, ROOT], REFERENCE)), lever, velocity


@inline
def spring_length(a: Vector, b: Vector) -> tuple[float, Vector]:
    """Length and unit vector from a to b."""
    x = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    length = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    if length < ALONE:
        return length, (0.0, 0.0, 0.0)
    return length, (x[0] / length, x[1] / length, x[2] / length)


@inline
def pull(work: Array, body: int, lever: Vector, f: Vector, share: float) -> None:
    """Take share times the wrench of a force at a lever from a body's bias force."""
    if body >= 0:
        m = cross(lever, f)
        wrench = (m[0], m[1], m[2], f[0], f[1], f[2])
        store6(work, body, FORCE, scale_add6(load6(work, body, FORCE), -share, wrench))


@jit
def spring_forces(body_int: Array, data: Array, work: Array) -> None:
    """Forces of all springs, into the bodies' bias forces; after `outward`."""
    for k in range(int(data[SPRING_COUNT])):
        row = int(data[SPRING_ROWS]) + k * SPRING_WIDTH
        a, lever_a, va = end_of_spring(data, row, body_int, work)
        b, lever_b, vb = end_of_spring(data, row + SPRING_OTHER, body_int, work)
        length, u = spring_length(a, b)
        rate = u[0] * (vb[0] - va[0]) + u[1] * (vb[1] - va[1]) + u[2] * (vb[2] - va[2])
        tension = data[row + SPRING_STIFFNESS] * (length - data[row + SPRING_REST])
        tension += data[row + SPRING_DAMPING] * rate
        pull(work, int(data[row]), lever_a, u, tension)
        pull(work, int(data[row + SPRING_OTHER]), lever_b, u, -tension)


@jit
def spring_potential(body_int: Array, data: Array, work: Array) -> float:
    """Energy stored in all springs; after `outward`."""
    energy = 0.0
    for k in range(int(data[SPRING_COUNT])):
        row = int(data[SPRING_ROWS]) + k * SPRING_WIDTH
        a, _, _ = end_of_spring(data, row, body_int, work)
        b, _, _ = end_of_spring(data, row + SPRING_OTHER, body_int, work)
        stretch = spring_length(a, b)[0] - data[row + SPRING_REST]
        energy += 0.5 * data[row + SPRING_STIFFNESS] * stretch * stretch
    return energy
