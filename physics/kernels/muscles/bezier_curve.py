"""Curves of quintic Bezier sections y(x), extrapolated linearly (Millard et al. 2013, app. A).

x and y of a section are polynomials of u in [0, 1]; x increases. Sections meet with one slope and no curvature, so a
curve has a continuous second derivative.
"""

from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from . import hill_layout as hill

ROUNDS = 60  # enough bisections for any double; Newton's steps take 4 to 6
CLOSE = 1e-9  # of u: its square is below round-off


@inline
def power_series(data: Array, record: int, degree: int, u: float) -> tuple[float, float]:
    """Value and slope of a polynomial by rising powers."""
    value, slope = 0.0, 0.0
    for k in range(degree, -1, -1):
        slope = slope * u + value
        value = value * u + data[record + k]
    return value, slope


@inline
def mixed(data: Array, record: int, by_x: float, by_y: float, k: int) -> float:
    return by_x * data[record + hill.SECTION_X + k] + by_y * data[record + hill.SECTION_Y + k]


@shared
def find_parameter(data: Array, record: int, by_x: float, by_y: float, target: float) -> float:
    """u at which by_x x(u) + by_y y(u) of a section, which must not decrease, is the target."""
    c0, c1, c2 = (
        mixed(data, record, by_x, by_y, 0),
        mixed(data, record, by_x, by_y, 1),
        mixed(data, record, by_x, by_y, 2),
    )
    c3, c4, c5 = (
        mixed(data, record, by_x, by_y, 3),
        mixed(data, record, by_x, by_y, 4),
        mixed(data, record, by_x, by_y, 5),
    )
    rise = c1 + c2 + c3 + c4 + c5
    low, high = 0.0, 1.0
    u = 0.5 if rise == 0.0 else min(max((target - c0) / rise, 0.0), 1.0)
    for _ in range(ROUNDS):
        miss = ((((c5 * u + c4) * u + c3) * u + c2) * u + c1) * u + c0 - target
        slope = (((5.0 * c5 * u + 4.0 * c4) * u + 3.0 * c3) * u + 2.0 * c2) * u + c1
        if miss > 0.0:
            high = u
        else:
            low = u
        new = u - miss / slope if slope > 0.0 else 0.5 * (low + high)
        if not low <= new <= high:
            new = 0.5 * (low + high)
        step = abs(new - u)
        u = new
        if step < CLOSE:
            break
    return u


@inline
def section_of(data: Array, record: int, x: float) -> int:
    """Offset of the section of x, which lies between the curve's ends."""
    section = record + hill.CURVE_HEAD
    for _ in range(int(data[record + hill.SECTIONS]) - 1):
        if x >= data[section + hill.SECTION_WIDTH + hill.SECTION_X]:
            section += hill.SECTION_WIDTH
    return section


@shared
def curve(data: Array, record: int, x: float) -> tuple[float, float]:
    """y and dy/dx."""
    if x <= data[record + hill.LOW_X]:
        slope = data[record + hill.LOW_SLOPE]
        return data[record + hill.LOW_Y] + slope * (x - data[record + hill.LOW_X]), slope
    if x >= data[record + hill.HIGH_X]:
        slope = data[record + hill.HIGH_SLOPE]
        return data[record + hill.HIGH_Y] + slope * (x - data[record + hill.HIGH_X]), slope
    section = section_of(data, record, x)
    u = find_parameter(data, section, 1.0, 0.0, x)
    y, dy = power_series(data, section + hill.SECTION_Y, hill.DEGREE, u)
    _, dx = power_series(data, section + hill.SECTION_X, hill.DEGREE, u)
    return y, dy / dx


@shared
def curve_integral(data: Array, record: int, x: float) -> float:
    """Integral of y from the curve's lower end to x."""
    if x <= data[record + hill.LOW_X]:
        step = x - data[record + hill.LOW_X]
        return (data[record + hill.LOW_Y] + 0.5 * data[record + hill.LOW_SLOPE] * step) * step
    if x >= data[record + hill.HIGH_X]:
        step = x - data[record + hill.HIGH_X]
        rest = (data[record + hill.HIGH_Y] + 0.5 * data[record + hill.HIGH_SLOPE] * step) * step
        return data[record + hill.HIGH_INTEGRAL] + rest
    section = section_of(data, record, x)
    u = find_parameter(data, section, 1.0, 0.0, x)
    return power_series(data, section + hill.SECTION_INTEGRAL, 2 * hill.DEGREE, u)[0]


@shared
def invert_sum(
    data: Array, record: int, by_x: float, by_y: float, target: float
) -> tuple[float, float, float]:
    """x, y and dy/dx where by_x x + by_y y, increasing along the curve, is the target; by_x, by_y >= 0."""
    low = by_x * data[record + hill.LOW_X] + by_y * data[record + hill.LOW_Y]
    if target <= low:
        slope = data[record + hill.LOW_SLOPE]
        step = (target - low) / (by_x + by_y * slope)
        return data[record + hill.LOW_X] + step, data[record + hill.LOW_Y] + slope * step, slope
    high = by_x * data[record + hill.HIGH_X] + by_y * data[record + hill.HIGH_Y]
    if target >= high:
        slope = data[record + hill.HIGH_SLOPE]
        step = (target - high) / (by_x + by_y * slope)
        return data[record + hill.HIGH_X] + step, data[record + hill.HIGH_Y] + slope * step, slope
    section = record + hill.CURVE_HEAD
    for _ in range(int(data[record + hill.SECTIONS]) - 1):
        following = section + hill.SECTION_WIDTH
        if target >= by_x * data[following + hill.SECTION_X] + by_y * data[following + hill.SECTION_Y]:
            section = following
    u = find_parameter(data, section, by_x, by_y, target)
    x, dx = power_series(data, section + hill.SECTION_X, hill.DEGREE, u)
    y, dy = power_series(data, section + hill.SECTION_Y, hill.DEGREE, u)
    return x, y, dy / dx
