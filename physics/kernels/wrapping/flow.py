"""Geodesics of curved obstacles, with derivatives by their beginning.

A surface is a level of a smooth function psi; its geodesics obey x'' = -(t H t / |g|^2) g with t = x', g and H the
first two derivatives of psi, the same for every level. A *lane* is a geodesic that depends on one more variable (time,
or a variation of its beginning): position and tangent, then their first and second derivatives by that variable, each
padded to four numbers.

(t H t) |g|^2 is constant along geodesics of a quadric (Joachimsthal), x y' - y x' on a torus (Clairaut), so that x''
depends on x alone: lanes are integrated by the Runge-Kutta-Nystrom formula of order 12 of Dormand, El-Mikkawy and
Prince (1987, IMA Journal of Numerical Analysis 7, 423).
"""

from typing import TypeAlias

import numpy as np

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
PLACES = np.array((
    0.0, 0.02, 0.04, 0.1, 0.13333333333333333, 0.16, 0.05, 0.2, 0.25, 0.3333333333333333, 0.5,
    0.5555555555555556, 0.75, 0.8571428571428571, 0.9452162222720143, 1.0, 1.0,
))  # fmt: skip
SHARES = (
    (0.0002,),
    (0.0002666666666666667, 0.0005333333333333334),
    (0.002916666666666667, -0.004166666666666667, 0.00625),
    (0.0016460905349794238, 0.0, 0.0054869684499314125, 0.0017558299039780521),
    (0.0019456, 0.0, 0.007151746031746032, 0.0029127111111111113, 0.0007899428571428571),
    (0.00056640625, 0.0, 0.0008809730489417989, -0.0004369212962962963, 0.00033900669642857143,
     -9.946469907407407e-05),
    (0.0030833333333333333, 0.0, 0.0, 0.0017777777777777779, 0.0027, 0.0015782828282828283,
     0.01086060606060606),
    (0.00365183937480113, 0.0, 0.003965171714072343, 0.0031972582629306284, 0.008221467306855435,
     -0.0013130926959572379, 0.009771586968064868, 0.003755769069232834),
    (0.003707241068718501, 0.0, 0.005082045854555286, 0.001174708002175412, -0.021147629915126993,
     0.06010463698107881, 0.02010573476850619, -0.02835075012293358, 0.014879568918581932),
    (0.03512537656073344, 0.0, -0.008615749195138479, -0.005791448051007917, 1.945554823782616,
     -3.4351238674565137, -0.10930701107475221, 2.3496383118995166, -0.7560094086870229,
     0.10952897222156927),
    (0.020527792537482496, 0.0, -0.00728644676448018, -0.0021153556079618403, 0.9275807968723522,
     -1.6522824844257367, -0.02107956300568657, 1.2065364326207872, -0.4137144770010661,
     0.09079873982809654, 0.005355552600533985),
    (-0.14324078875545515, 0.0, 0.012528703773091817, 0.006826019163969827, -4.799555395574387,
     5.6986250439519415, 0.7553430369523645, -0.12755487858281084, -1.9605926051117384, 0.9185609056635262,
     -0.23880085505284432, 0.15911081357234216),
    (0.8045019205520489, 0.0, -0.016658527067011247, -0.021415834042629735, 16.827235928962466,
     -11.172835357176098, -3.377159297226324, -15.243326655360846, 17.179835738215417, -5.437719239823995,
     1.3878671618364655, -0.5925827732652812, 0.029603873171297354),
    (-0.913296766697358, 0.0, 0.0024112725757805178, 0.01765812269386174, -14.851649779720384,
     2.1589708670045757, 3.99791558311788, 28.434151800232232, -25.2593643549416, 7.733878542362238,
     -1.8913028948478674, 1.0014845070224718, 0.004641199599109052, 0.011218755022148957),
    (-0.27519629720559396, 0.0, 0.03661188877915492, 0.009789519688231562, -12.293062345886211,
     14.207226453937903, 1.5866476906789537, 2.4577735327595946, -8.935193694403273, 4.373672731613407,
     -1.8347181765449492, 1.1592085289061491, -0.017290253165383924, 0.019325977904460768,
     0.005204442937554993),
    (1.3076391847404059, 0.0, 0.017364109189745843, -0.018544456454265796, 14.811522032867726,
     9.38317630848247, -5.2284261999445425, -48.95128052584765, 38.297096034337926, -10.58738133697598,
     2.4332304376226275, -1.0453406042575444, 0.0717732095086726, 0.0021622109708082783,
     0.007009595759602514, 0.0),
)  # fmt: skip
SPEEDS = np.array((
    0.012127868517185414, 0.0, 0.0, 0.0, 0.0, 0.0, 0.09083943422704079, 0.3156836976483934,
    -0.2632249065769097, 0.3047803786184589, -0.041551616155429835, 0.2467756096762953, 0.15226053010586602,
    0.08143848163026961, 0.08502571193890811, -0.009155189630077963, 0.025,
))  # fmt: skip
WEIGHTS = np.array([share for row in SHARES for share in row])  # a row of k begins at k (k - 1) / 2


@inline
def kept_by(kind: int, size: Vector, x: Bend, t: Bend) -> Vector:
    """What is constant along a geodesic, of a lane with these positions and tangents."""
    if kind == TORUS:
        p, v, a = numbers_of(x[0]), numbers_of(x[1]), numbers_of(x[2])
        u, w, b = numbers_of(t[0]), numbers_of(t[1]), numbers_of(t[2])
        m = p[0] * u[1] - p[1] * u[0]
        m1 = v[0] * u[1] - v[1] * u[0] + p[0] * w[1] - p[1] * w[0]
        m2 = a[0] * u[1] - a[1] * u[0] + p[0] * b[1] - p[1] * b[0]
        return m, m1, m2 + 2.0 * (v[0] * w[1] - v[1] * w[0])
    none = lanes_of(NONE)
    d, g, g1, g2 = slopes(kind, size, x)
    u, v = times_lanes(d, t[0]), times_lanes(d, t[1])
    k, k1 = dot_lanes(t[0], u, none, none), 2.0 * dot_lanes(t[1], u, none, none)
    k2 = 2.0 * dot_lanes(t[1], v, t[2], u)
    q, q1, q2 = (
        dot_lanes(g, g, none, none),
        2.0 * dot_lanes(g, g1, none, none),
        2.0 * dot_lanes(g1, g1, g, g2),
    )
    return k * q, k1 * q + k * q1, k2 * q + 2.0 * k1 * q1 + k * q2


@inline
def slopes(kind: int, size: Vector, x: Bend) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    """The diagonal of a quadric's H, and its gradient along a lane."""
    d = lanes_of(size)
    g = times_lanes(d, x[0])
    if kind == CAPSULE:
        place = numbers_of(x[0])
        up, cap = beyond_seams(size, place[2])
        d, g = lanes_of((1.0, 1.0, cap)), lanes_of((place[0], place[1], up))
    return d, g, times_lanes(d, x[1]), times_lanes(d, x[2])


@inline
def curving(kind: int, size: Vector, kept: Vector, x: Bend) -> Bend:
    """Second derivative by the arc length of a geodesic, along a lane with these constants."""
    none = lanes_of(NONE)
    k, k1, k2 = kept
    if kind == TORUS:
        y = numbers_of(x[0]), numbers_of(x[1]), numbers_of(x[2])
        g0, h0, i0 = gradient_of(kind, size, y[0], y[1], y[2])
        g, g1, g2 = lanes_of(g0), lanes_of(h0), lanes_of(i0)
        k, k1, k2 = bending(size, y, kept)
    else:
        _, g, g1, g2 = slopes(kind, size, x)
    over = 1.0 / dot_lanes(g, g, none, none)
    q1, q2 = 2.0 * dot_lanes(g, g1, none, none), 2.0 * dot_lanes(g1, g1, g, g2)
    if kind != TORUS:
        k *= over
        k1 = (k1 - k * q1) * over
        k2 = (k2 - 2.0 * k1 * q1 - k * q2) * over
    m = -k * over
    m1 = (-k1 - m * q1) * over
    m2 = (-k2 - 2.0 * m1 * q1 - m * q2) * over
    second = scale_add_lanes(scale_add_lanes(scale_lanes(m2, g), 2.0 * m1, g1), m, g2)
    return scale_lanes(m, g), scale_add_lanes(scale_lanes(m1, g), m, g1), second


@shared
def geodesic_curve(kind: int, size: Vector, x: Moving, t: Moving) -> Moving:
    """As `curving`, of numbers."""
    y, u = (lanes_of(x[0]), lanes_of(x[1]), lanes_of(x[2])), (lanes_of(t[0]), lanes_of(t[1]), lanes_of(t[2]))
    c, c1, c2 = curving(kind, size, kept_by(kind, size, y, u), y)
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
    """The lane at `at`, advanced by a step of arc length, to `end`; uses 12 wrap.STAGES numbers from `space` on."""
    x, v, a = flat_lanes(lane, at), flat_lanes(lane, at + 8), flat_lanes(lane, at + 16)
    t, u, b = flat_lanes(lane, at + 4), flat_lanes(lane, at + 12), flat_lanes(lane, at + 20)
    kept = kept_by(kind, size, (x, v, a), (t, u, b))
    square = step * step
    for stage in range(wrap.STAGES):
        y, w, c = lanes_of(NONE), lanes_of(NONE), lanes_of(NONE)
        row = stage * (stage - 1) // 2
        for other in range(stage):
            share, k = WEIGHTS[row + other], space + 12 * other
            y = scale_add_lanes(y, share, flat_lanes(lane, k))
            w = scale_add_lanes(w, share, flat_lanes(lane, k + 4))
            c = scale_add_lanes(c, share, flat_lanes(lane, k + 8))
        ahead = PLACES[stage] * step
        y = scale_add_lanes(scale_add_lanes(x, ahead, t), square, y)
        w = scale_add_lanes(scale_add_lanes(v, ahead, u), square, w)
        c = scale_add_lanes(scale_add_lanes(a, ahead, b), square, c)
        y, w, c = curving(kind, size, kept, (y, w, c))
        store_flat(lane, space + 12 * stage, y)
        store_flat(lane, space + 12 * stage + 4, w)
        store_flat(lane, space + 12 * stage + 8, c)
    x, v, a = scale_add_lanes(x, step, t), scale_add_lanes(v, step, u), scale_add_lanes(a, step, b)
    for stage in range(wrap.STAGES):
        speed, share, k = (
            step * SPEEDS[stage],
            square * SPEEDS[stage] * (1.0 - PLACES[stage]),
            space + 12 * stage,
        )
        y, w, c = flat_lanes(lane, k), flat_lanes(lane, k + 4), flat_lanes(lane, k + 8)
        x, v, a = scale_add_lanes(x, share, y), scale_add_lanes(v, share, w), scale_add_lanes(a, share, c)
        t, u, b = scale_add_lanes(t, speed, y), scale_add_lanes(u, speed, w), scale_add_lanes(b, speed, c)
    store_flat(lane, end, x)
    store_flat(lane, end + 4, t)
    store_flat(lane, end + 8, v)
    store_flat(lane, end + 12, u)
    store_flat(lane, end + 16, a)
    store_flat(lane, end + 20, b)
