"""Elastic energy, forces and stiffness of springs, and of corotated linear and stable Neo-Hookean tetrahedra.

With F = R S (polar), a tetrahedron has the energy mu |S - I|^2 + lambda / 2 tr^2(S - I) per volume, of which the stress
P = R (2 mu E + lambda tr(E) I), E = S - I, is the exact gradient. Stiffness damping adds b times the rate sym(R^T F')
to E: its power is never positive. A spring has the energy EA L eps^2 / 2 with the strain eps = (l - L) / L (Wang 2022,
eq. 4.88, where K is the energy at eps^2 / 2 = 1: K = EA L).

A displacement u of node a turns R^T F by w = g_a x R^T u, and R by (tr(S) I - S)^-1 w. So the stiffness is that of
linear elasticity with turned gradients, and between nodes a and b hat(g_a)^T Q hat(g_b) with
Q = mu I - (2 mu - lambda tr(S - I)) (tr(S) I - S)^-1: zero at rest, and not positive under compression. Where R is
undetermined, as S has two stretches of sum 0, Q is left out, as in matrices that are to be positive.

The stable Neo-Hookean law (Smith, de Goes & Kim 2018, eq. 14) needs no rotation. With I = |F|^2, J = det F and its
derivative C by F, the energy per volume is mu' / 2 (I - 3 - log (I + 1)) + lambda' / 2 (J - a)^2 less that at rest,
a = 1 + 3 mu' / (4 lambda'): smooth for every F, without force at rest, and pushed apart where it is a point. With
mu' = 4/3 mu and lambda' = lambda + 5/6 mu (sec. 3.4) it is linear elasticity near rest. Stress and tangent are

    P = m F + p C,   m = mu' I / (I + 1),   p = lambda' (J - a),
    dP = m dF + 2 mu' / (I + 1)^2 (F : dF) F + lambda' (C : dF) C + p dC,   dC g = u x F (g x h) for dF = u h^T

Its damping has the rate b sym(F^T F') of Green's strain in place of that of E, and turns with F.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from ..algebra.spatial import multiply, rotate
from ..algebra.vectors import Array, Rotation, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as at
from .nodes import NOTHING, add_at, number3
from .polar import cofactors, mean_of, nearest_rotation, square_of, symmetric_part

# (xx, yy, zz, yz, xz, xy)
Symmetric: TypeAlias = tuple[float, float, float, float, float, float]

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
UNDETERMINED = 1e-6  # of two stretches' sum, relative to all: the rotation then has no derivative


@inline
def gradient_of(data: Array, k: int, a: int) -> Vector:
    return data[k, 3 * a], data[k, 3 * a + 1], data[k, 3 * a + 2]


@inline
def deformation(tets: Array, data: Array, k: int, x: Array) -> Rotation:
    """F of tetrahedron k by rows, from places; from rates it is F'."""
    first = number3(x, tets[k, 0])
    a = subtract3(number3(x, tets[k, 1]), first)
    b = subtract3(number3(x, tets[k, 2]), first)
    c = subtract3(number3(x, tets[k, 3]), first)
    g, h, i = gradient_of(data, k, 1), gradient_of(data, k, 2), gradient_of(data, k, 3)
    return multiply((a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]), g + h + i)


@inline
def neo_hookean(data: Array, k: int, f: Rotation) -> tuple[float, float, Rotation]:
    """m, p and C of the stable Neo-Hookean law's stress m F + p C."""
    square, c, mu, bulk = square_of(f), cofactors(f), data[k, at.MU], data[k, at.LAMBDA]
    swelling = f[0] * c[0] + f[1] * c[1] + f[2] * c[2] - 1.0
    return 4.0 / 3.0 * mu * square / (square + 1.0), (bulk + 5.0 / 6.0 * mu) * swelling - mu, c


@shared
def neo_energy(data: Array, k: int, f: Rotation) -> float:
    square, c, mu = square_of(f), cofactors(f), data[k, at.MU]
    swelling = f[0] * c[0] + f[1] * c[1] + f[2] * c[2] - 1.0
    shear = 2.0 / 3.0 * mu * (square - 3.0 - math.log(0.25 * (square + 1.0)))
    bulk = 0.5 * (data[k, at.LAMBDA] + 5.0 / 6.0 * mu)
    energy: float = data[k, at.VOLUME] * (shear + (bulk * swelling - mu) * swelling)
    return energy


@shared
def tet_energy(neo: Array, data: Array, k: int, f: Rotation, scratch: Array) -> float:
    if neo is not None and neo[k]:
        return neo_energy(data, k, f)
    (x, y, z), rest = symmetric_part(nearest_rotation(f, scratch), f)
    trace = x + y + z - 3.0
    squares = (x - 1.0) ** 2 + (y - 1.0) ** 2 + (z - 1.0) ** 2 + 2.0 * dot3(rest, rest)
    energy: float = data[k, at.VOLUME] * (data[k, at.MU] * squares + 0.5 * data[k, at.LAMBDA] * trace * trace)
    return energy


@shared
def add_tet_forces(
    mesh: Array, neo: Array, damped: bool, x: Array, v: Array, f: Array, scratch: Array
) -> None:
    """Forces of all tetrahedra; damped: with stiffness damping."""
    tets, data = mesh[at.TETS], mesh[at.TET_DATA]
    for k in range(tets.shape[0]):
        gradient = deformation(tets, data, k, x)
        r = gradient
        if neo is None or not neo[k]:
            r = nearest_rotation(gradient, scratch)
        (xx, yy, zz), (yz, xz, xy) = symmetric_part(r, gradient)
        b = data[k, at.TET_DAMPING]
        xx, yy, zz = xx - 1.0, yy - 1.0, zz - 1.0
        if neo is not None and neo[k]:  # damping alone
            xx = yy = zz = yz = xz = xy = 0.0
        if damped and b > 0.0:
            (rx, ry, rz), (ryz, rxz, rxy) = symmetric_part(r, deformation(tets, data, k, v))
            xx, yy, zz = xx + b * rx, yy + b * ry, zz + b * rz
            yz, xz, xy = yz + b * ryz, xz + b * rxz, xy + b * rxy
        both, mean = 2.0 * data[k, at.MU], data[k, at.LAMBDA] * (xx + yy + zz)
        xx, yy, zz = both * xx + mean, both * yy + mean, both * zz + mean
        yz, xz, xy = both * yz, both * xz, both * xy
        total = NOTHING
        for a in range(1, 4):
            g = gradient_of(data, k, a)
            stress = (
                xx * g[0] + xy * g[1] + xz * g[2],
                xy * g[0] + yy * g[1] + yz * g[2],
                xz * g[0] + yz * g[1] + zz * g[2],
            )
            force = rotate(r, stress)
            total = add3(total, force)
            add_at(f, tets[k, a], -data[k, at.VOLUME], force)
        add_at(f, tets[k, 0], data[k, at.VOLUME], total)
    if neo is not None:
        add_neo_forces(mesh, neo, x, f)


@shared
def add_neo_forces(mesh: Array, neo: Array, x: Array, f: Array) -> None:
    """Forces of the stable Neo-Hookean tetrahedra without damping."""
    tets, data = mesh[at.TETS], mesh[at.TET_DATA]
    for k in range(tets.shape[0]):
        if neo[k]:
            gradient = deformation(tets, data, k, x)
            share, pressure, c = neo_hookean(data, k, gradient)
            stress = mean_of(share, gradient, pressure, c)
            for a in range(4):
                add_at(f, tets[k, a], -data[k, at.VOLUME], rotate(stress, gradient_of(data, k, a)))


@inline
def along_spring(springs: Array, k: int, x: Array) -> Vector:
    """From the first node of spring k to the second."""
    return subtract3(number3(x, springs[k, 1]), number3(x, springs[k, 0]))


@shared
def add_spring_forces(mesh: Array, damped: bool, x: Array, v: Array, f: Array) -> None:
    """Forces of all springs; damped: with stiffness damping along them."""
    springs, data = mesh[at.SPRINGS], mesh[at.SPRING_DATA]
    for k in range(springs.shape[0]):
        along = along_spring(springs, k, x)
        length = math.sqrt(dot3(along, along))
        if length > 0.0:  # without a direction it has no force
            strain = (length - data[k, at.REST]) / data[k, at.REST]
            if damped:
                rate = dot3(along, along_spring(springs, k, v)) / length
                strain += data[k, at.SPRING_DAMPING] * rate / data[k, at.REST]
            tension = data[k, at.TENSILE] * strain / length
            add_at(f, springs[k, 0], tension, along)
            add_at(f, springs[k, 1], -tension, along)


@shared
def elastic_energy(
    mesh: Array, neo: Array, first: tuple[int, int], last: tuple[int, int], x: Array, scratch: Array
) -> float:
    """Energy of the tetrahedra and of the springs in two ranges, each given by its end in first and last."""
    total = 0.0
    for k in range(first[0], last[0]):
        gradient = deformation(mesh[at.TETS], mesh[at.TET_DATA], k, x)
        total += tet_energy(neo, mesh[at.TET_DATA], k, gradient, scratch)
    springs, data = mesh[at.SPRINGS], mesh[at.SPRING_DATA]
    for k in range(first[1], last[1]):
        along = along_spring(springs, k, x)
        stretch = math.sqrt(dot3(along, along)) - data[k, at.REST]
        total += 0.5 * data[k, at.TENSILE] / data[k, at.REST] * stretch * stretch
    return total


@inline
def turning_inverse(diagonal: Vector, rest: Vector) -> tuple[Symmetric, float]:
    """(tr(S) I - S)^-1 as a matrix (xx, yy, zz, yz, xz, xy) and its factor, 0 where the rotation has no derivative."""
    trace = diagonal[0] + diagonal[1] + diagonal[2]
    a, b, c = trace - diagonal[0], trace - diagonal[1], trace - diagonal[2]
    d, e, f = -rest[0], -rest[1], -rest[2]
    xx, yy, zz = b * c - d * d, a * c - e * e, a * b - f * f
    yz, xz, xy = e * f - a * d, d * f - b * e, d * e - c * f
    volume = a * xx + f * xy + e * xz
    size = abs(a) + abs(b) + abs(c)
    share = 1.0 / volume if volume > UNDETERMINED * size * size * size else 0.0
    return (xx, yy, zz, yz, xz, xy), share


@inline
def turning_stiffness(mu: float, bulk: float, diagonal: Vector, rest: Vector) -> Symmetric:
    """Q from S; zeros where the rotation has no derivative."""
    (xx, yy, zz, yz, xz, xy), inverse = turning_inverse(diagonal, rest)
    if inverse == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    share = -(2.0 * mu - bulk * (diagonal[0] + diagonal[1] + diagonal[2] - 3.0)) * inverse
    return mu + share * xx, mu + share * yy, mu + share * zz, share * yz, share * xz, share * xy


@inline
def is_positive(q: Symmetric) -> bool:
    """Whether a symmetric matrix (xx, yy, zz, yz, xz, xy) has no negative eigenvalue, up to round-off."""
    xx, yy, zz, yz, xz, xy = q
    least = -1e-12 * (abs(xx) + abs(yy) + abs(zz))
    minors = min(xx * yy - xy * xy, xx * zz - xz * xz, yy * zz - yz * yz)
    volume = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    return bool(min(xx, yy, zz) >= least and minors >= 0.0 and volume >= 0.0)


@shared
def add_tet_blocks(
    mesh: Array,
    neo: Array,
    weights: tuple[float, float],
    exact: bool,
    x: Array,
    blocks: Array,
    scratch: Array,
) -> None:
    """Add the stiffness of all tetrahedra, times weights[0], and b times it for their damping, times weights[1], to the
    blocks. Not exact: without Q where that is not positive.
    """
    tets, data, targets = mesh[at.TETS], mesh[at.TET_DATA], mesh[at.TET_BLOCKS]
    for k in range(tets.shape[0]):
        if neo is not None and neo[k]:
            add_neo_blocks(mesh, k, weights, exact, x, blocks)
            continue
        gradient = deformation(tets, data, k, x)
        r = nearest_rotation(gradient, scratch)
        diagonal, rest = symmetric_part(r, gradient)
        mu, bulk, volume = data[k, at.MU], data[k, at.LAMBDA], data[k, at.VOLUME]
        q = turning_stiffness(mu, bulk, diagonal, rest)
        turning = weights[0] * volume
        if not exact and not is_positive(q):
            turning = 0.0
        share = (weights[0] + weights[1] * data[k, at.TET_DAMPING]) * volume
        mu, bulk = mu * share, bulk * share
        n = 0
        for a in range(4):
            g = gradient_of(data, k, a)
            turned = rotate(r, g)
            for b in range(a + 1):
                h = gradient_of(data, k, b)
                other, target = rotate(r, h), targets[k, n]
                n += 1
                same = mu * dot3(g, h)
                for c in range(3):
                    # column c of the block in world axes: linear elasticity, then R hat(g)^T Q hat(h) R^T
                    axis = (r[c * 3], r[c * 3 + 1], r[c * 3 + 2])
                    w = cross(h, axis)
                    turn = (
                        q[0] * w[0] + q[5] * w[1] + q[4] * w[2],
                        q[5] * w[0] + q[1] * w[1] + q[3] * w[2],
                        q[4] * w[0] + q[3] * w[1] + q[2] * w[2],
                    )
                    column = rotate(r, cross(turn, g))
                    for d in range(3):
                        stiffness = bulk * turned[d] * other[c] + mu * other[d] * turned[c]
                        blocks[target, 4 * c + d] += stiffness + turning * column[d]
                    blocks[target, 5 * c] += same


@shared
def add_neo_blocks(
    mesh: Array, k: int, weights: tuple[float, float], exact: bool, x: Array, blocks: Array
) -> None:
    """`add_tet_blocks` of a stable Neo-Hookean tetrahedron; not exact: without p dC where that may not be positive."""
    tets, data, targets = mesh[at.TETS], mesh[at.TET_DATA], mesh[at.TET_BLOCKS]
    f, mu = deformation(tets, data, k, x), data[k, at.MU]
    share, pressure, c = neo_hookean(data, k, f)
    if not exact:  # positive while all stretches are less than m / |p|
        (xx, yy, zz), (yz, xz, xy) = symmetric_part(f, f)
        s, p = share * share, -pressure * pressure
        if not is_positive((s + p * xx, s + p * yy, s + p * zz, p * yz, p * xz, p * xy)):
            pressure = 0.0
    stiff, loss = weights[0] * data[k, at.VOLUME], weights[1] * data[k, at.TET_DAMPING] * data[k, at.VOLUME]
    bulk = stiff * (data[k, at.LAMBDA] + 5.0 / 6.0 * mu)
    along = loss * data[k, at.LAMBDA] + stiff * 8.0 / 3.0 * mu / (square_of(f) + 1.0) ** 2
    n = 0
    for a in range(4):
        g = gradient_of(data, k, a)
        fg, cg = rotate(f, g), rotate(c, g)
        for b in range(a + 1):
            h, target = gradient_of(data, k, b), targets[k, n]
            fh, ch, across, same = rotate(f, h), rotate(c, h), rotate(f, cross(g, h)), dot3(g, h)
            n += 1
            for d in range(3):
                unit = AXES[d]
                column = scale_add3(scale_add3(NOTHING, bulk * ch[d], cg), along * fh[d], fg)
                column = scale_add3(column, stiff * share * same, unit)
                column = scale_add3(column, stiff * pressure, cross(unit, across))
                turned = scale_add3(NOTHING, same, rotate(f, (f[3 * d], f[3 * d + 1], f[3 * d + 2])))
                column = scale_add3(column, loss * mu, scale_add3(turned, fg[d], fh))
                for e in range(3):
                    blocks[target, 4 * d + e] += column[e]


@shared
def add_spring_blocks(
    mesh: Array, weights: tuple[float, float], exact: bool, x: Array, blocks: Array
) -> None:
    """As `add_tet_blocks`, of all springs; not exact: without the negative stiffness across a compressed one."""
    springs, data, targets = mesh[at.SPRINGS], mesh[at.SPRING_DATA], mesh[at.SPRING_BLOCKS]
    for k in range(springs.shape[0]):
        along = along_spring(springs, k, x)
        length = math.sqrt(dot3(along, along))
        if not length > 0.0:
            continue
        stiffness, inverse = data[k, at.TENSILE] / data[k, at.REST], 1.0 / length
        across = weights[0] * stiffness * (1.0 - data[k, at.REST] * inverse)
        if not exact:
            across = max(across, 0.0)
        whole = (weights[0] + weights[1] * data[k, at.SPRING_DAMPING]) * stiffness
        for c in range(3):
            column = scale_add3(NOTHING, (whole - across) * along[c] * inverse * inverse, along)
            for n in range(3):
                sign = -1.0 if n == 1 else 1.0  # (j, i) between the ends' own blocks
                for d in range(3):
                    blocks[targets[k, n], 4 * c + d] += sign * column[d]
                blocks[targets[k, n], 5 * c] += sign * across
