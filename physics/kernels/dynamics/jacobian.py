"""Jacobian of one body, and its acceleration without accelerations of coordinates."""

from .. import layout as at
from ..algebra.access import load3, load9, load_rotation, load_twist
from ..algebra.spatial import multiply, rotate, transposed
from ..algebra.vectors import Array, Rotation, Twist, Vector, add3
from ..compiler.jit import entry, inline
from ..joints.kinematics import at_point, kinematics


@inline
def in_frame(r: Rotation, p: Vector, twist: Twist) -> Twist:
    """A twist or acceleration in world axes, transformed into the frame (r, p)."""
    here = at_point(twist, p)
    back = transposed(r)
    w = rotate(back, (here[0], here[1], here[2]))
    v = rotate(back, (here[3], here[4], here[5]))
    return w[0], w[1], w[2], v[0], v[1], v[2]


@inline
def body_frame(body_float: Array, i: int, work: Array) -> tuple[Rotation, Vector]:
    """World axes and origin of body i's own frame, from the tree's reference point."""
    r = load_rotation(work, i)
    p = add3(load3(work, i, at.ORIGIN), rotate(r, load3(body_float, i, at.BODY_FRAME + 9)))
    return multiply(r, load9(body_float, i, at.BODY_FRAME)), p


@entry
def body_jacobian(
    arrays: Array,
    q: Array,
    qd: Array,
    body: int,
    jacobian: Array,
    bias: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """J (6, nv) with body twist = J q', and J' q' (6,), both in the body's frame; jacobian comes in as zeros.

    The rate of the twist in the body's frame is the transformed rate in world axes: the additional term is ad of the
    twist with itself, which is zero.
    """
    body_int, body_float, _, _, _ = arrays
    kinematics(arrays, q, qd, work, dof, flags)
    r, p = body_frame(body_float, body, work)
    i = body
    while i >= 0:
        for d in range(body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]):
            column = in_frame(r, p, load_twist(dof, d, at.SUBSPACE))
            for k in range(6):
                jacobian[k, d] = column[k]
        i = body_int[i, at.PARENT]
    total = in_frame(r, p, load_twist(work, body, at.BIAS))
    for k in range(6):
        bias[k] = total[k]
