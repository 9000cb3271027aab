"""Errors of target frames on bodies, and their derivatives by the coordinates."""

from .. import layout as at
from ..algebra.access import load3, load9, load_twist, store3
from ..algebra.pose_error import double_cross, inverse_coefficients, rotation_log
from ..algebra.spatial import multiply, rotate
from ..algebra.vectors import Array, Rotation, Vector, add3
from ..compiler.jit import shared
from ..dynamics.jacobian import body_frame
from ..joints.kinematics import at_point
from . import layout as search


@shared
def target_frame(body_float: Array, targets: Array, t: int, work: Array) -> tuple[Rotation, Vector]:
    """World axes and origin of a target's frame, from its tree's reference point."""
    r, p = body_frame(body_float, int(targets[t, search.TARGET_BODY]), work)
    p = add3(p, rotate(r, load3(targets, t, search.TARGET_FRAME + 9)))
    return multiply(r, load9(targets, t, search.TARGET_FRAME)), p


@shared
def target_errors(arrays: Array, targets: Array, work: Array, errors: Array) -> float:
    """Weighted errors at each target, after `kinematics`; returns half the weighted sum of squares."""
    body_int, body_float, _, _, _ = arrays
    cost = 0.0
    for t in range(targets.shape[0]):
        r, p = target_frame(body_float, targets, t, work)
        reference = load3(work, body_int[int(targets[t, search.TARGET_BODY]), at.ROOT], at.REFERENCE)
        turn = (0.0, 0.0, 0.0)
        if targets[t, search.TARGET_ROTATION] > 0.0:
            back = (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8])
            turn = rotation_log(multiply(load9(targets, t, search.TARGET_GOAL), back))
        shift = (0.0, 0.0, 0.0)
        if targets[t, search.TARGET_POSITION] > 0.0:
            goal = load3(targets, t, search.TARGET_GOAL + 9)
            shift = (
                goal[0] - reference[0] - p[0],
                goal[1] - reference[1] - p[1],
                goal[2] - reference[2] - p[2],
            )
        store3(errors, t, 0, turn)
        store3(errors, t, 3, shift)
        for j in range(3):
            a = targets[t, search.TARGET_ROTATION] * errors[t, j]
            b = targets[t, search.TARGET_POSITION] * errors[t, 3 + j]
            cost += 0.5 * (a * a + b * b)
    return cost


@shared
def normal_equations(
    arrays: Array,
    targets: Array,
    errors: Array,
    work: Array,
    dof: Array,
    normal: Array,
    vectors: Array,
    columns: Array,
    indices: Array,
) -> None:
    """J^T J and J^T e of all targets, along the chains of their bodies; exact also for large rotations."""
    body_int, body_float, _, _, _ = arrays
    nv = columns.shape[0]
    for d in range(nv):
        vectors[search.GRADIENT, d] = 0.0
        for e in range(nv):
            normal[d, e] = 0.0
    for t in range(targets.shape[0]):
        _, p = target_frame(body_float, targets, t, work)
        turn = load3(errors, t, 0)
        zeta, _ = inverse_coefficients(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
        by_turn, by_shift = targets[t, search.TARGET_ROTATION], targets[t, search.TARGET_POSITION]
        count = 0
        i = int(targets[t, search.TARGET_BODY])
        while i >= 0:
            for d in range(body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]):
                s = at_point(load_twist(dof, d, at.SUBSPACE), p)
                w = double_cross(0.5, zeta, turn, (s[0], s[1], s[2]))
                indices[search.INVOLVED, count] = d
                count += 1
                pull = 0.0
                for j in range(3):
                    columns[d, j] = by_turn * w[j]
                    columns[d, 3 + j] = by_shift * s[3 + j]
                    pull += columns[d, j] * by_turn * errors[t, j]
                    pull += columns[d, 3 + j] * by_shift * errors[t, 3 + j]
                vectors[search.GRADIENT, d] += pull
            i = body_int[i, at.PARENT]
        for a in range(count):
            d = indices[search.INVOLVED, a]
            for b in range(a + 1):
                e = indices[search.INVOLVED, b]
                entry = 0.0
                for j in range(6):
                    entry += columns[d, j] * columns[e, j]
                normal[d, e] += entry
                if d != e:
                    normal[e, d] += entry


@shared
def goals_met(targets: Array, errors: Array, near: float, straight: float) -> bool:
    """Whether every target is within `near` [m] and `straight` [rad]; zero weights are ignored."""
    for t in range(targets.shape[0]):
        turn = load3(errors, t, 0)
        shift = load3(errors, t, 3)
        if not turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2 <= straight * straight:
            return False
        if not shift[0] ** 2 + shift[1] ** 2 + shift[2] ** 2 <= near * near:
            return False
    return True
