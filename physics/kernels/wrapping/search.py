"""The geodesic over one curved obstacle, from initial guesses."""

import math

from ..algebra.access import flat3
from ..algebra.axes import put3
from ..algebra.vectors import Array, Vector, add3, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .convex import convex_level
from .geodesic import find_geodesic
from .jacobi import ENDED, LINE, stiffness
from .level import deepest, ellipsoid_level, torus_level
from .planar import reach_of, store_jet
from .surface import ELLIPSOID, TORUS, Moving, gradient_of, level_of, surface_scale, surface_size, times3
from .taut import pull_taut

# [rad] of further guesses about the line: BESIDE the first, on its side, then behind the obstacle
TILTS = (-0.4, 0.4, -1.0, 1.0, -1.5, 1.5, math.pi - 1.0, math.pi, math.pi + 1.0)
BESIDE = 6
MIDDLE = (
    0.15  # of the radius: over an ellipsoid, a line so near to the middle may have its shortest path behind
)
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
    """The geodesic from initial guesses alone, so that it depends on nothing but the ends.

    Where its line passes near an ellipsoid's middle, or the first guess gives a pass between two shorter paths, the
    shortest of all guesses; else a string pulled taut. The long way round an ellipsoid may be a pass, as on a sphere,
    at once where its side always holds; else the pass where there is no local minimum, and straight where a string
    slips off.
    """
    kind, size = int(data[shape + wrap.SHAPE_KIND]), surface_size(data, shape)
    status = surface_level(data, shape, width, own, p, q, 0.0)
    if status != wrap.WRAPPED:
        return status
    e = subtract3(q[0], p[0])
    x = scale_add3(p[0], deepest(kind, size, p[0], e), e)
    deep = level_of(kind, size, x)
    g, _, _ = gradient_of(kind, size, x, e, e)
    behind = kind == ELLIPSOID and dot3(g, subtract3(flat3(own, wrap.WAY + 3), x)) < 0.0
    held = not free(data, shape, own)
    first, last = 0, BESIDE if held else len(TILTS)
    own[wrap.LONGEST] = LONGEST * way_length(own, p[0], q[0])
    best, side = 1e300, 0.0
    always = behind and int(data[shape + wrap.SHAPE_SENSE]) == wrap.ALWAYS
    if solved(kind, size, own, p[0], q[0], always):
        if held or kind != ELLIPSOID or deep > MIDDLE * MIDDLE * own[wrap.LEVEL]:
            return wrap.WRAPPED
        best, first = whole_length(own), BESIDE
    for k in range(first, last if kind != TORUS else 0):
        surface_level(data, shape, width, own, p, q, TILTS[k])
        if solved(kind, size, own, p[0], q[0], always) and whole_length(own) < best:
            best, side = whole_length(own), TILTS[k]
    if best < 1e300:
        surface_level(data, shape, width, own, p, q, side)
        return wrap.WRAPPED if solved(kind, size, own, p[0], q[0], always) else wrap.UNSOLVED
    surface_level(data, shape, width, own, p, q, 0.0)
    if behind and solved(kind, size, own, p[0], q[0], True):
        return wrap.WRAPPED
    slipped = True
    ways = 3 if kind == TORUS else 2  # a string from the straight line might go to the wrong side
    for by in range(ways):
        surface_level(data, shape, width, own, p, q, 0.0)
        taut = pull_taut(kind, size, own, p[0], q[0], by)
        slipped = slipped and not taut
        taut = taut and find_geodesic(kind, size, own, p[0], q[0])
        if taut and judged(kind, size, own, False):
            return wrap.WRAPPED
    surface_level(data, shape, width, own, p, q, 0.0)
    if sink(kind, size, own, p[0], q[0]) and judged(kind, size, own, False):
        return wrap.WRAPPED
    for k in range(1 + 2 * BESIDE if deep < own[wrap.LEVEL] or not slipped else 1):
        surface_level(data, shape, width, own, p, q, TILTS[(k - 1) % BESIDE] if k > 0 else 0.0)
        if k > BESIDE:  # on the wrong side rather than straight through
            put3(own, wrap.SIDE, (0.0, 0.0, 0.0))
        if solved(kind, size, own, p[0], q[0], True):
            return wrap.WRAPPED
    return wrap.STRAIGHT if slipped else wrap.UNSOLVED


@inline
def free(data: Array, shape: int, own: Array) -> bool:
    """Whether a path may go round the obstacle on any side."""
    if int(data[shape + wrap.SHAPE_KIND]) != ELLIPSOID:
        return int(data[shape + wrap.SHAPE_SENSE]) == wrap.SHORTER
    side = flat3(own, wrap.SIDE)
    return dot3(side, side) == 0.0


@shared
def solved(kind: int, size: Vector, own: Array, p: Vector, q: Vector, any_pass: bool) -> bool:
    """Whether there is a geodesic from the present beginning, which is no pass without `any_pass`."""
    return find_geodesic(kind, size, own, p, q) and judged(kind, size, own, any_pass)


@shared
def judged(kind: int, size: Vector, own: Array, any_pass: bool) -> bool:
    """As `solved`, for a geodesic already found; False over an ellipsoid's wrong side, where one ends that slid off,
    and where it is too long for a string laid as the first guess: Newton's method has then gone to another path.
    """
    steps = int(own[wrap.STEPS])
    middle = add3(flat3(own, wrap.NODES + 3 * (steps // 2)), flat3(own, wrap.NODES + 3 * ((steps + 1) // 2)))
    if kind == ELLIPSOID and dot3(times3(size, middle), flat3(own, wrap.SIDE)) < 0.0:
        return False
    return whole_length(own) <= own[wrap.LONGEST] and (stiffness(own) > 0.0 or any_pass)


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
