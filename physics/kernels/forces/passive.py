"""Passive forces of a coordinate: spring, damper, one-sided limit springs, laws and controller.

A coordinate with more than a linear spring and damper has a record of laws in data: the energy U of an elastic law,
whose force is -U', the force of a damper by velocity, a damping coefficient by the coordinate, and a controller, which
tracks a target of the coordinate and one of its velocity, both inputs, with a largest force.
"""

from .. import layout as at
from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from ..joints.functions import evaluate_function


@inline
def passive_force(dof_float: Array, data: Array, tau: Array, d: int, q: float, qd: float) -> float:
    """Generalized force of coordinate d's spring, damper, limits, laws and controller; a limit never pulls.

    Inputs follow the generalized forces in tau (nv + inputs,).
    """
    return spring_force(dof_float, data, tau, d, q, qd) + limit_force(dof_float, d, q, qd)


@inline
def spring_force(dof_float: Array, data: Array, tau: Array, d: int, q: float, qd: float) -> float:
    """`passive_force` without limits."""
    force: float = -dof_float[d, at.STIFFNESS] * (q - dof_float[d, at.REST]) - dof_float[d, at.DAMPING] * qd
    if dof_float[d, at.LAW] > 0.0:
        force += law_force(data, int(dof_float[d, at.LAW]), tau, dof_float.shape[0], q, qd)[0]
    return force


@inline
def limit_force(dof_float: Array, d: int, q: float, qd: float) -> float:
    """Force of the limit that coordinate d has passed."""
    force = 0.0
    if q < dof_float[d, at.LOWER]:
        push = (
            dof_float[d, at.LIMIT_STIFFNESS] * (dof_float[d, at.LOWER] - q)
            - dof_float[d, at.LIMIT_DAMPING] * qd
        )
        force = max(push, 0.0)
    elif q > dof_float[d, at.UPPER]:
        push = (
            dof_float[d, at.LIMIT_STIFFNESS] * (q - dof_float[d, at.UPPER])
            + dof_float[d, at.LIMIT_DAMPING] * qd
        )
        force = -max(push, 0.0)
    return force


@inline
def limit_push(
    stiffness: float, damping: float, beyond: float, speed: float, ahead: float
) -> tuple[float, float]:
    """Force of a compliant limit at -g = beyond with dg/dt = speed, and its inertia along the gradient in a step of
    length ahead that is implicit in it.

    The spring and the damper of a limit that is passed, or will be, then act by the values at the step's end. So no
    limit is too stiff for a step, however small the inertias along a chain are, and entering one adds no energy.
    """
    then = beyond - ahead * speed
    if not max(beyond, then) > 0.0:
        return 0.0, 0.0
    push = stiffness * then - damping * speed
    return (push, ahead * (damping + ahead * stiffness)) if push > 0.0 else (0.0, 0.0)


@inline
def limit_ahead(dof_float: Array, d: int, q: float, qd: float, dt: float) -> tuple[float, float]:
    """Additions of an implicit step to coordinate d's `passive_force` for limits (`limit_push`), and to its inertia."""
    sense, beyond = -1.0, q - dof_float[d, at.UPPER]
    if min(q, q + dt * qd) < dof_float[d, at.LOWER]:
        sense, beyond = 1.0, dof_float[d, at.LOWER] - q
    stiffness, damping = dof_float[d, at.LIMIT_STIFFNESS], dof_float[d, at.LIMIT_DAMPING]
    now, _ = limit_push(stiffness, damping, beyond, sense * qd, 0.0)
    push, inertia = limit_push(stiffness, damping, beyond, sense * qd, dt)
    return sense * (push - now), inertia


@shared
def law_force(data: Array, law: int, tau: Array, nv: int, q: float, qd: float) -> Vector:
    """Force of the laws of a coordinate and its slopes by q and by qd."""
    force, by_q, by_qd = 0.0, 0.0, 0.0
    if data[law + at.LAW_ELASTIC] > 0.0:
        _, slope, curve = evaluate_function(data, law + int(data[law + at.LAW_ELASTIC]), q)
        force -= slope
        by_q -= curve
    if data[law + at.LAW_DAMPER] > 0.0:
        value, slope, _ = evaluate_function(data, law + int(data[law + at.LAW_DAMPER]), qd)
        force -= value
        by_qd -= slope
    if data[law + at.LAW_VISCOSITY] > 0.0:
        value, slope, _ = evaluate_function(data, law + int(data[law + at.LAW_VISCOSITY]), q)
        force -= value * qd
        by_q -= slope * qd
        by_qd -= value
    if data[law + at.LAW_TARGET] >= 0.0:
        wanted = control_force(data, law, tau, nv, q, qd)
        if abs(wanted) < data[law + at.LAW_MOST]:
            by_q -= data[law + at.LAW_GAIN]
            by_qd -= data[law + at.LAW_RATE_GAIN]
        force += wanted
    return force, by_q, by_qd


@inline
def control_force(data: Array, law: int, tau: Array, nv: int, q: float, qd: float) -> float:
    """Force of a coordinate's controller, clamped to its largest."""
    target, rate = tau[nv + int(data[law + at.LAW_TARGET])], tau[nv + int(data[law + at.LAW_TARGET_RATE])]
    wanted: float = data[law + at.LAW_GAIN] * (target - q) + data[law + at.LAW_RATE_GAIN] * (rate - qd)
    most: float = data[law + at.LAW_MOST]
    return min(max(wanted, -most), most)


@shared
def control_power(dof_float: Array, data: Array, tau: Array, ago: float, q: Array, qd: Array) -> float:
    """Power of all controllers in a step that ended at q. Targets in tau are `ago` [s] older than q: each is compared
    with the coordinate at the target's time.
    """
    nv, power = q.shape[0], 0.0
    for d in range(nv):
        law = int(dof_float[d, at.LAW])
        if law > 0 and data[law + at.LAW_TARGET] >= 0.0:
            power += control_force(data, law, tau, nv, q[d] - ago * qd[d], qd[d]) * qd[d]
    return power


@shared
def passive_slopes(
    dof_float: Array, data: Array, tau: Array, d: int, q: float, qd: float
) -> tuple[float, float]:
    """Slopes of `passive_force` by q and by qd."""
    by_q: float = -dof_float[d, at.STIFFNESS]
    by_qd: float = -dof_float[d, at.DAMPING]
    beyond, sense = q - dof_float[d, at.UPPER], 1.0
    if q < dof_float[d, at.LOWER]:
        beyond, sense = dof_float[d, at.LOWER] - q, -1.0
    if beyond > 0.0:
        push = dof_float[d, at.LIMIT_STIFFNESS] * beyond + sense * dof_float[d, at.LIMIT_DAMPING] * qd
        if push > 0.0:
            by_q -= dof_float[d, at.LIMIT_STIFFNESS]
            by_qd -= dof_float[d, at.LIMIT_DAMPING]
    if dof_float[d, at.LAW] > 0.0:
        _, more_by_q, more_by_qd = law_force(data, int(dof_float[d, at.LAW]), tau, dof_float.shape[0], q, qd)
        by_q += more_by_q
        by_qd += more_by_qd
    return by_q, by_qd


@inline
def passive_potential(dof_float: Array, data: Array, d: int, q: float) -> float:
    """Energy stored in coordinate d's springs and limits; a controller does work but stores none."""
    stretch = q - dof_float[d, at.REST]
    energy: float = 0.5 * dof_float[d, at.STIFFNESS] * stretch * stretch
    beyond = max(dof_float[d, at.LOWER] - q, 0.0) + max(q - dof_float[d, at.UPPER], 0.0)
    energy += 0.5 * dof_float[d, at.LIMIT_STIFFNESS] * beyond * beyond
    if dof_float[d, at.LAW] > 0.0:
        law = int(dof_float[d, at.LAW])
        if data[law + at.LAW_ELASTIC] > 0.0:
            energy += evaluate_function(data, law + int(data[law + at.LAW_ELASTIC]), q)[0]
    return energy
