"""The path over one obstacle of any shape between two points: a whole strand, or a piece of one."""

from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector, add3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .curved import curved_contact, curved_path, curved_point
from .round import combine, round_contact, round_path, round_place, round_point
from .surface import ELLIPSOID, SPHERE


@shared
def piece_path(data: Array, shape: int, width: float, rates: Array, own: Array, gradient: Array) -> int:
    """Length of the path over the obstacle with the record at `shape`, between ends and with a frame in `own`, with its
    derivatives; whether it is wrapped: else nothing is written.
    """
    if own[wrap.OFF] != 0.0:
        status = wrap.STRAIGHT
    elif int(data[shape + wrap.SHAPE_KIND]) >= ELLIPSOID:
        status = curved_path(data, shape, width, rates, own, gradient)
    else:
        status = round_path(data, shape, width, rates, own, gradient)
    own[wrap.STATUS] = status
    return status


@shared
def piece_point(
    data: Array, shape: int, own: Array, sigma: float, sigma_rate: float, rates: Array, out: Array
) -> None:
    """A point of a wrapped piece and its derivatives by the twelve rates of this piece (see `layout`)."""
    kind = int(data[shape + wrap.SHAPE_KIND])
    if kind >= ELLIPSOID:
        curved_point(data, shape, own, sigma, sigma_rate, rates, out)
    else:
        round_point(own, kind == SPHERE, sigma, sigma_rate, rates, out)


@shared
def piece_contact(data: Array, shape: int, own: Array, last: bool, rates: Array, out: Array) -> None:
    """First or last contact of a wrapped piece, as a point from `piece_point`."""
    kind = int(data[shape + wrap.SHAPE_KIND])
    if kind >= ELLIPSOID:
        curved_contact(data, shape, own, last, rates, out)
    else:
        round_contact(own, kind == SPHERE, last, rates, out)


@inline
def piece_place(data: Array, shape: int, own: Array, last: bool) -> Vector:
    """Position of the first or last contact of a wrapped piece."""
    kind = int(data[shape + wrap.SHAPE_KIND])
    if kind >= ELLIPSOID:
        x = flat3(own, wrap.LAST_POINT if last else wrap.FIRST_POINT)
    else:
        x = round_place(own, kind == SPHERE, last)
    jx, jy, jz = flat3(own, wrap.AXES), flat3(own, wrap.AXES + 3), flat3(own, wrap.AXES + 6)
    return add3(flat3(own, wrap.FRAMES + 9), combine(jx, jy, jz, x))
