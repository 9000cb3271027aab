"""Geodesics of curved obstacles, with derivatives by their beginning.

A surface is a level of a smooth function psi; its geodesics obey x'' = -(t H t / |g|^2) g with t = x', g and H the
first two derivatives of psi, the same for every level. A *lane* is a geodesic that depends on one more variable (time,
or a variation of its beginning): position and tangent, then their first and second derivatives by that variable, 18
numbers. Lanes are integrated by the Runge-Kutta formula of order 8 of Dormand and Prince (Hairer, Norsett & Wanner
1993, II.5).
"""

from __future__ import annotations

from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector, dot3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .surface import Moving, bending, gradient_of

STAGES = 12
SHARES = (
    (0.05260015195876773,),
    (0.0197250569845379, 0.0591751709536137),
    (0.02958758547680685, 0.0, 0.08876275643042054),
    (0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792),
    (0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242),
    (0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125),
    (
        0.03709200011850479,
        0.0,
        0.0,
        0.17038392571223998,
        0.10726203044637328,
        -0.015319437748624402,
        0.008273789163814023,
    ),
    (
        0.6241109587160757,
        0.0,
        0.0,
        -3.3608926294469414,
        -0.868219346841726,
        27.59209969944671,
        20.154067550477894,
        -43.48988418106996,
    ),
    (
        0.47766253643826434,
        0.0,
        0.0,
        -2.4881146199716677,
        -0.590290826836843,
        21.230051448181193,
        15.279233632882423,
        -33.28821096898486,
        -0.020331201708508627,
    ),
    (
        -0.9371424300859873,
        0.0,
        0.0,
        5.186372428844064,
        1.0914373489967295,
        -8.149787010746927,
        -18.52006565999696,
        22.739487099350505,
        2.4936055526796523,
        -3.0467644718982196,
    ),
    (
        2.273310147516538,
        0.0,
        0.0,
        -10.53449546673725,
        -2.0008720582248625,
        -17.9589318631188,
        27.94888452941996,
        -2.8589982771350235,
        -8.87285693353063,
        12.360567175794303,
        0.6433927460157636,
    ),
    (
        0.054293734116568765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        0.3111643669578199,
        -0.1521609496625161,
        0.20136540080403034,
        0.04471061572777259,
    ),
)
WEIGHTS = tuple(share for row in SHARES for share in row)  # a row of k begins at k (k - 1) / 2


@shared
def geodesic_curve(kind: int, size: Vector, x: Moving, t: Moving) -> Moving:
    """Second derivative by the arc length of a geodesic, along a lane."""
    g, g1, g2 = gradient_of(kind, size, x[0], x[1], x[2])
    k, k1, k2 = bending(kind, size, x, t)
    q, q1 = dot3(g, g), 2.0 * dot3(g, g1)
    q2 = 2.0 * (dot3(g1, g1) + dot3(g, g2))
    m = -k / q
    m1 = (-k1 - m * q1) / q
    m2 = (-k2 - 2.0 * m1 * q1 - m * q2) / q
    first = (m1 * g[0] + m * g1[0], m1 * g[1] + m * g1[1], m1 * g[2] + m * g1[2])
    second = (
        m2 * g[0] + 2.0 * m1 * g1[0] + m * g2[0],
        m2 * g[1] + 2.0 * m1 * g1[1] + m * g2[1],
        m2 * g[2] + 2.0 * m1 * g1[2] + m * g2[2],
    )
    return (m * g[0], m * g[1], m * g[2]), first, second


@inline
def lane_position(lane: Array, at: int) -> Moving:
    return flat3(lane, at), flat3(lane, at + 6), flat3(lane, at + 12)


@inline
def lane_tangent(lane: Array, at: int) -> Moving:
    return flat3(lane, at + 3), flat3(lane, at + 9), flat3(lane, at + 15)


@inline
def set_lane(lane: Array, at: int, x: Moving, t: Moving) -> None:
    for k in range(3):
        lane[at + k], lane[at + 6 + k], lane[at + 12 + k] = x[0][k], x[1][k], x[2][k]
        lane[at + 3 + k], lane[at + 9 + k], lane[at + 15 + k] = t[0][k], t[1][k], t[2][k]


@shared
def lane_step(kind: int, size: Vector, lane: Array, at: int, step: float, end: int, space: int) -> None:
    """The lane at `at`, advanced by a step of arc length, to `end`; uses 13 LANE numbers from `space` on."""
    trial = space + STAGES * wrap.LANE
    for stage in range(STAGES + 1):
        into = end if stage == STAGES else trial
        for k in range(wrap.LANE):
            lane[trial + k] = 0.0
        row = stage * (stage - 1) // 2
        for other in range(stage):
            share = step * WEIGHTS[row + other]
            if share != 0.0:
                for k in range(wrap.LANE):
                    lane[trial + k] += share * lane[space + other * wrap.LANE + k]
        for k in range(wrap.LANE):
            lane[into + k] = lane[at + k] + lane[trial + k]
        if stage < STAGES:
            x, t = lane_position(lane, trial), lane_tangent(lane, trial)
            set_lane(lane, space + stage * wrap.LANE, t, geodesic_curve(kind, size, x, t))
