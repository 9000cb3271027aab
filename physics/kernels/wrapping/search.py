"""The geodesic over one curved obstacle, from initial guesses or from its last place."""

from __future__ import annotations

import math

from ..algebra.access import flat3
from ..algebra.axes import put3
from ..algebra.vectors import Array, Vector, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .convex import convex_level
from .geodesic import find_geodesic
from .jacobi import ENDED, LINE, stiffness
from .level import deepest, ellipsoid_level, torus_level
from .planar import reach_of, store_jet
from .surface import ELLIPSOID, TORUS, Moving, level_of, surface_scale, surface_size, times3
from .taut import pull_taut

ASIDE = 1.0  # [rad] between guesses
FARTHER = 1.5  # of two more, still on the requested side, where a surface is narrow
LEVELS = 16  # on the way into an obstacle where no guess converges
# of a guess's polygon: a string pulled taut from it is no longer (a circle's arc of 255 degrees against two chords)
LONGEST = 1.24


@inline
def surface_level(
    data: Array, shape: int, width: float, own: Array, p: Moving, q: Moving, tilt: float
) -> int:
    """RADIUS of the level to wrap over, LEVEL of its function, REACH, each with derivatives, and an initial guess;
    whether wrapped.
    """
    kind = int(data[shape + wrap.SHAPE_KIND])
    _, longest, shortest = surface_scale(data, shape)
    width /= longest
    if kind == ELLIPSOID:
        status = ellipsoid_level(data, shape, width, own, p, q, tilt)
    elif kind == TORUS:
        status = torus_level(data, shape, width, own, p, q)
    else:
        status = convex_level(data, shape, width, own, p, q, tilt)
    if status != wrap.WRAPPED:
        return status
    rho, speed, second = own[wrap.RADIUS], own[wrap.RADIUS + 1], own[wrap.RADIUS + 2]
    store_jet(own, wrap.LEVEL, (0.5 * rho * rho, rho * speed, rho * second + speed * speed))
    share = reach_of(own, (rho, speed, second), shortest)
    for k in range(6):
        own[wrap.LEVEL_ENDS + k] = rho * own[wrap.RADIUS_ENDS + k]
        own[wrap.REACH_ENDS + k] = share * (
            own[wrap.WIDTH] * own[wrap.RADIUS_ENDS + k] + rho * own[wrap.WIDTH_ENDS + k]
        )
    return wrap.WRAPPED


@shared
def find_path(data: Array, shape: int, width: float, own: Array, p: Moving, q: Moving) -> int:
    """The geodesic from an initial guess, else from its last place.

    Where both give a pass between two shorter ones, it tries guesses beside it for the shorter of both, and a string
    pulled taut. On a requested side there may be no local minimum: then the path is the pass, as on a sphere the long
    way round, and straight where a string slips off the obstacle.
    """
    kind, size = int(data[shape + wrap.SHAPE_KIND]), surface_size(data, shape)
    known, own[wrap.KNOWN] = own[wrap.KNOWN], 0.0
    for k in range(7):
        own[wrap.LAST_PATH + k] = own[wrap.BEGINNING + k]
    status = surface_level(data, shape, width, own, p, q, 0.0)
    if status != wrap.WRAPPED:
        return status
    if solved(kind, size, own, p[0], q[0], False) != 0.0:
        return wrap.WRAPPED
    if known != 0.0:
        for k in range(7):
            own[wrap.BEGINNING + k] = own[wrap.LAST_PATH + k]
        if solved(kind, size, own, p[0], q[0], known == wrap.PASS) != 0.0:
            return wrap.WRAPPED
    best, side = 1e300, 0.0
    for k in range(4):
        tilt = (ASIDE if k < 2 else FARTHER) * (2.0 * (k % 2) - 1.0)
        surface_level(data, shape, width, own, p, q, tilt)
        if solved(kind, size, own, p[0], q[0], False) != 0.0:
            length = whole_length(own)
            if length < best:
                best, side = length, tilt
    if side != 0.0:
        surface_level(data, shape, width, own, p, q, side)
        return wrap.WRAPPED if solved(kind, size, own, p[0], q[0], False) != 0.0 else wrap.UNSOLVED
    slipped = True
    ways = 3 if kind == TORUS else 2  # a string from the straight line might go to the wrong side
    for by in range(ways):
        surface_level(data, shape, width, own, p, q, 0.0)
        taut = pull_taut(kind, size, own, p[0], q[0], by)
        slipped = slipped and not taut
        taut = taut and find_geodesic(kind, size, own, p[0], q[0])
        if taut and judged(kind, size, own, p[0], q[0], False) != 0.0:
            return wrap.WRAPPED
    surface_level(data, shape, width, own, p, q, 0.0)
    if sink(kind, size, own, p[0], q[0]) and judged(kind, size, own, p[0], q[0], False) != 0.0:
        return wrap.WRAPPED
    e = subtract3(q[0], p[0])
    through = level_of(kind, size, scale_add3(p[0], deepest(kind, size, p[0], e), e)) < own[wrap.LEVEL]
    for k in range(3 if through or not slipped else 1):
        surface_level(data, shape, width, own, p, q, ASIDE * ((k + 1) % 3 - 1.0))
        if k > 0:  # on the wrong side rather than straight through
            put3(own, wrap.SIDE, (0.0, 0.0, 0.0))
        if solved(kind, size, own, p[0], q[0], True) != 0.0:
            return wrap.WRAPPED
    return wrap.STRAIGHT if slipped else wrap.UNSOLVED


@shared
def solved(kind: int, size: Vector, own: Array, p: Vector, q: Vector, any_pass: bool) -> float:
    """KNOWN of the geodesic from the present beginning; 0 where there is none, or only a pass without `any_pass`.

    0 as well where it is too long for a string laid as the guess: Newton's method has then gone to another path.
    """
    found = find_geodesic(kind, size, own, p, q)
    found = found and whole_length(own) <= LONGEST * way_length(own, p, q)
    return judged(kind, size, own, p, q, any_pass) if found else 0.0


@shared
def judged(kind: int, size: Vector, own: Array, p: Vector, q: Vector, any_pass: bool) -> float:
    """As `solved`, for a geodesic already found; 0 over an ellipsoid's wrong side, where one ends that slid off."""
    determinant = stiffness(own)
    own[wrap.KNOWN] = 0.0
    middle = flat3(own, wrap.NODES + 3 * (int(own[wrap.STEPS]) // 2))
    if kind == ELLIPSOID and dot3(times3(size, middle), flat3(own, wrap.SIDE)) < 0.0:
        return 0.0
    if determinant > 0.0:
        own[wrap.KNOWN] = 1.0
    elif any_pass and determinant < 0.0:
        own[wrap.KNOWN] = wrap.PASS
    return float(own[wrap.KNOWN])


@shared
def sink(kind: int, size: Vector, own: Array, p: Vector, q: Vector) -> bool:
    """The geodesic by way of the levels between the one that the straight line touches and that to wrap over."""
    level, e = own[wrap.LEVEL], subtract3(q, p)
    part = deepest(kind, size, p, e)
    x = scale_add3(p, part, e)
    lowest = level_of(kind, size, x)
    good = 0.0 < part < 1.0 and lowest < level
    put3(own, wrap.BEGINNING, x)
    put3(own, wrap.BEGINNING + 3, e)
    own[wrap.BEGINNING + 6] = 0.0
    for k in range(LEVELS):
        if good:
            root = math.sqrt(lowest) + (math.sqrt(level) - math.sqrt(lowest)) * (k + 1.0) / LEVELS
            own[wrap.LEVEL] = root * root
            good = find_geodesic(kind, size, own, p, q)
    own[wrap.LEVEL] = level
    return good


@inline
def whole_length(own: Array) -> float:
    """Length of the line, the geodesic and the line."""
    return float(own[wrap.TERMS + LINE] + own[wrap.ARC] + own[wrap.TERMS + ENDED + LINE])


@inline
def way_length(own: Array, p: Vector, q: Vector) -> float:
    """Length of the polygon of the initial guess."""
    x, middle, y = flat3(own, wrap.WAY), flat3(own, wrap.WAY + 3), flat3(own, wrap.WAY + 6)
    length = 0.0
    for side in (subtract3(x, p), subtract3(middle, x), subtract3(y, middle), subtract3(q, y)):
        length += math.sqrt(dot3(side, side))
    return length
