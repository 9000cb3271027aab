"""Maximal coordinates in O(n): motions and wrenches of all bodies in their own frames, and products with J_mr.

Wang 2022, sec. 4.2 and 4.3: Algorithms 1 and 2 without filling a matrix.
"""

from .. import layout as at
from ..algebra.access import load3, load6, load9, load_twist, store3, store6, store9
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import STILL, Array, Rotation, Twist, Vector, add3, cross, dot6, scale_add6
from ..compiler.jit import entry, inline
from ..forces.elements import element_forces
from ..forces.limits import limit_forces
from ..forces.passive import passive_force
from ..joints.kinematics import outward
from ..muscles.force import muscle_loads
from .jacobian import body_frame, in_frame


@inline
def wrench_in_frame(r: Rotation, p: Vector, wrench: Twist) -> Twist:
    """A wrench about the origin, in world axes, transformed into the frame (r, p)."""
    force = (wrench[3], wrench[4], wrench[5])
    lever = cross(p, force)
    m = rotate(transposed(r), (wrench[0] - lever[0], wrench[1] - lever[1], wrench[2] - lever[2]))
    f = rotate(transposed(r), force)
    return m[0], m[1], m[2], f[0], f[1], f[2]


@inline
def wrench_from_frame(r: Rotation, p: Vector, wrench: Twist) -> Twist:
    """A wrench in the frame (r, p), transformed into world axes about the origin."""
    f = rotate(r, (wrench[3], wrench[4], wrench[5]))
    m = add3(rotate(r, (wrench[0], wrench[1], wrench[2])), cross(p, f))
    return m[0], m[1], m[2], f[0], f[1], f[2]


@entry
def motions(
    arrays: Array,
    q: Array,
    qd: Array,
    tau: Array,
    frames: Array,
    motion: Array,
    joint_forces: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """All quantities that depend only on state and inputs; each body's row is in its own frame.

    frames (nb, 12): axes and origin of each body's frame from its tree's reference point. motion: (nb, 6) each, twists,
    J_mr' q', and the wrenches of gyroscopic forces and force elements (without gravity). joint_forces (nv,): springs,
    dampers and limits of the coordinates. Inputs follow the forces in tau (nv + inputs,).
    """
    body_int, body_float, _, data, dof_float = arrays
    twists, biases, wrenches = motion
    outward(arrays, q, qd, work, dof, flags)
    if data[at.LIMIT_COUNT] > 0.0:
        limit_forces(data, q, qd, 0.0, dof)
    if data[at.ELEMENT_COUNT] > 0.0:
        element_forces(body_int, data, tau, dof_float.shape[0], work)
    if data[at.MUSCLE_COUNT] > 0.0:
        muscle_loads(arrays, q, qd, qd, tau, False, False, work, dof)
    for i in range(body_int.shape[0]):
        r, p = body_frame(body_float, i, work)
        store9(frames, i, 0, r)
        store3(frames, i, 9, p)
        bias = load_twist(work, i, at.BIAS)
        store6(twists, i, 0, in_frame(r, p, load_twist(work, i, at.VELOCITY)))
        store6(biases, i, 0, in_frame(r, p, bias))
        taken = scale_add6(STILL, -1.0, load_twist(work, i, at.FORCE))
        store6(wrenches, i, 0, wrench_in_frame(r, p, taken))
    for d in range(q.shape[0]):
        joint_forces[d] = passive_force(dof_float, data, tau, d, q[d], qd[d]) + dof[d, at.EXTRA]


@entry
def spread(body_int: Array, frames: Array, dof: Array, x: Array, total: Array, result: Array) -> None:
    """result (nb, 6) = J_mr x, parents first; total (nb, 6) is scratch."""
    for i in range(body_int.shape[0]):
        v = STILL
        if body_int[i, at.PARENT] >= 0:
            v = load6(total, body_int[i, at.PARENT], 0)
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            v = scale_add6(v, x[d], load_twist(dof, d, at.SUBSPACE))
        store6(total, i, 0, v)
        store6(result, i, 0, in_frame(load9(frames, i, 0), load3(frames, i, 9), v))


@entry
def gather(
    body_int: Array, frames: Array, dof: Array, wrenches: Array, total: Array, result: Array, carried: Array
) -> None:
    """result (nv,) = J_mr^T w, tips first; carried (nb, 6): the wrench of w through each joint; total is scratch.

    total (nb, 6) comes in as zeros.
    """
    for i in range(body_int.shape[0] - 1, -1, -1):
        r, p = load9(frames, i, 0), load3(frames, i, 9)
        w = scale_add6(load6(total, i, 0), 1.0, wrench_from_frame(r, p, load6(wrenches, i, 0)))
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            result[d] = dot6(load_twist(dof, d, at.SUBSPACE), w)
        store6(carried, i, 0, wrench_in_frame(r, p, w))
        parent = body_int[i, at.PARENT]
        if parent >= 0:
            store6(total, parent, 0, scale_add6(load6(total, parent, 0), 1.0, w))
