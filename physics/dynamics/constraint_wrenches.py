"""Constraints as rows on the twists of the bodies, and the wrenches that their forces apply to the bodies."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .._typing import FloatArray
from ..constraints.base import Constraint
from ..constraints.coupling import CouplingConstraint
from ..constraints.rolling import RollingConstraint
from ..geometry import lie
from ..joints import Free
from ..model.builder import ModelBuilder
from ..model.model import Model
from .complementarity import ContactForce
from .maximal import MaximalCoordinates

# Constraints between coordinates: their forces act through the joints, not between bodies.
ON_COORDINATES = (CouplingConstraint, RollingConstraint)


@lru_cache(maxsize=8)
def _loosened(model: Model) -> Model:
    """A model of the same bodies, each with a free joint, on which the same rows constrain the twists."""
    builder = ModelBuilder()
    for body in model.bodies:
        builder.add_body(body.name, joint=Free(), mass=body.mass, com=body.com, inertia=body.inertia)
    return builder.build()


def rows_on_bodies(
    moving: MaximalCoordinates, constraint: Constraint
) -> tuple[FloatArray, FloatArray] | None:
    """G (rows, 6 nb) and right sides (rows,) of a constraint between bodies, G phi' = right, each in its body's frame.

    The wrenches of its forces are G^T forces. None for a constraint between coordinates.
    """
    if isinstance(constraint, ON_COORDINATES):
        return None
    loose = _loosened(moving.model)
    nb = loose.num_bodies
    poses = moving.poses
    q = np.concatenate([poses[:, :3, 3], lie.so3_log(poses[:, :3, :3])], axis=1)
    qd, columns, bias = np.empty((nb, 6)), np.empty((nb, 6, 6)), np.empty((nb, 6))
    for i, body in enumerate(loose.bodies):
        _, subspace, hessian = body.joint.evaluate(q[i])
        columns[i] = np.linalg.inv(subspace)  # regular: the rotation vector is no longer than pi
        qd[i] = columns[i] @ moving.twists[i]
        bias[i] = np.einsum("aij,i,j->a", hessian, qd[i], qd[i])
    state = loose.state(q=q.ravel(), qd=qd.ravel())
    jacobian = constraint.jacobian(loose, state)
    rows = np.einsum("rbi,bij->rbj", jacobian.reshape(-1, nb, 6), columns)
    right = np.einsum("rbi,bi->r", rows, bias) - constraint.bias(loose, state)
    return rows.reshape(len(jacobian), 6 * nb), right


def constraint_wrenches(moving: MaximalCoordinates, forces: dict[str, FloatArray]) -> FloatArray:
    """Wrenches (nb, 6) on the bodies, in their frames, of constraint forces by name."""
    total = np.zeros(6 * moving.model.num_bodies)
    for name, force in forces.items():
        rows = rows_on_bodies(moving, moving.model.constraints[name])
        if rows is not None:
            total += rows[0].T @ force
    return total.reshape(-1, 6)


def contact_wrenches(moving: MaximalCoordinates, contacts: Sequence[ContactForce]) -> FloatArray:
    """Wrenches (nb, 6) of contact forces on the bodies, in their frames, and the opposite on the obstacles' bodies."""
    total = np.zeros((moving.model.num_bodies, 6))
    for found in contacts:
        for body, sense in ((found.body, 1.0), (found.other, -1.0)):
            if body >= 0:
                turn, origin = moving.poses[body, :3, :3], moving.poses[body, :3, 3]
                force = sense * turn.T @ found.force
                total[body] += [*np.cross(turn.T @ (found.point - origin), force), *force]
    return total
