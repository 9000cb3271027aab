"""Initial guess of the geodesic over a curved obstacle from a string pulled taut, where no other guess is near it."""

import math

from ..algebra.access import flat3
from ..algebra.axes import put3
from ..algebra.vectors import Array, Vector, dot3, scale_add3, subtract3
from ..compiler.jit import shared
from . import layout as wrap
from .surface import level_of, on_level

POINTS = 32  # of the string between its ends
SWEEPS = 400
EAGER = 1.7  # of the step to the middle between a point's neighbours (successive over-relaxation)
STILL = 1e-6  # of the string's length
BY_WAY, BY_MIDDLE, STRAIGHT_ON = 0, 1, 2  # initial places; points inside are pushed out


@shared
def lay(own: Array, p: Vector, q: Vector, by: int) -> float:
    """The string from p to q by BY_WAY, BY_MIDDLE of it or STRAIGHT_ON, with equal spacing; its length."""
    first, middle, last = flat3(own, wrap.WAY), flat3(own, wrap.WAY + 3), flat3(own, wrap.WAY + 6)
    if by != BY_WAY:
        first, last = p, q
    if by == STRAIGHT_ON:
        middle = q
    places = (p, first, middle, last, q)
    whole = 0.0
    for k in range(4):
        e = subtract3(places[k + 1], places[k])
        whole += math.sqrt(dot3(e, e))
    part, done = 0, 0.0
    e = subtract3(places[1], places[0])
    length = math.sqrt(dot3(e, e))
    for k in range(POINTS + 2):
        wanted = whole * k / (POINTS + 1.0)
        while part < 3 and wanted > done + length:
            done += length
            part += 1
            e = subtract3(places[part + 1], places[part])
            length = math.sqrt(dot3(e, e))
        share = (wanted - done) / length if length > 0.0 else 0.0
        put3(own, wrap.NODES + 3 * k, scale_add3(places[part], min(share, 1.0), e))
    return whole


@shared
def pull_taut(kind: int, size: Vector, own: Array, p: Vector, q: Vector, by: int) -> bool:
    """BEGINNING from the string of `lay`, pulled taut over the obstacle; False where it slips off."""
    level = own[wrap.LEVEL]
    enough = STILL * lay(own, p, q, by)
    for _ in range(SWEEPS):
        moved = 0.0
        for k in range(1, POINTS + 1):
            at = wrap.NODES + 3 * k
            x = flat3(own, at)
            y = (
                x[0] + EAGER * (0.5 * (own[at - 3] + own[at + 3]) - x[0]),
                x[1] + EAGER * (0.5 * (own[at - 2] + own[at + 4]) - x[1]),
                x[2] + EAGER * (0.5 * (own[at - 1] + own[at + 5]) - x[2]),
            )
            if level_of(kind, size, y) < level:
                y = on_level(kind, size, level, y)
            moved = max(moved, abs(y[0] - x[0]), abs(y[1] - x[1]), abs(y[2] - x[2]))
            put3(own, at, y)
        if not moved > enough:
            break
    first, last = 0, 0
    for k in range(1, POINTS + 1):
        if level_of(kind, size, flat3(own, wrap.NODES + 3 * k)) < (1.0 + 1e-6) * level:
            first = k if first == 0 else first
            last = k
    if first == 0:
        return False
    x = flat3(own, wrap.NODES + 3 * first)
    length = 0.0
    for k in range(first, last):
        e = subtract3(flat3(own, wrap.NODES + 3 * k + 3), flat3(own, wrap.NODES + 3 * k))
        length += math.sqrt(dot3(e, e))
    begin = first - 1 if first == last else first
    put3(own, wrap.BEGINNING, x)
    put3(
        own,
        wrap.BEGINNING + 3,
        subtract3(flat3(own, wrap.NODES + 3 * begin + 3), flat3(own, wrap.NODES + 3 * begin)),
    )
    own[wrap.BEGINNING + 6] = length
    return True
