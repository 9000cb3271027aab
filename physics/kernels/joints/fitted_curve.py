"""Residuals of poses at places of a spline curve, and the squares of their changes with its control frames, for fits.

Adjoints and differentials of exp have the form [[X, 0], [Y, X]]; they are rows (X, Y) of 18 numbers, and multiply as
X + e Y with e^2 = 0. A function of ad x = [w] + e [v] is that of [w] with the squared angle w.w + 2 e w.v.
"""

from typing import TypeAlias

from ..algebra.access import load3, load6, load9, store3, store6, store9
from ..algebra.pose_error import double_cross, inverse_coefficients, rotation_log
from ..algebra.rotation_vector import exp_coefficients, exp_rotation, spatial_jacobian
from ..algebra.spatial import bracket, multiply, rotate, transposed
from ..algebra.vectors import STILL, Array, Rotation, Twist, Vector, add3, cross, dot3, scale_add6, subtract3
from ..compiler.jit import JITTED as JITTED
from ..compiler.jit import entry, inline, shared

# rows of the workspace
Z, SQUARE, BACK, TURN, MOVED, TAIL, ROWS = range(7)

Pair: TypeAlias = tuple[float, float]
#: of each span the squares so far (6 m + 1, 6 m + 1), lower triangle; the metric's factor (6, 6), upper triangular;
#: places for six rows of changes (6, 6 m + 1) of m frames, and for matrices (`ROWS`, 18)
System: TypeAlias = tuple[Array, Array, Array, Array]


@inline
def pose_of(poses: Array, row: int) -> tuple[Rotation, Vector]:
    """A pose (4, 4) in a row of 16 numbers."""
    x, y, z = load3(poses, row, 0), load3(poses, row, 4), load3(poses, row, 8)
    return x + y + z, (poses[row, 3], poses[row, 7], poses[row, 11])


@inline
def part_of(twists: Array, row: int, phi: float) -> tuple[Vector, Vector]:
    """The twist phi z."""
    w, v = load3(twists, row, 0), load3(twists, row, 3)
    return (phi * w[0], phi * w[1], phi * w[2]), (phi * v[0], phi * v[1], phi * v[2])


@inline
def exponential(w: Vector, v: Vector) -> tuple[Rotation, Vector]:
    """The inverse of the rotation of exp of a twist, and the place."""
    beta, gamma, _, _, _ = exp_coefficients(dot3(w, w))
    return transposed(exp_rotation(w, beta, gamma)), rotate(spatial_jacobian(w, beta, gamma), v)


@inline
def carried(back: Rotation, shift: Vector, x: Twist) -> Twist:
    """Ad(exp)^-1 x."""
    w, v = x[:3], x[3:]
    return rotate(back, w) + rotate(back, subtract3(v, cross(shift, w)))


@entry
def curve_residuals(
    inverses: Array, twists: Array, index: Array, phi: Array, targets: Array, result: Array
) -> None:
    """log(G^-1 target) at each place (n, 6), from the inverses of the frames and the twists between them."""
    for i in range(len(targets)):
        r, p = pose_of(inverses, index[i, 0])
        goal, place = pose_of(targets, i)
        p = add3(rotate(r, place), p)
        r = multiply(r, goal)
        for k in range(phi.shape[1]):
            w, v = part_of(twists, index[i, k + 1], phi[i, k])
            back, shift = exponential(w, v)
            p, r = rotate(back, subtract3(p, shift)), multiply(back, r)
        turn = rotation_log(r)
        zeta, _ = inverse_coefficients(dot3(turn, turn))
        store3(result, i, 0, turn)
        store3(result, i, 3, double_cross(-0.5, zeta, turn, p))


@entry
def curve_derivatives(
    twists: Array, index: Array, phi: Array, slope: Array, curve: Array, first: Array, second: Array
) -> None:
    """s and h = ds/dq at each place (n, 6) (Lee & Terzopoulos 2008, eqs. 29, 31)."""
    for i in range(len(index)):
        s, h = STILL, STILL
        for k in range(phi.shape[1]):
            row, rate = index[i, k + 1], slope[i, k]
            (w, v), z = part_of(twists, row, phi[i, k]), load6(twists, row, 0)
            back, shift = exponential(w, v)
            h = scale_add6(carried(back, shift, scale_add6(h, rate, bracket(s, z))), curve[i, k], z)
            s = scale_add6(carried(back, shift, s), rate, z)
        store6(first, i, 0, s)
        store6(second, i, 0, h)


@shared
def store_ad(work: Array, row: int, x: Twist) -> None:
    """ad x."""
    store9(work, row, 0, (0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0))
    store9(work, row, 9, (0.0, -x[5], x[4], x[5], 0.0, -x[3], -x[4], x[3], 0.0))


@shared
def store_quadratic(work: Array, row: int, scale: float, first: Pair, second: Pair) -> None:
    """scale (1 + first z + second z^2) of Z and SQUARE, with coefficients (a, b) for a + e b."""
    for i in range(9):
        z, square = work[Z, i], work[SQUARE, i]
        dual = first[0] * work[Z, 9 + i] + second[0] * work[SQUARE, 9 + i]
        work[row, i] = scale * (first[0] * z + second[0] * square)
        work[row, 9 + i] = scale * (dual + first[1] * z + second[1] * square)
    add_identity(work, row, scale)


@shared
def add_identity(work: Array, row: int, scale: float) -> None:
    for i in range(3):
        work[row, 4 * i] += scale


@shared
def store_product(work: Array, a: int, b: int, row: int) -> None:
    """(X, Y) (X', Y') = (X X', X Y' + Y X'); row may be a or b."""
    x, y, into = load9(work, a, 0), load9(work, a, 9), load9(work, b, 0)
    store9(work, row, 0, multiply(x, into))
    p, q = multiply(x, load9(work, b, 9)), multiply(y, into)
    store9(work, row, 9, (
        p[0] + q[0], p[1] + q[1], p[2] + q[2], p[3] + q[3], p[4] + q[4],
        p[5] + q[5], p[6] + q[6], p[7] + q[7], p[8] + q[8],
    ))  # fmt: skip


@shared
def store_columns(work: Array, row: int, rows: Array, first: int) -> None:
    """[[X, 0], [Y, X]] as six columns from `first` on."""
    for i in range(3):
        for j in range(3):
            x = work[row, 3 * i + j]
            rows[i, first + j], rows[3 + i, first + 3 + j], rows[i, first + 3 + j] = x, x, 0.0
            rows[3 + i, first + j] = work[row, 9 + 3 * i + j]


@shared
def store_residual(rows: Array, x: Twist) -> None:
    last = rows.shape[1] - 1
    rows[0, last], rows[1, last], rows[2, last] = x[0], x[1], x[2]
    rows[3, last], rows[4, last], rows[5, last] = x[3], x[4], x[5]


@shared
def add_squares(rows: Array, weight: float, factor: Array, total: Array, into: int) -> None:
    """Add weight (F rows)^T F rows to the lower triangle of a matrix, F upper triangular; overwrites rows."""
    width = rows.shape[1]
    for i in range(6):
        for c in range(width):
            x = factor[i, i] * rows[i, c]
            for k in range(i + 1, 6):
                x += factor[i, k] * rows[k, c]
            rows[i, c] = x
    for i in range(6):
        for c in range(width):
            x = weight * rows[i, c]
            if x != 0.0:
                for d in range(c + 1):
                    total[into, c, d] += x * rows[i, d]


@shared
def store_exponential(work: Array, twists: Array, row: int, phi: float) -> None:
    """Ad(exp(z phi))^-1 and J_r(z phi) phi, the body twist by which exp(z phi) moves per dz."""
    w, v = part_of(twists, row, phi)
    square, inner = dot3(w, w), dot3(w, v)
    beta, gamma, alpha_rate, beta_rate, gamma_rate = exp_coefficients(square)
    store_ad(work, Z, w + v)
    store_product(work, Z, Z, SQUARE)
    store_quadratic(work, BACK, 1.0, (gamma * square - 1.0, -alpha_rate * inner), (beta, beta_rate * inner))
    store_quadratic(work, TURN, phi, (-beta, -beta_rate * inner), (gamma, gamma_rate * inner))


@entry
def add_pose_squares(
    twists: Array, index: Array, phi: Array, residuals: Array, weights: Array, span: Array, system: System
) -> None:
    """Add the weighted squares of the residuals (n, 6), linearized, to those of their spans.

    Changes are by the twist of the first frame that acts, then by the dz of the others; the last column is the
    residual. The residual's change is J_l^-1 times the body twist of G.
    """
    total, factor, rows, work = system
    count = phi.shape[1]
    for i in range(len(residuals)):
        r = load6(residuals, i, 0)
        zeta, rate = inverse_coefficients(dot3(r[:3], r[:3]))
        store_ad(work, Z, r)
        store_product(work, Z, Z, SQUARE)
        store_quadratic(work, TAIL, 1.0, (-0.5, 0.0), (zeta, rate * dot3(r[:3], r[3:])))
        for k in range(count - 1, -1, -1):
            store_exponential(work, twists, index[i, k + 1], phi[i, k])
            store_product(work, TAIL, TURN, MOVED)
            store_columns(work, MOVED, rows, 6 * k + 6)
            store_product(work, TAIL, BACK, TAIL)
        store_columns(work, TAIL, rows, 0)
        store_residual(rows, r)
        add_squares(rows, weights[i], factor, total, span[i])
