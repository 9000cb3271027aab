"""Coordinates at which bodies meet targets: damped least squares (Levenberg-Marquardt) within limits."""

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import entry, shared
from ..joints.kinematics import kinematics
from ..stepping.rollout import change_charts
from . import layout as search
from .bounded_step import bounded_step, bring_inside, expected_decrease, read_bends, read_limits
from .constrained import add_constraints, constraint_cost
from .targets import goals_met, normal_equations, target_errors

FIRST_DAMPING, LEAST_DAMPING = 1e-3, 1e-9
# least damping of a coordinate that moves the targets little, as a share of the mean
LEAST_SCALE = 1e-3
# relative decrease of the cost below which the search ends: in the linear model without damping, and of the step itself
NO_DECREASE, NOTHING = 1e-13, 1e-15
# share of the model's decrease that a step must achieve
WORTHWHILE = 1e-4
# tolerance [rad] of limits of several coordinates
SLACK = 1e-9


@shared
def update_scale(normal: Array, vectors: Array) -> None:
    """Marquardt's scale of the damping: the largest diagonal so far, so that units do not matter."""
    nv = normal.shape[0]
    mean = 0.0
    for d in range(nv):
        mean += normal[d, d] / nv
    for d in range(nv):
        vectors[search.SCALE, d] = max(vectors[search.SCALE, d], normal[d, d] + LEAST_SCALE * mean)


@shared
def accept(
    arrays: Array, chart_limit: float, q: Array, trial_errors: Array, errors: Array, spaces: Array
) -> None:
    """Take the trial point; recompute the workspace at q if a rotation vector has changed its chart."""
    vectors, indices, work, dof, flags = spaces
    for d in range(q.shape[0]):
        q[d] = vectors[search.TRIAL, d]
        vectors[search.STILL, d] = 0.0
    for t in range(errors.shape[0]):
        for j in range(errors.shape[1]):
            errors[t, j] = trial_errors[t, j]
    # velocities are zeros and stay so; chart changes are not counted
    if (
        change_charts(
            arrays,
            dof,
            chart_limit,
            0.0,
            q,
            vectors[search.STILL],
            vectors[search.STEP],
            indices[search.CHARTS],
        )
        > 0
    ):
        kinematics(arrays, q, vectors[search.STILL], work, dof, flags)


@shared
def forget(vectors: Array, indices: Array, limits: Array) -> None:
    """Clear the workspace of a previous search."""
    for d in range(vectors.shape[1]):
        vectors[search.STILL, d] = 0.0
        vectors[search.SCALE, d] = 0.0
        indices[search.BINDING, d] = 0
    for k in range(limits.shape[0]):
        limits[k, search.ACTS] = 0.0
        limits[k, search.PUSH] = 0.0


@entry
def inverse_kinematics(
    arrays: Array,
    targets: Array,
    tied: Array,
    bounds: Array,
    settings: Array,
    q: Array,
    errors: Array,
    report: Array,
    solver: Array,
    spaces: Array,
) -> None:
    """Move q in place to the nearest least-squares solution; errors and report describe it.

    solver is (normal, system, factor, columns, vectors, trial_errors, limits, indices); spaces (work, dof, flags).
    tied: None, or constraints (see `constrained`), whose rows in the system are those at q afterwards.
    """
    normal, system, factor, columns, vectors, trial_errors, limits, indices = solver
    data, (work, dof, flags) = arrays[at.MODEL_DATA], spaces
    forget(vectors, indices, limits)
    violation = bring_inside(data, bounds, q, limits)
    kinematics(arrays, q, vectors[search.STILL], work, dof, flags)
    cost = target_errors(arrays, targets, work, errors)
    if tied is not None:
        cost += constraint_cost(arrays, tied, q, vectors, work, dof)
    damping, growth, fresh = FIRST_DAMPING, 2.0, True
    report[search.OUTCOME], report[search.STEPS] = search.UNFINISHED, 0.0
    for step in range(int(settings[search.MOST_STEPS]) + 1):
        report[search.STEPS] = step
        if fresh:
            met = goals_met(targets, errors, settings[search.NEAR], settings[search.STRAIGHT])
            if tied is None and met:
                report[search.OUTCOME] = search.MET
                break
            normal_equations(arrays, targets, errors, work, dof, normal, vectors, columns, indices)
            update_scale(normal, vectors)
            if tied is not None and add_constraints(arrays, tied, q, normal, vectors, work, dof) and met:
                report[search.OUTCOME] = search.MET
                break
            read_limits(data, q, limits)
            read_bends(data, q, limits)
        bounded_step(data, damping, q, bounds, normal, system, factor, vectors, indices, limits)
        hoped = expected_decrease(normal, vectors)
        level = not ((1.0 + damping) * hoped > NO_DECREASE * cost and hoped > NOTHING * cost)  # or not finite
        if level or flags[at.STATUS] != at.OK:
            report[search.OUTCOME] = search.STUCK
        if report[search.OUTCOME] == search.STUCK or step == settings[search.MOST_STEPS]:
            break
        for d in range(q.shape[0]):
            vectors[search.TRIAL, d] = q[d] + vectors[search.STEP, d]
        beyond = bring_inside(data, bounds, vectors[search.TRIAL], limits)
        read_limits(data, q, limits)
        for d in range(q.shape[0]):
            vectors[search.STEP, d] = vectors[search.TRIAL, d] - q[d]
        kinematics(arrays, vectors[search.TRIAL], vectors[search.STILL], work, dof, flags)
        there = target_errors(arrays, targets, work, trial_errors)
        if tied is not None:
            there += constraint_cost(arrays, tied, vectors[search.TRIAL], vectors, work, dof)
        hoped = expected_decrease(normal, vectors)
        fresh = there < cost - WORTHWHILE * max(hoped, 0.0) and beyond >= min(violation, -SLACK)
        if fresh:
            gain = (cost - there) / hoped if hoped > 0.0 else 1.0
            damping *= max(1.0 / 3.0, 1.0 - (2.0 * min(gain, 1.0) - 1.0) ** 3)
            damping, growth = max(damping, LEAST_DAMPING), 2.0
            cost, violation = there, beyond
            accept(
                arrays, settings[search.CHART], q, trial_errors, errors, (vectors, indices, work, dof, flags)
            )
        else:
            damping *= growth
            growth = min(2.0 * growth, 64.0)
    report[search.COST] = cost
    if tied is not None:
        kinematics(arrays, q, vectors[search.STILL], work, dof, flags)
        constraint_cost(arrays, tied, q, vectors, work, dof)
