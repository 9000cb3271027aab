"""Geodesics of curved obstacles, with derivatives by their beginning.

A surface is a level of a smooth function psi; its geodesics obey x'' = -(t H t / |g|^2) g with t = x', g and H the
first two derivatives of psi, the same for every level. A *lane* is a geodesic that depends on one more variable (time,
or a variation of its beginning): position and tangent, then their first and second derivatives by that variable, each
padded to four numbers. Lanes are integrated by the Runge-Kutta formula of order 8 of Dormand and Prince (Hairer,
Norsett & Wanner 1993, II.5).
"""

from __future__ import annotations

from typing import TypeAlias

from ..algebra.access import flat3
from ..algebra.axes import put3
from ..algebra.lanes import (
    Lanes,
    dot_lanes,
    flat_lanes,
    lanes_of,
    numbers_of,
    scale_add_lanes,
    scale_lanes,
    store_flat,
    times_lanes,
)
from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from . import layout as wrap
from .surface import CAPSULE, TORUS, Moving, bending, beyond_seams, gradient_of

Bend: TypeAlias = tuple[Lanes, Lanes, Lanes]  # as Moving

NONE = (0.0, 0.0, 0.0)
STAGES = 12
SHARES = (
    (0.05260015195876773,),
    (0.0197250569845379, 0.0591751709536137),
    (0.02958758547680685, 0.0, 0.08876275643042054),
    (0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792),
    (0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242),
    (0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125),
    (0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
     0.008273789163814023),
    (0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
     20.154067550477894, -43.48988418106996),
    (0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
     15.279233632882423, -33.28821096898486, -0.020331201708508627),
    (-0.9371424300859873, 0.0, 0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
     -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196),
    (2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625, -17.9589318631188,
     27.94888452941996, -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636),
    (0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
     0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259),
)  # fmt: skip
WEIGHTS = tuple(share for row in SHARES for share in row)  # a row of k begins at k (k - 1) / 2


@inline
def curving(kind: int, size: Vector, x: Bend, t: Bend) -> Bend:
    """Second derivative by the arc length of a geodesic, along a lane."""
    none = lanes_of(NONE)
    if kind == TORUS:
        y = numbers_of(x[0]), numbers_of(x[1]), numbers_of(x[2])
        g0, h0, i0 = gradient_of(kind, size, y[0], y[1], y[2])
        g, g1, g2 = lanes_of(g0), lanes_of(h0), lanes_of(i0)
        k, k1, k2 = bending(size, y, (numbers_of(t[0]), numbers_of(t[1]), numbers_of(t[2])))
    else:
        d = lanes_of(size)
        if kind == CAPSULE:
            place = numbers_of(x[0])
            up, cap = beyond_seams(size, place[2])
            d, g = lanes_of((1.0, 1.0, cap)), lanes_of((place[0], place[1], up))
        else:
            g = times_lanes(d, x[0])
        g1, g2, u, v = times_lanes(d, x[1]), times_lanes(d, x[2]), times_lanes(d, t[0]), times_lanes(d, t[1])
        k, k1 = dot_lanes(t[0], u, none, none), 2.0 * dot_lanes(t[1], u, none, none)
        k2 = 2.0 * dot_lanes(t[1], v, t[2], u)
    over = 1.0 / dot_lanes(g, g, none, none)
    q1, q2 = 2.0 * dot_lanes(g, g1, none, none), 2.0 * dot_lanes(g1, g1, g, g2)
    m = -k * over
    m1 = (-k1 - m * q1) * over
    m2 = (-k2 - 2.0 * m1 * q1 - m * q2) * over
    second = scale_add_lanes(scale_add_lanes(scale_lanes(m2, g), 2.0 * m1, g1), m, g2)
    return scale_lanes(m, g), scale_add_lanes(scale_lanes(m1, g), m, g1), second


@shared
def geodesic_curve(kind: int, size: Vector, x: Moving, t: Moving) -> Moving:
    """As `curving`, of numbers."""
    c, c1, c2 = curving(
        kind,
        size,
        (lanes_of(x[0]), lanes_of(x[1]), lanes_of(x[2])),
        (lanes_of(t[0]), lanes_of(t[1]), lanes_of(t[2])),
    )
    return numbers_of(c), numbers_of(c1), numbers_of(c2)


@inline
def lane_position(lane: Array, at: int) -> Moving:
    return flat3(lane, at), flat3(lane, at + wrap.RATES), flat3(lane, at + 2 * wrap.RATES)


@inline
def lane_tangent(lane: Array, at: int) -> Moving:
    return lane_position(lane, at + wrap.TANGENTS)


@inline
def set_lane(lane: Array, at: int, x: Moving, t: Moving) -> None:
    for k in range(3):
        put3(lane, at + k * wrap.RATES, x[k])
        put3(lane, at + k * wrap.RATES + wrap.TANGENTS, t[k])


@shared
def lane_step(kind: int, size: Vector, lane: Array, at: int, step: float, end: int, space: int) -> None:
    """The lane at `at`, advanced by a step of arc length, to `end`; uses 12 LANE numbers from `space` on."""
    for stage in range(STAGES + 1):
        x, v, a = lanes_of(NONE), lanes_of(NONE), lanes_of(NONE)
        t, u, b = lanes_of(NONE), lanes_of(NONE), lanes_of(NONE)
        row = stage * (stage - 1) // 2
        for other in range(stage):
            share = WEIGHTS[row + other]
            if share != 0.0:
                k = space + wrap.LANE * other
                x = scale_add_lanes(x, share, flat_lanes(lane, k))
                t = scale_add_lanes(t, share, flat_lanes(lane, k + 4))
                v = scale_add_lanes(v, share, flat_lanes(lane, k + 8))
                u = scale_add_lanes(u, share, flat_lanes(lane, k + 12))
                a = scale_add_lanes(a, share, flat_lanes(lane, k + 16))
                b = scale_add_lanes(b, share, flat_lanes(lane, k + 20))
        x = scale_add_lanes(flat_lanes(lane, at), step, x)
        t = scale_add_lanes(flat_lanes(lane, at + 4), step, t)
        v = scale_add_lanes(flat_lanes(lane, at + 8), step, v)
        u = scale_add_lanes(flat_lanes(lane, at + 12), step, u)
        a = scale_add_lanes(flat_lanes(lane, at + 16), step, a)
        b = scale_add_lanes(flat_lanes(lane, at + 20), step, b)
        into = end
        if stage < STAGES:
            into = space + wrap.LANE * stage
            c, c1, c2 = curving(kind, size, (x, v, a), (t, u, b))
            x, t, v, u, a, b = t, c, u, c1, b, c2
        store_flat(lane, into, x)
        store_flat(lane, into + 4, t)
        store_flat(lane, into + 8, v)
        store_flat(lane, into + 12, u)
        store_flat(lane, into + 16, a)
        store_flat(lane, into + 20, b)
