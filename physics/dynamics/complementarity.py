"""Active hard limits, one-sided constraints and contacts: accelerations and forces that are complementary.

Wang 2022, eq. 4.101: in each unilateral row u'' >= 0, lambda >= 0 and one of them is zero.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..constraints.packing import jacobian_of, make_system
from ..errors import ModelError
from ..kernels import layout as tree_layout
from ..kernels.constraints import layout
from ..kernels.contact.layout import (
    FOUND,
    FOUND_BODY,
    FOUND_FRICTION,
    FOUND_GAP,
    FOUND_NORMAL,
    FOUND_OTHER,
    FOUND_PAIR,
    FOUND_POINT,
    FOUND_SOURCE,
    PAIRS,
)
from ..model.checks import check_flags
from ..model.model import Model
from .workspace import contact_name, contact_space

# A gap and a speed below this [m, rad; m/s, rad/s] count as touching.
TOUCH = 1e-6
# The change of rows along the motion comes from fourth-order differences over this time [s].
DIFFERENCE = 1e-3
STENCIL = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))
MOST_ROUNDS = 200
# Colliders farther apart than this [m] are not looked at: at the stencil's times a contact has not gone so far.
NEAR = 0.02
SETTLED = 1e-13


class ContactForce(NamedTuple):
    """Name of a contact, its point (3,) [m] and the force on its body (3,) [N], in world axes; indices of the body and
    of the other one, -1 for the world.
    """

    name: str
    point: FloatArray
    force: FloatArray
    body: int = -1
    other: int = -1


class Row(NamedTuple):
    """One active row: Jacobian (nv,), bias J' q', kind, coefficient of friction, and owner.

    The owner is (name of a constraint, its row), ("", first entry of a limit) or (name of a contact, pair).
    """

    jacobian: FloatArray
    bias: float
    kind: int
    friction: float
    owner: tuple[str, int]


class Solution(NamedTuple):
    """Accelerations (nv,), force of each row (m,), the rows, and the detected contacts by pair."""

    qdd: FloatArray
    forces: FloatArray
    rows: list[Row]
    contacts: dict[int, FloatArray]


def solve_one_sided(model: Model, state: State, free: FloatArray, mass: FloatArray) -> Solution:
    """Accelerations with all constraints, hard limits and contacts.

    free: accelerations (nv,) of the tree alone. mass: its mass matrix (nv, nv).

    Raises:
        ModelError: an impact, which has no acceleration; sliding friction for which no forces exist.
    """
    space = contact_space(model)
    contacts = contacts_at(model, np.array(state.q), TOUCH, space)
    rows = [
        *_constraint_rows(model, state),
        *_limit_rows(model, state),
        *_contact_rows(model, state, contacts, space),
    ]
    jacobian = np.array([row.jacobian for row in rows]).reshape(len(rows), len(free))
    moved = ~model.prescribed
    answers = np.zeros_like(jacobian)
    answers[:, moved] = np.linalg.solve(mass[np.ix_(moved, moved)], jacobian[:, moved].T).T
    right = np.array([row.bias for row in rows]) + jacobian @ free
    forces = _forces(rows, jacobian @ answers.T, right, _slides(state, rows, jacobian))
    return Solution(free + answers.T @ forces, forces, rows, contacts)


def _forces(
    rows: list[Row], matrix: FloatArray, right: FloatArray, slides: dict[int, FloatArray]
) -> FloatArray:
    """Forces of all rows. slides: direction of sliding by row of a normal; friction is then mu times its force."""
    count = len(rows)
    if not count:
        return np.zeros(0)
    kinds = np.array([row.kind for row in rows], dtype=np.int64)
    friction = np.array([row.friction for row in rows])
    kept = np.ones(count, dtype=bool)
    for k in slides:
        kinds[k], kept[k + 1 : k + 3] = layout.UNILATERAL, False
    space, order = kernels.contact.impulse_layout.impulse_space(count)
    forces, dragged = np.zeros(count), np.zeros(count)
    for _ in range(MOST_ROUNDS):
        own = np.zeros(int(kept.sum()))
        kernels.contact.impulses.solve_impulses(
            len(own),
            np.ascontiguousarray(matrix[np.ix_(kept, kept)]),
            (right + matrix @ dragged)[kept],
            kinds[kept],
            friction[kept],
            own,
            np.zeros(space),
            np.zeros(order, dtype=np.int64),
        )
        forces[kept] = own
        last = dragged.copy()
        for k, direction in slides.items():
            dragged[k + 1 : k + 3] = -rows[k].friction * forces[k] * direction
        forces[~kept] = dragged[~kept]
        if np.abs(dragged - last).max() <= SETTLED * np.abs(forces).max(initial=0.0):
            return forces
    names = ", ".join(repr(rows[k].owner[0]) for k in slides)
    raise ModelError(f"no forces exist for the friction of sliding contacts ({names}): they jam")


def _slides(state: State, rows: list[Row], jacobian: FloatArray) -> dict[int, FloatArray]:
    """Direction of sliding along the two tangents by the row of the contact's normal."""
    found = {}
    for k, row in enumerate(rows):
        if row.kind == layout.NORMAL:
            speed = jacobian[k + 1 : k + 3] @ state.qd
            if np.linalg.norm(speed) > TOUCH:
                found[k] = speed / np.linalg.norm(speed)
    return found


def _touches(name: str, value: float, speed: float) -> bool:
    """Whether a row of this value and speed is active.

    Raises:
        ModelError: an approach faster than `TOUCH`, an impact.
    """
    if value > TOUCH or speed > TOUCH:
        return False
    if speed < -TOUCH:
        raise ModelError(
            f"{name} has an impact at {-speed:.3g} m/s or rad/s, which has no acceleration: use simulate instead"
        )
    return True


def _constraint_rows(model: Model, state: State) -> Iterator[Row]:
    for name, constraint in model.constraints.items():
        values, jacobian, bias = model.evaluate_constraints(state, (constraint,))
        sense = constraint.packed(model).sense
        for k in range(len(values)):
            speed = float(jacobian[k] @ state.qd)
            if sense == layout.EQUALITY or _touches(f"constraint {name!r}", float(values[k]), speed):
                yield Row(jacobian[k], float(bias[k]), sense, 0.0, (name, k))


def _limit_rows(model: Model, state: State) -> Iterator[Row]:
    data = model.arrays[3]
    for at in model.hard_limit_rows:
        first = int(data[at + tree_layout.LIMIT_DOF])

        def gradient(q: FloatArray, at: int = at, first: int = first) -> FloatArray:
            _, slope, width = kernels.forces.limits.limit_value(data, at, q)
            row = np.zeros((1, len(q)))
            row[0, first : first + width] = slope[:width]
            return row

        q = np.array(state.q)
        row = gradient(q)[0]
        name = f"the hard limit of {model.coordinate_names[first]!r}"
        if _touches(name, kernels.forces.limits.limit_value(data, at, q)[0], float(row @ state.qd)):
            yield Row(row, float(_bias(gradient, state)[0]), layout.UNILATERAL, 0.0, ("", at))


def _bias(rows: Callable[[FloatArray], FloatArray], state: State) -> FloatArray:
    """J' q' for rows J(q) (m, nv) given as a function of the coordinates."""
    step = DIFFERENCE / max(1.0, float(np.abs(state.qd).max(initial=0.0)))
    turned = sum(weight * rows(np.array(state.q + k * step * state.qd)) for k, weight in STENCIL)
    return np.asarray(turned @ state.qd / step, dtype=np.float64)


def contacts_at(
    model: Model, q: FloatArray, reach: float, space: tuple[Any, ...] | None = None
) -> dict[int, FloatArray]:
    """Contacts detected at coordinates q (nv,) with a gap below reach, by number; those of colliders keep theirs from
    call to call with the same space, as of `contact_space`.

    Raises:
        ModelError: more contacts of colliders than there is room for.
    """
    if not model.contact_names:
        return {}
    space = contact_space(model) if space is None else space
    (work, _), found = _placed(model, q), space[FOUND]
    count = kernels.contact.detection.detect_contacts(model.arrays, space[PAIRS], reach, work, found)
    if model.colliders:
        near = min(reach, NEAR)
        count += kernels.contact.colliding.collide(model.arrays, space, 0.0, 0.5 * near, work, count)
        if kernels.contact.colliding.overflows(model.arrays, space):
            raise ModelError(f"more than {count} contacts of colliders at once: there is no room for them")
    return {int(row[FOUND_PAIR]): row.copy() for row in found[:count]}


def _placed(model: Model, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Workspaces of the bodies and of the coordinates at coordinates q and zero velocity."""
    work, dof, flags = model.workspace().clear()
    kernels.joints.kinematics.kinematics(model.arrays, q, np.zeros_like(q), work, dof, flags)
    check_flags(model, flags)
    return work, dof


def _contact_rows(
    model: Model, state: State, contacts: dict[int, FloatArray], space: tuple[Any, ...]
) -> Iterator[Row]:
    for pair, found in contacts.items():
        laid_by = aside_of(found)

        def rows(
            q: FloatArray, pair: int = pair, aside: FloatArray = laid_by, last: FloatArray = found
        ) -> FloatArray:
            # a pair that separates within the stencil must be found as well
            return _rows_of_contact(model, q, contacts_at(model, q, math.inf, space).get(pair, last), aside)

        jacobian = rows(np.array(state.q))
        name = contact_name(model, found[FOUND_SOURCE])
        if not _touches(f"contact {name!r}", float(found[FOUND_GAP]), float(jacobian[0] @ state.qd)):
            continue
        bias, rough = _bias(rows, state), found[FOUND_FRICTION] > 0.0
        kinds = (layout.NORMAL, layout.TANGENT, layout.TANGENT) if rough else (layout.UNILATERAL,)
        for k, kind in enumerate(kinds):
            coefficient = float(found[FOUND_FRICTION]) if k == 0 else 0.0
            yield Row(jacobian[k], float(bias[k]), kind, coefficient, (name, pair))


def _rows_of_contact(model: Model, q: FloatArray, found: FloatArray, aside: FloatArray) -> FloatArray:
    """Rows (3, nv) along the normal and two tangents of a contact."""
    work, dof = _placed(model, q)
    system = make_system(model.arrays, model.constraint_arrays, 3)
    point = tuple(found[FOUND_POINT : FOUND_POINT + 3].tolist())
    body, other = int(found[FOUND_BODY]), int(found[FOUND_OTHER])
    for row, axis in enumerate(axes_of(found, aside)):
        kernels.constraints.row_pieces.push_row(
            model.arrays[0],
            work,
            dof,
            body,
            other,
            point,
            point,
            tuple(axis.tolist()),
            row,
            system[layout.SYSTEM_JACOBIAN],
        )
    return jacobian_of(system, 3)


def aside_of(found: FloatArray) -> FloatArray:
    """The world axis (3,) farthest from a contact's normal, which defines its tangents."""
    return np.eye(3)[int(np.argmin(np.abs(found[FOUND_NORMAL : FOUND_NORMAL + 3])))]


def axes_of(found: FloatArray, aside: FloatArray | None = None) -> FloatArray:
    """Normal and two tangents (3, 3) of a contact; with one `aside` for nearby states they vary smoothly."""
    normal = found[FOUND_NORMAL : FOUND_NORMAL + 3]
    across = np.cross(normal, aside_of(found) if aside is None else aside)
    across /= np.linalg.norm(across)
    return np.array([normal, across, np.cross(normal, across)])
