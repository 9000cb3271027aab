"""The rotation nearest to a deformation gradient: the first factor of its polar decomposition."""

from __future__ import annotations

import math

from ..algebra.spatial import transposed
from ..algebra.vectors import Array, Rotation, Vector
from ..compiler.jit import inline, shared

# Higham's iteration loses digits as the determinant, relative to the mean of the stretches cubed, falls: below this
# share the eigenvector of a symmetric matrix gives the rotation, whatever the determinant's sign.
FLAT = 0.05
MOST_ITERATIONS, MOST_SWEEPS = 30, 20
SETTLED = 1e-17  # of the squared change in an iteration that converges quadratically


@inline
def cofactors(f: Rotation) -> Rotation:
    return (
        f[4] * f[8] - f[5] * f[7],
        f[5] * f[6] - f[3] * f[8],
        f[3] * f[7] - f[4] * f[6],
        f[2] * f[7] - f[1] * f[8],
        f[0] * f[8] - f[2] * f[6],
        f[1] * f[6] - f[0] * f[7],
        f[1] * f[5] - f[2] * f[4],
        f[2] * f[3] - f[0] * f[5],
        f[0] * f[4] - f[1] * f[3],
    )


@inline
def square_of(f: Rotation) -> float:
    """Sum of the squares of all nine numbers."""
    total: float = (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) + (f[3] * f[3] + f[4] * f[4] + f[5] * f[5])
    return total + (f[6] * f[6] + f[7] * f[7] + f[8] * f[8])


@inline
def mean_of(a: float, x: Rotation, b: float, y: Rotation) -> Rotation:
    """a x + b y."""
    return (
        a * x[0] + b * y[0],
        a * x[1] + b * y[1],
        a * x[2] + b * y[2],
        a * x[3] + b * y[3],
        a * x[4] + b * y[4],
        a * x[5] + b * y[5],
        a * x[6] + b * y[6],
        a * x[7] + b * y[7],
        a * x[8] + b * y[8],
    )


@shared
def nearest_rotation(f: Rotation, scratch: Array) -> Rotation:
    """The rotation R (by rows) with the largest tr(R^T F); scratch (8, 4).

    Higham's scaled Newton iteration X <- (g X + X^-T / g) / 2 where F is far from flat, else Horn's quaternion. For an
    inverted F, R^T F is symmetric with its smallest stretch negative.
    """
    others = cofactors(f)
    volume = f[0] * others[0] + f[1] * others[1] + f[2] * others[2]
    mean = math.sqrt(square_of(f) / 3.0)
    if not volume > FLAT * mean * mean * mean:
        return turned_by_quaternion(f, scratch)
    x, change, k = f, 1.0, 0
    while change > SETTLED and k < MOST_ITERATIONS:
        others = cofactors(x)
        volume = x[0] * others[0] + x[1] * others[1] + x[2] * others[2]
        scale = 1.0
        if change > 1e-2:
            scale = math.sqrt(math.sqrt(square_of(others) / square_of(x)) / volume)
        following = mean_of(0.5 * scale, x, 0.5 / (scale * volume), others)
        change = square_of(mean_of(1.0, following, -1.0, x))
        x = following
        k += 1
    return x


@shared
def turned_by_quaternion(f: Rotation, scratch: Array) -> Rotation:
    """`nearest_rotation` by the largest eigenvalue's vector of a symmetric 4 x 4 matrix (Horn 1987), by Jacobi's
    rotations.
    """
    for i in range(4):
        for j in range(4):
            scratch[4 + i, j] = 1.0 if i == j else 0.0
    scratch[0, 0] = f[0] + f[4] + f[8]
    scratch[1, 1], scratch[2, 2], scratch[3, 3] = f[0] - f[4] - f[8], f[4] - f[0] - f[8], f[8] - f[0] - f[4]
    scratch[0, 1], scratch[0, 2], scratch[0, 3] = f[7] - f[5], f[2] - f[6], f[3] - f[1]
    scratch[1, 2], scratch[1, 3], scratch[2, 3] = f[1] + f[3], f[2] + f[6], f[5] + f[7]
    for _ in range(MOST_SWEEPS):
        rest = 0.0
        for p in range(3):
            for q in range(p + 1, 4):
                rest += abs(scratch[p, q])
                if scratch[p, q] != 0.0:
                    annul(p, q, scratch)
        if rest == 0.0:
            break
    best = 0
    for i in range(1, 4):
        if scratch[i, i] > scratch[best, best]:
            best = i
    w, x, y, z = scratch[4, best], scratch[5, best], scratch[6, best], scratch[7, best]
    return (
        w * w + x * x - y * y - z * z,
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        w * w - x * x + y * y - z * z,
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        w * w - x * x - y * y + z * z,
    )


@shared
def annul(p: int, q: int, scratch: Array) -> None:
    """Jacobi's rotation that makes entry (p, q) of the upper triangle zero; vectors are in the rows after it."""
    half = 0.5 * (scratch[q, q] - scratch[p, p]) / scratch[p, q]
    t = 1.0 / (abs(half) + math.sqrt(half * half + 1.0))
    t = -t if half < 0.0 else t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    scratch[p, p] -= t * scratch[p, q]
    scratch[q, q] += t * scratch[p, q]
    scratch[p, q] = 0.0
    for k in range(4):
        if k != p and k != q:
            i, j = min(k, p), max(k, p)
            g, h = min(k, q), max(k, q)
            a, b = scratch[i, j], scratch[g, h]
            scratch[i, j], scratch[g, h] = c * a - s * b, s * a + c * b
        a, b = scratch[4 + k, p], scratch[4 + k, q]
        scratch[4 + k, p], scratch[4 + k, q] = c * a - s * b, s * a + c * b


@inline
def symmetric_part(r: Rotation, f: Rotation) -> tuple[Vector, Vector]:
    """Diagonal (xx, yy, zz) and the rest (yz, xz, xy) of sym(R^T F)."""
    t = transposed(r)
    xx = t[0] * f[0] + t[1] * f[3] + t[2] * f[6]
    yy = t[3] * f[1] + t[4] * f[4] + t[5] * f[7]
    zz = t[6] * f[2] + t[7] * f[5] + t[8] * f[8]
    yz = t[3] * f[2] + t[4] * f[5] + t[5] * f[8] + (t[6] * f[1] + t[7] * f[4] + t[8] * f[7])
    xz = t[0] * f[2] + t[1] * f[5] + t[2] * f[8] + (t[6] * f[0] + t[7] * f[3] + t[8] * f[6])
    xy = t[0] * f[1] + t[1] * f[4] + t[2] * f[7] + (t[3] * f[0] + t[4] * f[3] + t[5] * f[6])
    return (xx, yy, zz), (0.5 * yz, 0.5 * xz, 0.5 * xy)
