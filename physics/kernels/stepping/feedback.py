"""Feedback laws: what each adds to a generalized force or an input, from the state at a step's beginning.

A law is a digital controller with a hold of zero order: for the signal s of the state at the beginning of a step, and
the touch g, u = gain (s - level) g is added over the whole step, in all its stages and parts. So no method needs
derivatives of it. With the load F of the ground on a body, the touch is x^2 (3 - 2 x) for x = F / load: 0 without
touch, 1 from the load on, and smooth between.
"""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load3
from ..algebra.vectors import NONE, Array, Vector, dot3, scale_add3
from ..compiler.jit import for_feedback, shared
from ..forces.elements import element_wrench
from ..forces.ground import ground_plane
from ..forces.points import carried, material, position, twist_of
from ..joints.kinematics import kinematics
from . import feedback_layout as law
from .bundles import Spaces, Tables


@for_feedback
def add_constants(tables: Tables, tau: Array) -> None:
    """Add the laws' outputs, constant in a step, to forces and inputs, within the inputs' ranges."""
    if len(tables) <= at.FEEDBACK:
        return
    _, constant, (least, most) = tables[at.FEEDBACK]
    for d in range(constant.shape[0]):
        tau[d] = min(max(tau[d] + constant[d], least[d]), most[d])


@for_feedback
def hold_feedback(tables: Tables, arrays: Array, q: Array, qd: Array, spaces: Spaces) -> None:
    """Evaluate all laws at the state in which a step begins."""
    if len(tables) <= at.FEEDBACK:
        return
    (laws, constant, _), (work, dof, flags) = tables[at.FEEDBACK], spaces
    kinematics(arrays, q, qd, work, dof, flags)
    for d in range(constant.shape[0]):
        constant[d] = 0.0
    for k in range(laws.shape[0]):
        signal, touch = signal_of(arrays, laws, k, q, qd, work)
        constant[int(laws[k, law.OF])] += laws[k, law.GAIN] * (signal - laws[k, law.LEVEL]) * touch


@shared
def signal_of(arrays: Array, laws: Array, k: int, q: Array, qd: Array, work: Array) -> tuple[float, float]:
    """The signal of law k and its touch, 1 without a gate; after `kinematics`."""
    touch, kind = 1.0, int(laws[k, law.SIGNAL])
    if laws[k, law.GATE] >= 0.0:
        x = min(max(load_on(arrays, int(laws[k, law.GATE]), work) / laws[k, law.LOAD], 0.0), 1.0)
        touch = x * x * (3.0 - 2.0 * x)
    if kind == law.TOUCH_SIGNAL:
        return touch, 1.0
    if kind == law.COORDINATE_SIGNAL:
        d = int(laws[k, law.COORDINATE])
        return (qd[d] if laws[k, law.RATE] != 0.0 else q[d]), touch
    x, start = measured(arrays, laws, k, work)
    return dot3(load3(laws, k, law.DIRECTION), scale_add3(x, -1.0, start)), touch


@shared
def measured(arrays: Array, laws: Array, k: int, work: Array) -> tuple[Vector, Vector]:
    """Places of law k's point or the mass centre, and of its other point; their velocities for a rate."""
    other, x = int(laws[k, law.OTHER]), NONE
    start = motion_of(arrays, laws, k, other, carried(work, other, load3(laws, k, law.OTHER_POINT)), work)
    for i in range(arrays[at.BODY_INT].shape[0]):
        weight, lever = weight_of(arrays, laws, k, i, work)
        if weight != 0.0:
            x = scale_add3(x, weight, motion_of(arrays, laws, k, i, lever, work))
    return x, start


@shared
def weight_of(arrays: Array, laws: Array, k: int, i: int, work: Array) -> tuple[float, Vector]:
    """How much the motion of body i counts in what law k measures, and the lever of its point that does."""
    body_float = arrays[at.BODY_FLOAT]
    if int(laws[k, law.SIGNAL]) == law.CENTER_SIGNAL:
        weight = body_float[i, at.MASS] / laws[k, law.WHOLE]
        return weight, carried(work, i, load3(body_float, i, at.COM))
    return (1.0 if i == int(laws[k, law.BODY]) else 0.0), carried(work, i, load3(laws, k, law.POINT))


@shared
def motion_of(arrays: Array, laws: Array, k: int, i: int, lever: Vector, work: Array) -> Vector:
    """Place of a point of body i, or its velocity where law k has a rate."""
    if laws[k, law.RATE] != 0.0:
        return material(twist_of(work, i), lever)
    return position(arrays[at.BODY_INT], work, i, lever)


@shared
def is_ground(data: Array, row: int, body: int) -> bool:
    """Whether the element at row is compliant ground under the body."""
    kind, own = int(data[row + at.ELEMENT_KIND]), int(data[row + at.ELEMENT_BODY]) == body
    return own and (kind == at.GROUND_ELEMENT or kind == at.SPHERE_ELEMENT)


@shared
def load_on(arrays: Array, body: int, work: Array) -> float:
    """Force along the normals of all compliant ground under a body; after `kinematics`."""
    body_int, data, total = arrays[at.BODY_INT], arrays[at.MODEL_DATA], 0.0
    row = int(data[at.ELEMENT_ROWS])
    for _ in range(int(data[at.ELEMENT_COUNT])):
        if is_ground(data, row, body):
            wrench, _ = element_wrench(body_int, data, data, 0, row, work)  # ground follows no input
            total += dot3(ground_plane(body_int, data, row, work)[1], (wrench[3], wrench[4], wrench[5]))
        row += int(data[row + at.ELEMENT_SIZE])
    return total
