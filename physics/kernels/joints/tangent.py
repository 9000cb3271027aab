"""Exact derivatives of a joint's motion by each of its coordinates: forward mode through its factors, in world axes.

A row of the tangents' workspace belongs to a coordinate e. After the factors so far it has the displacement of the body
(SHIFT, finally column e of the motion subspace), the derivatives of its velocity and of its velocity-product
acceleration with the parent's motion fixed (RATE, BIAS_RATE), and the derivatives of all columns of the joint (from
`columns_of` on). A factor exp(g phi) with the world twist w moves with the displacement, dw = ad_shift w, and adds

    d(phi' w),   d(phi'' w) + d(phi' ad_V w),   d(dphi/dq_j w)

where `factors` adds phi' w, phi'' w + phi' ad_V w and dphi/dq_j w. So a factor needs only the first three derivatives
of its phi (SHARE; HESSIAN and its product with the velocities, SLOPE; the third contracted twice with them, CURVE).
"""

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import load6, store6
from ..algebra.spatial import bracket
from ..algebra.vectors import Array, Rotation, Twist, Vector, cross, scale_add6
from ..compiler.jit import inline, shared

Moved: TypeAlias = tuple[Rotation, Vector, Twist]  # pose and velocity
Own: TypeAlias = tuple[int, int, int]  # first coordinate of the joint, their number, the factor's coordinate

SHIFT, RATE, BIAS_RATE, SHARE, SLOPE, CURVE = 0, 6, 12, 18, 19, 20
# of `derivatives`: relative derivatives of velocity and acceleration, and of the force on the bodies beyond, first by
# the coordinate (MOVED, PUSHED, TAKEN), then by its velocity (whose MOVED is the column itself); the column times the
# composite inertia, and times the composite velocity-dependent matrix
MOVED, PUSHED, TAKEN, PUSHED_FAST, TAKEN_FAST, CARRIED, DRAGGED = 21, 27, 33, 39, 45, 51, 57
HESSIAN = 60  # one for each coordinate of the largest joint, then six each for the derivatives of the columns

# scratch after the tangents: bases of a surface with three derivatives, and the sums over its control values
BASES_WIDTH = 80
SUMS = 3
SUM_ROWS = 13


@inline
def wrench_turned(s: Twist, f: Twist) -> Twist:
    """Change of a wrench that moves with the displacement s."""
    n = cross((s[0], s[1], s[2]), (f[0], f[1], f[2]))
    m = cross((s[3], s[4], s[5]), (f[3], f[4], f[5]))
    u = cross((s[0], s[1], s[2]), (f[3], f[4], f[5]))
    return n[0] + m[0], n[1] + m[1], n[2] + m[2], u[0], u[1], u[2]


@inline
def is_screw(body_int: Array, block_int: Array, i: int) -> bool:
    """Whether a body's joint is a single screw, whose column only moves with its parent: it needs no tangent."""
    return bool(
        body_int[i, at.BLOCK_COUNT] == 1 and block_int[body_int[i, at.BLOCK_START], at.KIND] == at.SCREW
    )


@shared
def columns_of(tangent: Array) -> int:
    """Offset of the derivatives of columns in a row."""
    return HESSIAN + int((tangent.shape[1] - HESSIAN) // 7)


@shared
def clear_factor(tangent: Array, first: int, count: int) -> None:
    """Clear the shares of a factor, which depends on none of the joint's coordinates."""
    for e in range(first, first + count):
        tangent[e, SHARE] = 0.0
        tangent[e, SLOPE] = 0.0
        tangent[e, CURVE] = 0.0
        for j in range(count):
            tangent[e, HESSIAN + j] = 0.0


@shared
def clear_joint(tangent: Array, first: int, count: int) -> None:
    """Set everything to zero before the first factor."""
    for e in range(first, first + count):
        for k in range(MOVED):
            tangent[e, k] = 0.0
        for k in range(HESSIAN, tangent.shape[1]):
            tangent[e, k] = 0.0


@shared
def follow_one(
    tangent: Array, first: int, count: int, d: int, slopes: tuple[float, float, float], qd: float
) -> None:
    """Set the shares of a factor that depends on coordinate d alone; slopes are its first three derivatives."""
    rate, curve, third = slopes
    clear_factor(tangent, first, count)
    tangent[d, SHARE] = rate
    tangent[d, HESSIAN + d - first] = curve
    tangent[d, SLOPE] = curve * qd
    tangent[d, CURVE] = third * qd * qd


@shared
def carry_factor(
    tangent: Array, first: int, count: int, v: Twist, w: Twist, rate: float, curvature: float
) -> None:
    """Carry all directions through a factor with the world twist w, its phi' and the part of phi'' without
    accelerations; v is the velocity before it.
    """
    columns = columns_of(tangent)
    across = bracket(v, w)
    for e in range(first, first + count):
        shift = load6(tangent, e, SHIFT)
        moved = load6(tangent, e, RATE)
        bias = load6(tangent, e, BIAS_RATE)
        slope = tangent[e, SLOPE]
        turned = bracket(shift, w)
        bias = scale_add6(scale_add6(bias, tangent[e, CURVE], w), curvature, turned)
        bias = scale_add6(scale_add6(bias, slope, across), rate, bracket(moved, w))
        store6(tangent, e, BIAS_RATE, scale_add6(bias, rate, bracket(v, turned)))
        store6(tangent, e, RATE, scale_add6(scale_add6(moved, slope, w), rate, turned))
        for j in range(count):
            column = load6(tangent, e, columns + 6 * j)
            column = scale_add6(column, tangent[e, HESSIAN + j], w)
            store6(tangent, e, columns + 6 * j, scale_add6(column, tangent[first + j, SHARE], turned))
        store6(tangent, e, SHIFT, scale_add6(shift, tangent[e, SHARE], w))
