"""One contact with Coulomb friction: lambda in K_mu = {|lambda_t| <= mu lambda_n}, u + mu |u_t| n in its dual cone,
perpendicular to each other (De Saxce & Feng 1998). Triples are (normal, first tangent, second tangent).
"""

from __future__ import annotations

import math

from ..algebra.vectors import Array, Vector
from ..compiler.jit import shared

MOST_ROOT_STEPS = 80
ROUND_OFF = 4e-16
FLAT = 1e-14  # share of the tangential response below which a direction has none


@shared
def project_on_cone(x: Vector, mu: float) -> Vector:
    """The point of K_mu nearest to x."""
    length = math.sqrt(x[1] * x[1] + x[2] * x[2])
    if length <= mu * x[0]:
        return x
    if mu * length <= -x[0]:
        return 0.0, 0.0, 0.0
    normal = (x[0] + mu * length) / (1.0 + mu * mu)
    share = mu * normal / length
    return normal, share * x[1], share * x[2]


@shared
def sliding(
    kappa: float, moments: tuple[float, float], pull: tuple[float, float]
) -> tuple[float, float, float]:
    """Tangential impulse (in the axes of the response's moments) of a contact that slides by -kappa times the impulse,
    and its length.
    """
    x, y = -pull[0] / (moments[0] + kappa), -pull[1] / (moments[1] + kappa)
    return x, y, math.sqrt(x * x + y * y)


@shared
def solve_contact(w: Array, k: int, first: int, b: Vector, mu: float) -> Vector:
    """Impulse of one contact alone: speeds are the 3x3 block of w at (k, first) times it, plus b.

    Open, sticking, or sliding: u_t = -kappa lambda_t with kappa > 0 such that |lambda_t| = mu lambda_n, one equation in
    kappa that always has a root; the ratio of its sides is nearly linear in kappa.
    """
    still = (0.0, 0.0, 0.0)
    if b[0] >= 0.0 or w[k, first] <= 0.0:
        return still
    share = 1.0 / w[k, first]
    c1, c2 = w[k, first + 1] * share, w[k, first + 2] * share
    # response of the tangents with the normal speed at zero, and its principal axes
    a = w[k + 1, first + 1] - c1 * w[k, first + 1]
    h = w[k + 1, first + 2] - c1 * w[k, first + 2]
    d = w[k + 2, first + 2] - c2 * w[k, first + 2]
    mean, half = 0.5 * (a + d), 0.5 * (a - d)
    reach = math.sqrt(half * half + h * h)
    least = FLAT * (w[k + 1, first + 1] + w[k + 2, first + 2]) + 1e-300
    moments = (max(mean + reach, least), max(mean - reach, least))
    angle = 0.5 * math.atan2(h, half)
    c, s = math.cos(angle), math.sin(angle)
    p1, p2 = b[1] - c1 * b[0], b[2] - c2 * b[0]
    pull = (c * p1 + s * p2, c * p2 - s * p1)
    tilt = (c * c1 + s * c2, c * c2 - s * c1)
    alone = -b[0] * share
    x, y, length = sliding(0.0, moments, pull)
    normal = alone - tilt[0] * x - tilt[1] * y
    low, high = 0.0, moments[0]
    if length > mu * normal:
        at_low = max(mu * normal / length, -1.0) - 1.0
        at_high = -1.0
        for _ in range(MOST_ROOT_STEPS):
            x, y, length = sliding(high, moments, pull)
            normal = alone - tilt[0] * x - tilt[1] * y
            at_high = mu * normal / max(length, 1e-300) - 1.0
            if at_high >= 0.0:
                break
            low, at_low, high = high, at_high, 8.0 * high
        side = 0
        for _ in range(MOST_ROOT_STEPS):  # false position; an end retained twice counts half (Illinois)
            kappa = high - at_high * (high - low) / (at_high - at_low) if at_high > 0.0 else high
            x, y, length = sliding(kappa, moments, pull)
            normal = alone - tilt[0] * x - tilt[1] * y
            value = mu * normal / max(length, 1e-300) - 1.0
            if abs(value) <= ROUND_OFF or high - low <= ROUND_OFF * high:
                break
            if value > 0.0:
                high, at_high = kappa, value
                at_low *= 0.5 if side > 0 else 1.0
                side = 1
            else:
                low, at_low = kappa, value
                at_high *= 0.5 if side < 0 else 1.0
                side = -1
    return normal, c * x - s * y, s * x + c * y
