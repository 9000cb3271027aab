"""exp([r]) and its first and second differentials on tuples (Kim, Lee & Park 2014)."""

import math

from ..compiler.jit import inline
from .vectors import Rotation, Vector, add3, cross, dot3, skew_series


@inline
def exp_coefficients(square: float) -> tuple[float, float, float, float, float]:
    """beta, gamma and the factors of <r, r'> in alpha', beta', gamma' at |r|^2 = square.

    Kim, Lee & Park 2014, eqs. 2, 7, 36-38. Below 1 rad by ten terms of a series (the first one omitted is under 1e-17
    of the sum), above by half-angle forms: the paper's threshold of 1e-4 loses all digits of the derivatives.
    """
    if square < 1.0:
        beta, gamma, alpha_rate, beta_rate, gamma_rate = 0.0, 0.0, 0.0, 0.0, 0.0
        # term n of beta is (-x)^n / (2n + 2)!, of gamma (-x)^n / (2n + 3)!; rates are 2 d/dx
        inverse_factorial = 1.0 / 2432902008176640000.0  # 1 / 20!
        n = 9
        while n >= 0:
            beta_term = inverse_factorial
            gamma_term = inverse_factorial / (2 * n + 3)
            if n > 0:
                beta_rate = -2.0 * n * beta_term - square * beta_rate
                gamma_rate = -2.0 * n * gamma_term - square * gamma_rate
            beta = beta_term - square * beta
            gamma = gamma_term - square * gamma
            inverse_factorial *= (2 * n + 2) * (2 * n + 1)
            n -= 1
        alpha_rate = gamma - beta
        return beta, gamma, alpha_rate, beta_rate, gamma_rate
    angle = math.sqrt(square)
    half = math.sin(0.5 * angle)
    alpha = math.sin(angle) / angle
    beta = 2.0 * half * half / square
    gamma = (1.0 - alpha) / square
    return beta, gamma, gamma - beta, (alpha - 2.0 * beta) / square, (beta - 3.0 * gamma) / square


@inline
def exp_rotation(r: Vector, beta: float, gamma: float) -> Rotation:
    """exp([r]) = I + alpha [r] + beta [r]^2 with alpha = 1 - gamma |r|^2 (eq. 2)."""
    x, y, z = r
    return skew_series(r, 1.0 - gamma * (x * x + y * y + z * z), beta)


@inline
def spatial_jacobian(r: Vector, beta: float, gamma: float) -> Rotation:
    """J_s(r) = I + beta [r] + gamma [r]^2, w_s = J_s r' (eq. 24)."""
    return skew_series(r, beta, gamma)


@inline
def spatial_jacobian_rate(
    r: Vector, rd: Vector, beta: float, gamma: float, alpha_rate: float, beta_rate: float, gamma_rate: float
) -> Vector:
    """J_s' r', the part of w_s' without r'' (eq. 43, whose cross product is r' x r)."""
    inner = r[0] * rd[0] + r[1] * rd[1] + r[2] * rd[2]
    square = rd[0] * rd[0] + rd[1] * rd[1] + rd[2] * rd[2]
    along_rate = (alpha_rate + gamma) * inner
    along = gamma_rate * inner * inner + gamma * square
    turn = cross(rd, r)
    aside = -beta_rate * inner
    return (
        along_rate * rd[0] + aside * turn[0] + along * r[0],
        along_rate * rd[1] + aside * turn[1] + along * r[1],
        along_rate * rd[2] + aside * turn[2] + along * r[2],
    )


@inline
def exp_curvatures(
    square: float, alpha_rate: float, beta_rate: float, gamma_rate: float
) -> tuple[float, float]:
    """The factors of <r, a> in the derivatives of beta_rate and gamma_rate along a, at |r|^2 = square.

    beta_rate is 2 d(beta)/d(|r|^2), so they follow from the rates as the rates do from the coefficients; below 1 rad by
    series as in `exp_coefficients`.
    """
    if square < 1.0:
        beta_curve, gamma_curve = 0.0, 0.0
        inverse_factorial = 1.0 / 51090942171709440000.0 / 22.0  # 1 / 22!
        for n in range(10, 1, -1):  # 4 n (n - 1) (-x)^(n - 2) / (2n + 2)!, and of gamma / (2n + 3)!
            share = 4.0 * n * (n - 1) * inverse_factorial
            beta_curve = share - square * beta_curve
            gamma_curve = share / (2 * n + 3) - square * gamma_curve
            inverse_factorial *= (2 * n + 2) * (2 * n + 1)
        return beta_curve, gamma_curve
    return (alpha_rate - 4.0 * beta_rate) / square, (beta_rate - 5.0 * gamma_rate) / square


@inline
def jacobian_slope(
    r: Vector, a: Vector, y: Vector, coefficients: tuple[float, float, float, float]
) -> Vector:
    """Derivative of J_s(r) y along a; coefficients are beta, gamma and their rates."""
    beta, gamma, beta_rate, gamma_rate = coefficients
    along = dot3(r, a)
    once, aside = cross(r, y), cross(a, y)
    twice = cross(r, once)
    mixed = add3(cross(a, once), cross(r, aside))
    b, g = beta_rate * along, gamma_rate * along
    return (
        b * once[0] + g * twice[0] + beta * aside[0] + gamma * mixed[0],
        b * once[1] + g * twice[1] + beta * aside[1] + gamma * mixed[1],
        b * once[2] + g * twice[2] + beta * aside[2] + gamma * mixed[2],
    )


@inline
def jacobian_bend(
    r: Vector,
    a: Vector,
    y: Vector,
    coefficients: tuple[float, float, float, float],
    curvatures: tuple[float, float],
) -> Vector:
    """Second derivative of J_s(r) y, along a and along y; arguments as in `jacobian_slope`, and `exp_curvatures`."""
    _, gamma, beta_rate, gamma_rate = coefficients
    along, forth, inner = dot3(r, a), dot3(r, y), dot3(a, y)
    once, aside = cross(r, y), cross(a, y)
    twice = cross(r, once)
    mixed = add3(cross(a, once), cross(r, aside))
    onward = cross(y, once)  # derivative of r x (r x y) along y
    last = cross(y, aside)
    b = beta_rate * inner + curvatures[0] * along * forth
    g = gamma_rate * inner + curvatures[1] * along * forth
    b_y = beta_rate * forth
    g_a, g_y = gamma_rate * along, gamma_rate * forth
    return (
        b * once[0] + g * twice[0] + b_y * aside[0] + g_a * onward[0] + g_y * mixed[0] + gamma * last[0],
        b * once[1] + g * twice[1] + b_y * aside[1] + g_a * onward[1] + g_y * mixed[1] + gamma * last[1],
        b * once[2] + g * twice[2] + b_y * aside[2] + g_a * onward[2] + g_y * mixed[2] + gamma * last[2],
    )


@inline
def principal_rotation_vector(r: Vector, rd: Vector, rdd: Vector) -> tuple[Vector, Vector, Vector]:
    """The same rotation, angular velocity and angular acceleration in the chart |r| <= pi.

    Kim, Lee & Park 2014, reparametrization: r (1 - 2 pi k / |r|) and its time derivatives.
    """
    angle = math.sqrt(dot3(r, r))
    turns = int(angle / (2.0 * math.pi) + 0.5)
    if turns == 0:
        return r, rd, rdd
    removed = 2.0 * math.pi * turns
    faster = dot3(r, rd) / angle
    scale, rate = 1.0 - removed / angle, removed * faster / (angle * angle)
    bend = removed * ((dot3(rd, rd) + dot3(r, rdd)) / angle - 3.0 * faster * faster / angle) / (angle * angle)
    velocity = add3((scale * rd[0], scale * rd[1], scale * rd[2]), (rate * r[0], rate * r[1], rate * r[2]))
    acceleration = add3(
        (scale * rdd[0], scale * rdd[1], scale * rdd[2]),
        (
            2.0 * rate * rd[0] + bend * r[0],
            2.0 * rate * rd[1] + bend * r[1],
            2.0 * rate * rd[2] + bend * r[2],
        ),
    )
    return (scale * r[0], scale * r[1], scale * r[2]), velocity, acceleration
