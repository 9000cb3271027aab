"""Feedback laws backwards: derivatives by their outputs become those by the state at a step's beginning.

A law's output u = gain (s - level) g is constant over a step, so the derivative of a loss by u is the sum of those by
its input in all stages. Where a body is displaced by a twist eta, and its velocity twist changes by nu, both about the
tree's fixed reference point, its point at the lever l moves by x = eta_v + eta_w x l, and the velocity of that point
changes by nu_v + nu_w x l + w x x, with the body's spin w.
"""

from __future__ import annotations

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import load3, load6, load_rotation, load_twist
from ..algebra.spatial import bracket, rotate, transposed
from ..algebra.vectors import NONE, STILL, Array, Twist, Vector, cross, dot3, dot6, scale_add3, scale_add6
from ..compiler.jit import for_feedback, shared
from ..dynamics.derivatives import motion_changes
from ..forces.elements import element_tangent, element_wrench
from ..forces.ground import ground_plane
from ..forces.points import carried, twist_of, wrench_at
from ..joints.tangent import MOVED
from ..stepping import feedback_layout as law
from ..stepping.bundles import Spaces, Tables
from ..stepping.feedback import is_ground, load_on, measured, motion_of, signal_of, weight_of
from ..stepping.rollout import copy, interpolate
from . import layout as adjoint

# derivatives by q and q' (see `layout`), changes of the velocities by coordinates (see `joints.tangent`), spaces
Pull: TypeAlias = tuple[Array, Array, Spaces]


@for_feedback
def pull_feedback(
    tables: Tables,
    arrays: Array,
    times: tuple[float, float],
    by_tau: Array,
    begun: tuple[Array, Array],
    lent: Array,
    bodies: Array,
    spaces: Spaces,
) -> None:
    """Add to BY_Q and BY_QD what a step's laws give, and to the sums by gains and levels (laws, 2) and by bodies.

    times: the ends of the step's first and last stage. by_tau (stages, nv + inputs): derivatives by forces and inputs
    in its stages; those by inputs that were kept in their range become 0. begun: the state at its beginning.
    """
    if len(tables) <= at.FEEDBACK:
        return
    (laws, _, _), sums, work = tables[at.FEEDBACK], tables[at.FEEDBACK_SUMS], spaces[at.WORK]
    (_, _, _, vectors, tangents, _), (q, qd) = lent, begun
    forget_bounded(tables, times, by_tau, vectors[adjoint.GIVEN_FORCE])
    motion_changes(arrays, q, qd, tangents[3][0], vectors[adjoint.GIVEN_FORCE], tangents, spaces)
    pull = vectors, tangents[0], spaces
    for k in range(laws.shape[0]):
        push = 0.0
        for stage in range(by_tau.shape[0]):
            push += by_tau[stage, int(laws[k, law.OF])]
        signal, touch = signal_of(arrays, laws, k, q, qd, work)
        gain, off, kind = laws[k, law.GAIN], signal - laws[k, law.LEVEL], int(laws[k, law.SIGNAL])
        sums[k, 0] += push * off * touch
        sums[k, 1] -= push * gain * touch
        if laws[k, law.GATE] >= 0.0:
            pull_touch(arrays, laws, k, push * gain * (1.0 if kind == law.TOUCH_SIGNAL else off), pull)
        if kind == law.COORDINATE_SIGNAL:
            way = adjoint.BY_QD if laws[k, law.RATE] != 0.0 else adjoint.BY_Q
            vectors[way, int(laws[k, law.COORDINATE])] += push * gain * touch
        elif kind != law.TOUCH_SIGNAL:
            pull_measured(arrays, laws, k, push * gain * touch, bodies, pull)


@shared
def forget_bounded(tables: Tables, times: tuple[float, float], by_tau: Array, given: Array) -> None:
    """Set derivatives by inputs that a step's stages kept in their range to 0."""
    _, constant, (least, most) = tables[at.FEEDBACK]
    for stage in range(by_tau.shape[0]):
        copy(tables[at.VALUES][0], given)
        if tables[at.TIMES].shape[0] > 1:
            t = times[1] if stage == by_tau.shape[0] - 1 else times[0]
            interpolate(tables[at.TIMES], tables[at.VALUES], t, given)
        for d in range(constant.shape[0]):
            if given[d] + constant[d] < least[d] or given[d] + constant[d] > most[d]:
                by_tau[stage, d] = 0.0


@shared
def velocity_change(e: int, body: int, pull: Pull) -> tuple[Twist, Twist]:
    """Displacement of a body by a coordinate that moves it, and the change of its velocity by that."""
    _, tangent, (work, dof, _) = pull
    s = load_twist(dof, e, at.SUBSPACE)
    return s, scale_add6(load6(tangent, e, MOVED), 1.0, bracket(s, twist_of(work, body)))


@shared
def pull_point(arrays: Array, body: int, lever: Vector, by: Vector, rate: bool, pull: Pull) -> Vector:
    """Derivatives by a point's place, or by its velocity; returns the derivative by a shift of it in the body."""
    (vectors, _, (work, _, _)), body_int, i = pull, arrays[at.BODY_INT], body
    v, shift = twist_of(work, body), by
    if rate:
        shift = cross(by, (v[0], v[1], v[2]))
    by_eta, by_nu = wrench_at(lever, NONE, shift), wrench_at(lever, NONE, by)
    while i >= 0:
        first = body_int[i, at.DOF_START]
        for e in range(first, first + body_int[i, at.DOF_COUNT]):
            s, change = velocity_change(e, body, pull)
            vectors[adjoint.BY_Q, e] += dot6(by_eta, s) + (dot6(by_nu, change) if rate else 0.0)
            vectors[adjoint.BY_QD, e] += dot6(by_nu, s) if rate else 0.0
        i = body_int[i, at.PARENT]
    return shift


@shared
def pull_measured(arrays: Array, laws: Array, k: int, push: float, bodies: Array, pull: Pull) -> None:
    """The signal of law k between two points, or its rate."""
    work, rate, other = pull[2][at.WORK], laws[k, law.RATE] != 0.0, int(laws[k, law.OTHER])
    by, lever = (
        scale_add3(NONE, push, load3(laws, k, law.DIRECTION)),
        carried(work, other, load3(laws, k, law.OTHER_POINT)),
    )
    pull_point(arrays, other, lever, scale_add3(NONE, -1.0, by), rate, pull)
    center, _ = measured(arrays, laws, k, work)
    for i in range(bodies.shape[0]):
        weight, lever = weight_of(arrays, laws, k, i, work)
        if weight == 0.0:
            continue
        shift = pull_point(arrays, i, lever, scale_add3(NONE, weight, by), rate, pull)
        if int(laws[k, law.SIGNAL]) == law.CENTER_SIGNAL:
            off = scale_add3(motion_of(arrays, laws, k, i, lever, work), -1.0, center)
            bodies[i, adjoint.BY_MASS] += dot3(by, off) / laws[k, law.WHOLE]
            shift = rotate(transposed(load_rotation(work, i)), shift)
            for j in range(3):
                bodies[i, adjoint.BY_COM + j] += shift[j]


@shared
def pull_touch(arrays: Array, laws: Array, k: int, push: float, pull: Pull) -> None:
    """The touch of law k, by the exact tangents of the ground under its gate."""
    body_int, data, gate = arrays[at.BODY_INT], arrays[at.MODEL_DATA], int(laws[k, law.GATE])
    x = load_on(arrays, gate, pull[2][at.WORK]) / laws[k, law.LOAD]
    if not (x > 0.0 and x < 1.0):
        return
    slope, row = 6.0 * push * x * (1.0 - x) / laws[k, law.LOAD], int(data[at.ELEMENT_ROWS])
    for _ in range(int(data[at.ELEMENT_COUNT])):
        if is_ground(data, row, gate):
            pull_load(body_int, data, row, gate, True, slope, pull)
            pull_load(body_int, data, row, int(data[row + at.ELEMENT_OTHER]), False, slope, pull)
        row += int(data[row + at.ELEMENT_SIZE])


@shared
def pull_load(body_int: Array, data: Array, row: int, end: int, own: bool, slope: float, pull: Pull) -> None:
    """The force of the ground at row along its normal, by the motion of its body, or of the one with the plane."""
    vectors, _, (work, _, _) = pull
    wrench, _ = element_wrench(body_int, data, data, 0, row, work)
    normal, i = ground_plane(body_int, data, row, work)[1], end
    while i >= 0:
        first = body_int[i, at.DOF_START]
        for e in range(first, first + body_int[i, at.DOF_COUNT]):
            s, rate = velocity_change(e, end, pull)
            for way in range(2):
                eta, nu = (s, rate) if way == 0 else (STILL, s)
                moves = (eta, nu, STILL, STILL) if own else (STILL, STILL, eta, nu)
                change, _ = element_tangent(body_int, data, data, 0, row, work, moves)
                grown = dot3(normal, (change[3], change[4], change[5]))
                if not own:
                    turned = cross((eta[0], eta[1], eta[2]), normal)
                    grown += dot3(turned, (wrench[3], wrench[4], wrench[5]))
                vectors[adjoint.BY_Q if way == 0 else adjoint.BY_QD, e] += slope * grown
        i = body_int[i, at.PARENT]
