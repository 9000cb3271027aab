"""exp([r]) and its first and second differentials on tuples (Kim, Lee & Park 2014)."""

from __future__ import annotations

import math

from ._jit import inline
from .spatial import Rotation, Vector, cross


@inline
def exp_coefficients(square: float) -> tuple[float, float, float, float, float]:
    """beta, gamma and the factors of <r, r'> in alpha', beta', gamma' at |r|^2 = square.

    Kim, Lee & Park 2014, eqs. 2, 7, 36-38. Below 1 rad by series of ten terms (the first one left out is under
    1e-17 of the sum), above by half-angle forms: the paper's threshold of 1e-4 loses all digits of the derivatives.
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
    alpha = 1.0 - gamma * (x * x + y * y + z * z)
    return (
        1.0 - beta * (y * y + z * z),
        beta * x * y - alpha * z,
        beta * x * z + alpha * y,
        beta * x * y + alpha * z,
        1.0 - beta * (x * x + z * z),
        beta * y * z - alpha * x,
        beta * x * z - alpha * y,
        beta * y * z + alpha * x,
        1.0 - beta * (x * x + y * y),
    )


@inline
def spatial_jacobian(r: Vector, beta: float, gamma: float) -> Rotation:
    """J_s(r) = I + beta [r] + gamma [r]^2, w_s = J_s r' (eq. 24)."""
    x, y, z = r
    return (
        1.0 - gamma * (y * y + z * z),
        gamma * x * y - beta * z,
        gamma * x * z + beta * y,
        gamma * x * y + beta * z,
        1.0 - gamma * (x * x + z * z),
        gamma * y * z - beta * x,
        gamma * x * z - beta * y,
        gamma * y * z + beta * x,
        1.0 - gamma * (x * x + y * y),
    )


@inline
def spatial_jacobian_rate(
    r: Vector, rd: Vector, beta: float, gamma: float, alpha_rate: float, beta_rate: float, gamma_rate: float
) -> Vector:
    """J_s' r', the part of w_s' that r'' does not bring (eq. 43, whose cross product is r' x r)."""
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
def principal_rotation_vector(r: Vector, rd: Vector) -> tuple[Vector, Vector]:
    """The same rotation and angular velocity on the chart |r| <= pi.

    Kim, Lee & Park 2014, reparametrization: r (1 - 2 pi k / |r|) and its time derivative.
    """
    angle = math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    turns = int(angle / (2.0 * math.pi) + 0.5)
    if turns == 0:
        return r, rd
    removed = 2.0 * math.pi * turns
    scale = 1.0 - removed / angle
    rate = removed * (r[0] * rd[0] + r[1] * rd[1] + r[2] * rd[2]) / (angle * angle * angle)
    position = (scale * r[0], scale * r[1], scale * r[2])
    velocity = (
        scale * rd[0] + rate * r[0],
        scale * rd[1] + rate * r[1],
        scale * rd[2] + rate * r[2],
    )
    return position, velocity
