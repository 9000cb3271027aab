"""Millard's default muscle curves: quintic Bezier sections between corners, as records for the kernels.

Millard et al. 2013, app. A; corners are those of OpenSim, whose curves are the same to round-off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError


@dataclass(frozen=True)
class Knot:
    """A point where two sections meet: x, value and slope; the curvature is zero."""

    x: float
    y: float
    slope: float


def record(knots: Sequence[Knot], curviness: float | Sequence[float]) -> FloatArray:
    """A curve through knots (see ``hill_layout``), each section bent towards the corner of its end tangents.

    Args:
        knots: at least 2, of increasing x.
        curviness: from 0 (nearly the chord) to 1 (close to the corner); one number, or one per section.
    """
    sections = []
    bends = np.broadcast_to(np.asarray(curviness, dtype=np.float64), len(knots) - 1)
    area = 0.0
    for start, end, bend in zip(knots[:-1], knots[1:], bends):
        x, y = (_power_series(points) for points in _corner(start, end, 0.1 + 0.8 * float(bend)))
        product = np.convolve(y, x[1:] * np.arange(1, len(x)))
        integral = np.concatenate([[0.0], product / np.arange(1, len(product) + 1)])
        integral[0] = area
        area = float(integral.sum())
        sections.append(np.concatenate([x, y, integral]))
    first, last = knots[0], knots[-1]
    ends = [first.x, first.y, first.slope, last.x, last.y, last.slope, area]
    return np.concatenate([[len(sections)], ends, *sections])


def _corner(start: Knot, end: Knot, bend: float) -> tuple[FloatArray, FloatArray]:
    """Control points (6,) in x and in y: two on each end tangent, a share `bend` of the way to where they cross."""
    rise = start.slope - end.slope
    if abs(rise) > 1e-8:
        x = (end.y - start.y - end.x * end.slope + start.x * start.slope) / rise
    else:
        x = 0.5 * (start.x + end.x)
    y = (x - end.x) * end.slope + end.y
    if not start.x <= x <= end.x:
        raise ModelError(
            f"a muscle curve cannot bend from ({start.x:g}, {start.y:g}) to ({end.x:g}, {end.y:g}): "
            "its end tangents do not cross between them"
        )
    columns = []
    for a, b, corner in ((start.x, end.x, x), (start.y, end.y, y)):
        near, far = a + bend * (corner - a), b + bend * (corner - b)
        columns.append(np.array([a, near, near, far, far, b]))
    return columns[0], columns[1]


def _power_series(points: FloatArray) -> FloatArray:
    """Coefficients by rising powers of u of the Bezier polynomial with these control points."""
    degree = len(points) - 1
    series = np.zeros(degree + 1)
    for j in range(degree + 1):
        for i in range(j + 1):
            series[j] += (-1) ** (j - i) * comb(degree, j) * comb(j, i) * points[i]
    return series


def active_force_length(low: float, knee: float, high: float, slope: float, least: float) -> FloatArray:
    """Active force over fibre length, in five sections: from the least value over the peak at 1 and down again.

    Args:
        low, high: normalized lengths beyond which the force is the least one. knee: end of the steep limb.
        slope: of the shallow limb. least: value beyond the ends.
    """
    if not 0.0 <= low < knee < 1.0 < high:
        raise ModelError(f"an active curve needs 0 <= low < knee < 1 < high, got {low:g}, {knee:g}, {high:g}")
    shoulder = 0.05
    top = 1.0 - slope * (1.0 - shoulder - knee)
    middle = Knot(0.5 * (low + knee), 0.5 * top, 1.25 * top / (knee - low))
    plateau = Knot(0.5 * (knee + 1.0 - shoulder), 0.5 * (1.0 + top), slope)
    fall_start, fall_end = 1.0 + shoulder, high - shoulder
    falling = Knot(0.5 * (fall_start + high), 0.5, -1.0 / (fall_end - fall_start))
    return record(
        [Knot(low, least, 0.0), middle, plateau, Knot(1.0, 1.0, 0.0), falling, Knot(high, least, 0.0)], 1.0
    )


def passive_force_length(
    strain_at_zero: float, strain_at_one: float, low_stiffness: float, stiffness: float, curviness: float
) -> FloatArray:
    """Passive force of the fibre: 0 below the first strain, 1 at the second, linear beyond it."""
    span = strain_at_one - strain_at_zero
    if not span > 0.0:
        raise ModelError(
            "a passive curve needs a strain at one above that at zero (passive_strain_one > passive_strain_zero), "
            f"got {strain_at_one:g} and {strain_at_zero:g}"
        )
    if not stiffness > 1.0 / span > low_stiffness > 0.0:
        raise ModelError(
            f"a passive curve from strain {strain_at_zero:g} to {strain_at_one:g} needs stiffness > {1.0 / span:g} > "
            f"low stiffness > 0, got {stiffness:g} and {low_stiffness:g}"
        )
    start, end = 1.0 + strain_at_zero, 1.0 + strain_at_one
    step = min(0.1 / stiffness, 0.1 * span)
    toe = Knot(start + step, 0.5 * low_stiffness * step, low_stiffness)
    return record([Knot(start, 0.0, 0.0), toe, Knot(end, 1.0, stiffness)], curviness)


def tendon_force_length(
    strain_at_one: float, stiffness: float, toe_force: float, curviness: float
) -> FloatArray:
    """Force of the tendon: curved in the toe, linear beyond it, 1 at the given strain."""
    if not (strain_at_one > 0.0 and stiffness > 1.0 / strain_at_one and 0.0 < toe_force < 1.0):
        raise ModelError(
            f"a tendon curve needs a positive strain, stiffness > 1 / strain and a toe force in (0, 1), got "
            f"{strain_at_one:g}, {stiffness:g}, {toe_force:g}"
        )
    toe = 1.0 + strain_at_one + (toe_force - 1.0) / stiffness
    foot = 1.0 + (toe - 1.0) / 10.0
    half = 1.0 + strain_at_one + (0.5 * toe_force - 1.0) / stiffness
    slope = 0.5 * toe_force / (half - foot)
    middle = Knot(0.5 * (foot + half), 0.25 * toe_force, slope)
    return record([Knot(1.0, 0.0, 0.0), middle, Knot(toe, toe_force, stiffness)], curviness)


def force_velocity(
    most: float,
    isometric_slope: float,
    concentric: tuple[float, float, float],
    eccentric: tuple[float, float, float],
) -> FloatArray:
    """Factor of the active force over the fibre's normalized speed in [-1, 1]: 0 at -1, 1 at 0, `most` at 1.

    Args:
        most: at the largest speed of lengthening. isometric_slope: at speed 0.
        concentric, eccentric: slopes at the largest speed and at 0.9 of it, and curviness, of each side.
    """
    knots = [
        _end(-1.0, 0.0, concentric),
        _near(-1.0, 0.0, concentric),
        Knot(0.0, 1.0, isometric_slope),
        _near(1.0, most, eccentric),
        _end(1.0, most, eccentric),
    ]
    if not (most > 1.0 and isometric_slope > 1.0):
        raise ModelError(
            f"a force-velocity curve needs a largest factor and an isometric slope above 1, got {most:g}, "
            f"{isometric_slope:g}"
        )
    bends = [concentric[2], concentric[2], eccentric[2], eccentric[2]]
    return record(knots, bends)


def _end(x: float, y: float, side: tuple[float, float, float]) -> Knot:
    return Knot(x, y, side[0])


def _near(x: float, y: float, side: tuple[float, float, float]) -> Knot:
    """The knot at 0.9 of the largest speed, at the mean of both slopes from the end."""
    step = -0.1 * x
    return Knot(x + step, y + 0.5 * (side[0] + side[1]) * step, side[1])
