"""Numbers and vectors with two derivatives in time, and the derivative of all three along one more direction.

A jet is (x, x', x'', dx, dx', dx''). Derivatives of a path's accelerations are made of these.
"""

import math
from typing import TypeAlias

from ..compiler.jit import inline
from .vectors import NONE, Vector, dot3, scale_add3, subtract3

Jet: TypeAlias = tuple[float, float, float, float, float, float]
VectorJet: TypeAlias = tuple[Vector, Vector, Vector, Vector, Vector, Vector]


@inline
def plus(a: Jet, b: Jet) -> Jet:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inline
def times(s: float, a: Jet) -> Jet:
    """s a, for a constant s."""
    return s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5]


@inline
def product(f: Jet, g: Jet) -> Jet:
    """f g."""
    return (
        f[0] * g[0],
        f[1] * g[0] + f[0] * g[1],
        f[2] * g[0] + 2.0 * f[1] * g[1] + f[0] * g[2],
        f[3] * g[0] + f[0] * g[3],
        f[4] * g[0] + f[1] * g[3] + f[3] * g[1] + f[0] * g[4],
        f[5] * g[0] + f[2] * g[3] + 2.0 * (f[4] * g[1] + f[1] * g[4]) + f[3] * g[2] + f[0] * g[5],
    )


@inline
def quotient(f: Jet, g: Jet) -> Jet:
    """f / g, from f = q g."""
    i = 1.0 / g[0]
    q = f[0] * i
    q1 = (f[1] - q * g[1]) * i
    q2 = (f[2] - 2.0 * q1 * g[1] - q * g[2]) * i
    d = (f[3] - q * g[3]) * i
    d1 = (f[4] - q1 * g[3] - d * g[1] - q * g[4]) * i
    d2 = (f[5] - q2 * g[3] - 2.0 * (d1 * g[1] + q1 * g[4]) - d * g[2] - q * g[5]) * i
    return q, q1, q2, d, d1, d2


@inline
def composed(h: tuple[float, float, float, float], f: Jet) -> Jet:
    """A function of f; h is its value and its first three derivatives at f[0]."""
    return (
        h[0],
        h[1] * f[1],
        h[1] * f[2] + h[2] * f[1] * f[1],
        h[1] * f[3],
        h[1] * f[4] + h[2] * f[1] * f[3],
        h[1] * f[5] + h[2] * (f[2] * f[3] + 2.0 * f[1] * f[4]) + h[3] * f[1] * f[1] * f[3],
    )


@inline
def subtract_vectors(a: VectorJet, b: VectorJet) -> VectorJet:
    """a - b."""
    return (
        subtract3(a[0], b[0]), subtract3(a[1], b[1]), subtract3(a[2], b[2]),
        subtract3(a[3], b[3]), subtract3(a[4], b[4]), subtract3(a[5], b[5]),
    )  # fmt: skip


@inline
def last_of_product(s: Jet, x: VectorJet) -> Vector:
    """The last number of s x."""
    y = scale_add3(scale_add3(NONE, s[5], x[0]), s[2], x[3])
    y = scale_add3(scale_add3(y, 2.0 * s[4], x[1]), 2.0 * s[1], x[4])
    return scale_add3(scale_add3(y, s[3], x[2]), s[0], x[5])


@inline
def length_and_unit(w: VectorJet) -> tuple[Jet, VectorJet]:
    """Length and direction of a vector, from l' = u . w' and w = l u; zero if it has no length."""
    length = math.sqrt(dot3(w[0], w[0]))
    i = 1.0 / length if length > 0.0 else 0.0
    u = scale_add3(NONE, i, w[0])
    l1 = dot3(u, w[1])
    u1 = scale_add3(NONE, i, scale_add3(w[1], -l1, u))
    l2 = dot3(u, w[2]) + dot3(u1, w[1])
    u2 = scale_add3(NONE, i, scale_add3(scale_add3(w[2], -l2, u), -2.0 * l1, u1))
    d = dot3(u, w[3])
    e = scale_add3(NONE, i, scale_add3(w[3], -d, u))
    d1 = dot3(e, w[1]) + dot3(u, w[4])
    e1 = scale_add3(scale_add3(scale_add3(w[4], -d1, u), -l1, e), -d, u1)
    e1 = scale_add3(NONE, i, e1)
    d2 = dot3(e1, w[1]) + dot3(u1, w[4]) + dot3(e, w[2]) + dot3(u, w[5])
    e2 = scale_add3(scale_add3(w[5], -d2, u), -l2, e)
    e2 = scale_add3(scale_add3(e2, -2.0 * d1, u1), -2.0 * l1, e1)
    e2 = scale_add3(NONE, i, scale_add3(e2, -d, u2))
    return (length, l1, l2, d, d1, d2), (u, u1, u2, e, e1, e2)
