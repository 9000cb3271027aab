"""Which way a path with a side goes round a cylinder, and where it lets go of its end."""

import math

from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector, dot3
from ..compiler.jit import inline
from . import layout as wrap
from .planar import ON, dot2, line_distance, pair
from .surface import CYLINDER


@inline
def beyond(own: Array, half: float) -> bool:
    """Whether both tangent points lie beyond the ends of a cylinder of this half length: at the heights at which the
    plane of both ends and the axis between them has these points, as in OpenSim, not at those of the path.
    """
    p, s, normals = pair(own, wrap.START), pair(own, wrap.STOP), wrap.NORMALS
    far, away = math.sqrt(dot2(p, p)), math.sqrt(dot2(s, s))
    across = s[0] / away - p[0] / far, s[1] / away - p[1] / far  # from the bisector between both
    before, whole = dot2(p, across), dot2(s, across) - dot2(p, across)
    low, rise, rho = own[wrap.START + 2], own[wrap.STOP + 2] - own[wrap.START + 2], own[wrap.RADIUS]
    nearest = 1e300
    for k in range(2):
        part = (rho * dot2(pair(own, normals + 2 * k), across) - before) / whole if whole > 0.0 else 0.0
        nearest = min(nearest, abs(low + min(max(part, 0.0), 1.0) * rise))
    return bool(nearest > half)


@inline
def quadrant_sense(data: Array, shape: int, p: Vector, s: Vector, sense: float) -> float:
    """Positive where a path that always passes a cylinder towards its hint runs counterclockwise, as in OpenSim; sense:
    the same by the line alone.

    OpenSim tests on which half the end that lies towards the hint would touch the surface: between the two tangents
    along the hint no side follows from that, and the path runs counterclockwise from this end. Where both ends are
    farther aside than these tangents, and the last one most, its path crosses itself: with that sense ours is straight,
    as OpenSim's where the path is beyond an end of the cylinder.
    """
    hint, radius = flat3(data, shape + wrap.SHAPE_HINT), data[shape + wrap.SHAPE_PARAMETERS]
    ahead, on = dot3(p, hint), dot3(s, hint)
    first, last = p[1] * hint[0] - p[0] * hint[1], s[1] * hint[0] - s[0] * hint[1]  # to the left of the hint
    reach = radius * math.hypot(hint[0], hint[1])
    e = s[0] - p[0], s[1] - p[1]
    foot = ahead * (s[0] * e[0] + s[1] * e[1]) - on * (p[0] * e[0] + p[1] * e[1])  # of the axis on the line
    ends = data[shape + wrap.SHAPE_PARAMETERS + 1] < math.inf
    if ends and ahead * on < 0.0 and first * last > 0.0 and abs(last) > abs(first) > reach and foot < 0.0:
        return -first
    between = ahead * on < 0.0 and max(abs(first), abs(last)) < reach
    return ahead if between else sense


@inline
def met(data: Array, shape: int, own: Array, width: float) -> bool:
    """Whether the line of a path over a cylinder does not pass it on the wrong side by more than the smoothing length,
    nor with both ends away from the hint; after `round_path`.
    """
    hint, p, s = flat3(data, shape + wrap.SHAPE_HINT), pair(own, wrap.START), pair(own, wrap.STOP)
    towards = hint[0], own[wrap.SENSE] * hint[1]
    distance, _, between = line_distance(own)
    radius = data[shape + wrap.SHAPE_PARAMETERS]
    ahead = max(dot2(p, towards), dot2(s, towards)) >= -ON * radius
    return bool(between and distance[0] > -radius - width and ahead)


@inline
def keep_sense(data: Array, shape: int, own: Array, y: Vector) -> bool:
    """Whether the path over a cylinder keeps to a SENSE; else this one, by the second axis, is stored."""
    if int(data[shape + wrap.SHAPE_KIND]) != CYLINDER:
        return False
    kept = bool(own[wrap.SENSE] != 0.0)
    if not kept:
        own[wrap.SENSE] = y[1]
    return kept
