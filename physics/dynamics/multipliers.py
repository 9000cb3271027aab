"""Forces in the joints: by recursion, and as multipliers of one system for all bodies (Wang 2022, eqs. 3.36-3.41)."""

from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..constraints.base import Constraint
from ..errors import ModelError
from ..geometry import lie
from ..kernels import layout
from ..kernels.constraints.layout import EQUALITY
from ..model.checks import check_state, vector, with_inputs
from ..model.model import Model
from ..validation import finite_array, float_array
from . import articulated, mass_matrix, newton_euler
from .complementarity import solve_one_sided
from .constrained import constrained_dynamics
from .constraint_wrenches import constraint_wrenches, contact_wrenches, rows_on_bodies
from .maximal import MaximalCoordinates, maximal_coordinates
from .workspace import one_sided

# Rows are redundant in directions whose singular value is below this share of the largest.
DEPENDENT = 1e-10


def joint_reactions(
    model: Model, state: State, qdd: Any = None, *, tau: Any = None, wrenches: Any = None
) -> FloatArray:
    """Wrenches [moment, force] (nb, 6) on each body from its joint, in the body's frame, about its origin.

    They include constraint forces of the joint, its motors, springs, dampers and limits; the parent gets the opposite.
    Recursive Newton-Euler algorithm in O(n). Constraints between bodies act in parallel to the joints, those between
    coordinates through them.

    Args:
        qdd: accelerations (nv,), or by name; None: those under `tau`, `wrenches` and the model's constraints.
        tau: generalized forces (nv,); inputs may follow them or be given by name (`Model.with_inputs`).
        wrenches: additional wrenches on the bodies (nb, 6), in their frames.

    Raises:
        ModelError: bad shapes or numbers; qdd given for a model with constraints; as `constrained_dynamics`.
        JointRangeError: as `forward_dynamics`.
    """
    state = check_state(model, state)
    model.check_dynamics()
    complete, nv = with_inputs(model, tau, "tau").copy(), model.num_coordinates
    moving = maximal_coordinates(model, state, complete[nv:])
    outside = np.zeros((model.num_bodies, 6))
    if wrenches is not None:
        outside = finite_array(wrenches, outside.shape, "wrenches on the bodies")
    pushed, carried = moving.gathered(outside)
    if qdd is not None and model.constraints:
        raise ModelError("qdd does not determine the forces of the model's constraints: leave qdd out")
    if qdd is not None:
        qdd = vector(model, qdd, "qdd")
    else:
        complete[:nv] += pushed
        found = constrained_dynamics(model, state, complete)
        qdd = found.qdd
        outside = constraint_wrenches(moving, found.forces) + contact_wrenches(moving, found.contacts)
        carried = carried + moving.gathered(outside)[1]
    total = newton_euler(model, state, qdd, complete[nv:])[1]
    # a wrench transforms by the transpose of the inverse adjoint: w_body = Ad^T w_world
    turned = np.einsum("bji,bj->bi", lie.adjoint(moving.poses_in_tree), total)
    return np.asarray(turned - carried, dtype=np.float64)


class ConstrainedMotion(NamedTuple):
    """Result of `constrained_bodies`.

    Attributes:
        accelerations: rates of the twists (nb, 6), each in its body's frame.
        qdd: accelerations of the coordinates (nv,).
        multipliers: lambda of the rows of joints, then of given rows and constraints between bodies, then of those on
            coordinates; for redundant rows the least-norm solution.
        joint_wrenches: on each body from its joint (nb, 6): -G^T lambda of the joint's rows, its motors and springs.
        constraint_wrenches: on each body from constraints and given rows (nb, 6).
        residual: the largest of |G phi' - right|, not zero if rows contradict each other.
    """

    accelerations: FloatArray
    qdd: FloatArray
    multipliers: FloatArray
    joint_wrenches: FloatArray
    constraint_wrenches: FloatArray
    residual: float


class _Joints:
    """The joints of a model as rows on the accelerations of bodies: rows phi' = right; and q'' = rates phi' + start."""

    def __init__(self, moving: MaximalCoordinates) -> None:
        model, nb = moving.model, moving.model.num_bodies
        self.rows: list[FloatArray] = []
        self.right: list[FloatArray] = []
        self.along: list[slice] = []
        self.rates = np.zeros((model.num_coordinates, 6 * nb))
        self.start = np.zeros(model.num_coordinates)
        for i in range(nb):
            self._add(moving, i)

    def _add(self, moving: MaximalCoordinates, i: int) -> None:
        model, body = moving.model, moving.model.bodies[i]
        where = model.coordinate_slice(body.name)
        qd = moving.state.qd[where]
        pose, subspace, hessian = body.joint.evaluate(moving.state.q[where])
        count = body.joint.num_coordinates
        bias = np.einsum("aij,i,j->a", hessian, qd, qd)
        relative = np.zeros((6, 6 * model.num_bodies))
        own = lie.adjoint(body.body_in_joint)
        relative[:, 6 * i : 6 * i + 6] = own
        if body.parent >= 0:
            across = lie.adjoint_inverse(body.joint_in_parent @ pose)
            relative[:, 6 * body.parent : 6 * body.parent + 6] = -across
            bias = bias - lie.ad(subspace @ qd) @ across @ moving.twists[body.parent]
        # relative @ phi' = S q'' + bias: the components normal to S are constraints, those along S give q''
        left, values, _ = np.linalg.svd(subspace)
        if (values < DEPENDENT * values.max(initial=0.0)).any() or count > 6:
            raise ModelError(
                f"the coordinates of body {body.name!r} do not move it independently at "
                f"q = {moving.state.q[where].tolist()}: its joint is no constraint of {6 - count} rows"
            )
        along, across_rows = np.linalg.pinv(subspace), left[:, count:].T
        self.rates[where], self.start[where] = along @ relative, -along @ bias
        fixed = np.concatenate([across_rows, along[model.prescribed[where]]])
        self.rows.append(fixed @ relative)
        self.right.append(fixed @ bias)
        self.along.append(where)

    def transmitted(self, multipliers: FloatArray, motors: FloatArray) -> FloatArray:
        """Wrenches (nb, 6) on the bodies from their joints: of constraint forces, and of motors (nv,)."""
        result = np.zeros((len(self.rows), 6))
        first = 0
        for i, (rows, along) in enumerate(zip(self.rows, self.along)):
            at = slice(6 * i, 6 * i + 6)
            result[i] = (
                motors[along] @ self.rates[along, at] - multipliers[first : first + len(rows)] @ rows[:, at]
            )
            first += len(rows)
        return result


def _unconstrained(
    moving: MaximalCoordinates, joints: _Joints, armature: FloatArray, forces: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Inertia of all bodies (6 nb, 6 nb) and the forces on them (6 nb,).

    Motors, springs and armature act along the joints' rates: power tau . q' = (rates^T tau) . phi.
    """
    inertia = joints.rates.T @ armature @ joints.rates
    for i, own in enumerate(moving.inertias):
        inertia[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] += own
    return inertia, moving.wrenches.ravel() + joints.rates.T @ (forces - armature @ joints.start)


def constrained_bodies(
    model: Model,
    state: State,
    tau: Any = None,
    *,
    rows: Any = None,
    right: Any = None,
    coordinate_rows: Any = None,
    coordinate_right: Any = None,
    wrenches: Any = None,
) -> ConstrainedMotion:
    """Accelerations of all bodies and the forces of all constraints from one system (Wang 2022, eqs. 3.40, 4.101).

    Every joint is a set of rows normal to its motion subspace S on the bodies it joins,

        [[M, G^T], [G, 0]] [phi', lambda] = [f, right].

    Uses no recursion, in O(n^3): a reference for checking recursive algorithms and loops. Active constraints of the
    model (as `constrained_dynamics` finds them) and active hard limits are rows as well. Redundant rows are found by
    their singular values and get the least-norm forces.

    Args:
        model, state: the tree and its state. tau: generalized forces (nv,), see `Model.with_inputs`.
        rows, right: further rows G phi' = right (m, 6 nb), (m,) on the bodies' accelerations; of a loop right = -G'
            phi.
        coordinate_rows, coordinate_right: further constraints on the accelerations of the coordinates (k, nv) and (k,)
            (eq. 4.105); their multipliers come last.
        wrenches: additional wrenches on the bodies (nb, 6), in their frames.

    Raises:
        ModelError: bad shapes or numbers; contacts; a joint whose coordinates are dependent at this state.
        JointRangeError: as `forward_dynamics`.
    """
    state = check_state(model, state)
    model.check_dynamics()
    nb, nv = model.num_bodies, model.num_coordinates
    complete = with_inputs(model, tau, "tau")
    moving = maximal_coordinates(model, state, complete[nv:])
    joints, forces = _Joints(moving), moving.joint_forces + complete[:nv]
    own = _model_rows(model, state, complete, moving)
    outside, aim = _joined(_rows(rows, right, 6 * nb, "rows"), own[:2])
    couplings, coupled = _joined(_rows(coordinate_rows, coordinate_right, nv, "coordinate rows"), own[2:])
    armature = np.diag(model.arrays[4][:, layout.ARMATURE])
    inertia, load = _unconstrained(moving, joints, armature, forces)
    if wrenches is not None:
        load += finite_array(wrenches, (nb, 6), "wrenches on the bodies").ravel()
    jacobian = np.concatenate([*joints.rows, outside, couplings @ joints.rates])
    aims = np.concatenate([*joints.right, aim, coupled - couplings @ joints.start])
    phi, multipliers = _solve(inertia, load, jacobian, aims)
    qdd = joints.rates @ phi + joints.start
    inner, last = sum(len(each) for each in joints.rows), len(multipliers) - len(couplings)
    motors = forces - armature @ qdd - couplings.T @ multipliers[last:]
    return ConstrainedMotion(
        phi.reshape(nb, 6),
        qdd,
        multipliers,
        joints.transmitted(multipliers[:inner], motors),
        -(outside.T @ multipliers[inner:last]).reshape(nb, 6),
        float(np.abs(jacobian @ phi - aims).max(initial=0.0)),
    )


def _model_rows(
    model: Model, state: State, tau: FloatArray, moving: MaximalCoordinates
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Rows and right sides of the model's active constraints on the bodies, then those on the coordinates.

    Active hard limits come first among the rows on the coordinates.
    """
    acting, pushing, bias = _acting(model, state, tau)
    rows, aims = [np.zeros((0, 6 * model.num_bodies))], [np.zeros(0)]
    couplings, coupled = [pushing], [-bias]
    for constraint in acting:
        found = rows_on_bodies(moving, constraint)
        if found is None:
            couplings.append(constraint.jacobian(model, state))
            coupled.append(-constraint.bias(model, state))
        else:
            rows.append(found[0])
            aims.append(found[1])
    return np.concatenate(rows), np.concatenate(aims), np.concatenate(couplings), np.concatenate(coupled)


def _acting(model: Model, state: State, tau: FloatArray) -> tuple[list[Constraint], FloatArray, FloatArray]:
    """Active constraints, and rows (m, nv) with bias (m,) of active hard limits."""
    for touching in model.contact_names[:1]:
        raise ModelError(f"constrained_bodies does not support contacts ({touching!r})")
    nothing = np.zeros((0, model.num_coordinates)), np.zeros(0)
    if not one_sided(model):
        return list(model.constraints.values()), *nothing
    free = articulated(model, state, tau)[0]
    solution = solve_one_sided(model, state, free, mass_matrix(model, state))
    pushing = [row for row, force in zip(solution.rows, solution.forces) if force > 0.0]
    limits = [row for row in pushing if not row.owner[0]]
    names = {row.owner[0] for row in pushing}
    acting = [
        constraint
        for name, constraint in model.constraints.items()
        if constraint.packed(model).sense == EQUALITY or name in names
    ]
    if not limits:
        return acting, *nothing
    return acting, np.array([row.jacobian for row in limits]), np.array([row.bias for row in limits])


def _rows(rows: Any, right: Any, width: int, name: str) -> tuple[FloatArray, FloatArray]:
    """Rows (m, width) and their right sides (m,), zeros if not given."""
    matrix = np.zeros((0, width)) if rows is None else float_array(rows, name)
    matrix = finite_array(matrix, (matrix.shape[0] if matrix.ndim else 0, width), name)
    if right is None:
        return matrix, np.zeros(len(matrix))
    return matrix, finite_array(right, (len(matrix),), f"right sides of the {name}")


def _solve(
    inertia: FloatArray, load: FloatArray, rows: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """x and lambda of [[M, G^T], [G, 0]] [x, lambda] = [load, right] by the singular values of G M^(-1/2)."""
    factor = np.linalg.cholesky(inertia)
    free = np.linalg.solve(factor, load)
    scaled = np.linalg.solve(factor, rows.T).T
    left, values, directions = np.linalg.svd(scaled, full_matrices=False)
    kept = values > DEPENDENT * values.max(initial=0.0)
    left, values, directions = left[:, kept], values[kept], directions[kept]
    needed = (left.T @ (right - scaled @ free)) / values
    motion = np.linalg.solve(factor.T, free + directions.T @ needed)
    return motion, -left @ (needed / values)


def _joined(
    first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Two sets of rows with their right sides, concatenated."""
    return np.vstack([first[0], second[0]]), np.append(first[1], second[1])
