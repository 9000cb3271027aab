"""What a coordinate carries besides motion: spring, damper, armature, and one-sided springs at its limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import lie
from ._typing import FloatArray
from .body import Body
from .kernels import layout

# A limit left to choose bounces like a mass on a spring of this frequency, damped to half of critical: stiff beside
# the swing of a limb (about 1 Hz), soft enough for explicit steps of several milliseconds.
LIMIT_FREQUENCY = 20.0
LIMIT_DAMPING_RATIO = 0.5


def coordinate_rows(bodies: Sequence[Body]) -> list[FloatArray]:
    """dof_float rows (n, DOF_FLOAT_WIDTH) of every body's joint."""
    wanted = [i for i, body in enumerate(bodies) if _chooses(body)]
    felt = _felt_inertia(bodies, wanted) if wanted else {}
    rows = []
    for i, body in enumerate(bodies):
        row = np.zeros((body.joint.num_coordinates, layout.DOF_FLOAT_WIDTH))
        rate = 2.0 * np.pi * LIMIT_FREQUENCY
        inertia = felt.get(i, np.zeros(len(row)))
        row[:, layout.STIFFNESS] = body.stiffness
        row[:, layout.REST] = body.rest
        row[:, layout.DAMPING] = body.damping
        row[:, layout.ARMATURE] = body.armature
        row[:, layout.LOWER] = body.limits[:, 0]
        row[:, layout.UPPER] = body.limits[:, 1]
        row[:, layout.PRESCRIBED] = body.joint.prescribed
        stiffness = inertia * rate**2 if body.limit_stiffness is None else body.limit_stiffness
        critical = 2.0 * np.sqrt(stiffness * (inertia if i in felt else 0.0))
        row[:, layout.LIMIT_STIFFNESS] = stiffness
        row[:, layout.LIMIT_DAMPING] = (
            LIMIT_DAMPING_RATIO * critical if body.limit_damping is None else body.limit_damping
        )
        rows.append(row)
    return rows


def _chooses(body: Body) -> bool:
    given = body.limit_stiffness is not None and body.limit_damping is not None
    return bool(np.isfinite(body.limits).any()) and not given


def _middle(body: Body) -> FloatArray:
    """A configuration to judge by: the middle of limits and range, 0 or the one end there is where they are open."""
    inner = body.joint.range.reshape(-1, 2)
    lower = np.maximum(body.limits[:, 0], inner[:, 0])
    upper = np.minimum(body.limits[:, 1], inner[:, 1])
    outside = lower >= upper  # limits that leave no part of the range: judge by the range itself
    lower[outside], upper[outside] = inner[outside].T
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (lower + upper)
    result: FloatArray = np.where(np.isfinite(middle), middle, np.clip(0.0, lower, upper))
    return result


def _felt_inertia(bodies: Sequence[Body], wanted: Sequence[int]) -> dict[int, FloatArray]:
    """Inertia that each coordinate of some bodies moves with all joints at mid-range: a diagonal of the mass
    matrix.
    """
    relative = []  # pose of each body in its parent's body frame
    for body in bodies:
        relative.append(body.joint_in_parent @ body.joint.transform(_middle(body)) @ body.body_in_joint)
    composite = [_spatial_inertia(body) for body in bodies]
    for i in range(len(bodies) - 1, -1, -1):
        if bodies[i].parent >= 0:
            carry = lie.adjoint_inverse(relative[i])
            composite[bodies[i].parent] += carry.T @ composite[i] @ carry
    felt = {}
    for i in wanted:
        body = bodies[i]
        subspace = lie.adjoint_inverse(body.body_in_joint) @ _subspace(body)
        felt[i] = np.einsum("ij,ik,kj->j", subspace, composite[i], subspace) + body.armature
    return felt


def _subspace(body: Body) -> FloatArray:
    """Motion subspace (6, n) at mid-range, by small differences: a fit for a stiffness, not for dynamics."""
    middle, step = _middle(body), 1e-6
    n = len(middle)
    ahead = body.joint.transform(middle + step * np.eye(n))
    behind = body.joint.transform(middle - step * np.eye(n))
    columns: FloatArray = lie.log(lie.inverse(behind) @ ahead) / (2.0 * step)
    return columns.reshape(n, 6).T


def _spatial_inertia(body: Body) -> FloatArray:
    """Spatial inertia (6, 6) in the body frame (Lee & Terzopoulos 2008, eq. 8)."""
    lever = lie.hat(body.com)
    inertia = np.zeros((6, 6))
    inertia[:3, :3] = body.inertia - body.mass * lever @ lever
    inertia[:3, 3:] = body.mass * lever
    inertia[3:, :3] = -body.mass * lever
    inertia[3:, 3:] = body.mass * np.eye(3)
    return inertia
