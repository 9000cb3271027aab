"""Deformable ground under nodes: k delta (1 + b delta') along the normal, never a pull, and friction against sliding.

The push (Hunt & Crossley 1975) is continuous where a node touches, so that implicit steps have an end. Friction is c
times the sliding velocity, c = mu push times a factor of its square.
In matrices of Newton's iteration it has the slope along the sliding too; the linearly implicit step takes c alone,
which is stable at any step. The change of friction with depth is left out of both: it would not be symmetric.
"""

from __future__ import annotations

import math

from ..algebra.access import load3
from ..algebra.vectors import Array, Vector, dot3, scale_add3
from ..compiler.jit import inline, shared
from . import layout as at
from .sparse import number3, write3


@inline
def touch(data: Array, row: int, place: Vector, rate: Vector) -> tuple[float, float, Vector]:
    """Push of the ground at a node, 0 where there is none, its slope by depth, and the node's sliding velocity."""
    normal = load3(data, row, at.GROUND_NORMAL)
    depth = data[row, at.GROUND_OFFSET] - dot3(normal, place)
    rising = dot3(normal, rate)
    slope = data[row, at.GROUND_STIFFNESS] * (1.0 - data[row, at.GROUND_DISSIPATION] * rising)
    return max(slope, 0.0) * max(depth, 0.0), slope, scale_add3(rate, -rising, normal)


@inline
def friction_slopes(data: Array, row: int, push: float, slide: Vector) -> tuple[float, float]:
    """Friction over the sliding speed, and the derivative of this by the speed's square, doubled."""
    slow, square = data[row, at.GROUND_SPEED], dot3(slide, slide)
    most = data[row, at.GROUND_FRICTION] * push
    if square < slow * slow:
        return 0.5 * most * (3.0 - square / (slow * slow)) / slow, -most / (slow * slow * slow)
    speed = math.sqrt(square)
    return most / speed, -most / (speed * square)


@shared
def add_ground_forces(mesh: Array, damped: bool, x: Array, v: Array, f: Array) -> None:
    """Forces of the ground on nodes; not damped: without what is proportional to velocities."""
    nodes, data = mesh[at.GROUND_NODES], mesh[at.GROUND_DATA]
    for n in range(nodes.shape[0]):
        j, row = nodes[n, 0], nodes[n, 1]
        push, slope, slide = touch(data, row, number3(x, j), number3(v, j))
        if push > 0.0:
            normal = load3(data, row, at.GROUND_NORMAL)
            if damped:
                drag, _ = friction_slopes(data, row, push, slide)
                force = scale_add3(scale_add3(number3(f, j), push, normal), -drag, slide)
            else:
                force = scale_add3(number3(f, j), push * data[row, at.GROUND_STIFFNESS] / slope, normal)
            write3(f, j, force)


@shared
def add_ground_blocks(
    mesh: Array, weights: tuple[float, float], along: bool, x: Array, v: Array, blocks: Array
) -> None:
    """Add to the blocks as `elements.add_tet_blocks` does. along: with the slope of friction along the sliding."""
    nodes, data = mesh[at.GROUND_NODES], mesh[at.GROUND_DATA]
    for n in range(nodes.shape[0]):
        j, row, b = nodes[n, 0], nodes[n, 1], nodes[n, 2]
        push, slope, slide = touch(data, row, number3(x, j), number3(v, j))
        if push > 0.0:
            normal = load3(data, row, at.GROUND_NORMAL)
            drag, bend = friction_slopes(data, row, push, slide)
            undamped = push * data[row, at.GROUND_STIFFNESS] / slope
            upright = weights[0] * slope + weights[1] * (data[row, at.GROUND_DISSIPATION] * undamped - drag)
            bend = weights[1] * bend if along else 0.0
            for c in range(3):
                blocks[b, 5 * c] += weights[1] * drag
                for r in range(3):
                    blocks[b, 4 * c + r] += upright * normal[r] * normal[c] + bend * slide[r] * slide[c]
