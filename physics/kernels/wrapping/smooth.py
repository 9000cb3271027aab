"""Smooth steps of compact support, each with its first and second derivative, the step with its third."""

from ..algebra.vectors import Vector
from ..compiler.jit import inline

NEAR = 4.0  # smoothing lengths of an end from the surface, below which the smoothing is reduced
LEAST = 0.1  # of the smoothing length, where an end lies on the surface


@inline
def smooth_step(v: float) -> Vector:
    """From 0 at v <= -1 to 1 at v >= 1, three times continuously differentiable."""
    if v <= -1.0:
        return 0.0, 0.0, 0.0
    if v >= 1.0:
        return 1.0, 0.0, 0.0
    s = v * v
    rest = 1.0 - s
    value = 0.5 + v * (35.0 - s * (35.0 - s * (21.0 - 5.0 * s))) / 32.0
    return value, 35.0 / 32.0 * rest * rest * rest, -105.0 / 16.0 * v * rest * rest


@inline
def smooth_step_third(v: float) -> float:
    """Third derivative of the step."""
    s = v * v
    return -105.0 / 16.0 * (1.0 - s) * (1.0 - 5.0 * s) if s < 1.0 else 0.0


@inline
def smooth_ramp(v: float) -> Vector:
    """From 0 at v <= -1 to v at v >= 1, four times continuously differentiable: the step's integral."""
    if v <= -1.0:
        return 0.0, 0.0, 0.0
    if v >= 1.0:
        return v, 1.0, 0.0
    slope = smooth_step(v)
    s = v * v
    value = 35.0 / 256.0 + 0.5 * v + s * (140.0 - s * (70.0 - s * (28.0 - 5.0 * s))) / 256.0
    return value, slope[0], slope[1]


@inline
def ramp_of(x: Vector, width: Vector) -> tuple[Vector, float, float]:
    """width ramp(x / width) of two numbers with two derivatives in time each; its derivatives by x and by width."""
    v = x[0] / width[0]
    value, slope, bend = smooth_ramp(v)
    by = value - v * slope
    away = x[1] - v * width[1]
    second = slope * x[2] + by * width[2] + bend / width[0] * away * away
    return (width[0] * value, slope * x[1] + by * width[1], second), slope, by


@inline
def taken(
    rho: Vector, far: Vector, whole: float, steep: float, width: Vector
) -> tuple[Vector, float, float, float]:
    """What an end at the distance `far` takes from a radius rho, with two derivatives in time; its derivatives by rho,
    by `far` and by the width.

    An end outside leaves the distance less twice the width (a smooth minimum). An end inside of the whole radius takes
    more by the factor `steep` of its depth, so that a path from deeper inside is straight.
    """
    excess = (
        rho[0] - far[0] + 2.0 * width[0],
        rho[1] - far[1] + 2.0 * width[1],
        rho[2] - far[2] + 2.0 * width[2],
    )
    less, by_rho, wider = ramp_of(excess, width)
    by_far, by_width = -by_rho, 2.0 * by_rho + wider
    if far[0] < whole:
        depth = whole - far[0] - width[0], -far[1] - width[1], -far[2] - width[2]
        more, fall, wider = ramp_of(depth, width)
        less = less[0] + steep * more[0], less[1] + steep * more[1], less[2] + steep * more[2]
        by_far -= steep * fall
        by_width += steep * (wider - fall)
    return less, by_rho, by_far, by_width


@inline
def clearance_share(clearance: Vector, width: float) -> tuple[Vector, float]:
    """0 where an end touches the surface, 1 from NEAR smoothing lengths on, of a clearance with two derivatives in
    time; and its derivative by the clearance.
    """
    i = 2.0 / (NEAR * width)
    value, slope, bend = smooth_step(i * clearance[0] - 1.0)
    return (
        (
            value,
            i * slope * clearance[1],
            i * slope * clearance[2] + i * i * bend * clearance[1] * clearance[1],
        ),
        i * slope,
    )


@inline
def local_width(width: float, first: Vector, last: Vector) -> tuple[Vector, float, float]:
    """The smoothing length for ends with these clearances, with two derivatives in time; its derivatives by both
    clearances.

    An end reduces the radius to wrap over where its distance exceeds that by less than twice this length. With a third
    of an end's clearance, or LEAST of the length where that is more, no path goes deeper than 2 LEAST lengths into an
    obstacle with both ends outside.
    """
    a, by_first = clearance_share(first, width)
    b, by_last = clearance_share(last, width)
    most = (1.0 - LEAST) * width
    return (
        (
            LEAST * width + most * a[0] * b[0],
            most * (a[1] * b[0] + a[0] * b[1]),
            most * (a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2]),
        ),
        most * by_first * b[0],
        most * by_last * a[0],
    )
