"""Springs, dampers, armature and limits of coordinates as rows for the kernels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from ..joints.euler_angles import AXES
from ..joints.packing import LimitRow
from ..joints.rotation_limits import limit_parameters
from ..kernels import layout
from .body import Body

# Default limits bounce like a mass on a spring of this frequency at half of critical damping: stiff compared with the
# swing of a limb (about 1 Hz), soft enough for explicit steps of several milliseconds with two or three joints in
# series. In longer chains coordinates have less effective inertia: symplectic Euler (for four and more joints in
# series, without limits of Euler angles) and the implicit methods remain stable.
LIMIT_FREQUENCY = 20.0
LIMIT_DAMPING_RATIO = 0.5


def coordinate_rows(bodies: Sequence[Body]) -> tuple[list[FloatArray], list[LimitRow]]:
    """dof_float rows (n, DOF_FLOAT_WIDTH) of every body's joint, and the limits that need rows of their own."""
    wanted = [i for i, body in enumerate(bodies) if _chooses(body)]
    felt = _felt_inertia(bodies, wanted) if wanted else {}
    rows, limits = [], []
    for i, body in enumerate(bodies):
        row = np.zeros((body.joint.num_coordinates, layout.DOF_FLOAT_WIDTH))
        rate = 2.0 * np.pi * LIMIT_FREQUENCY
        inertia = felt.get(i, np.zeros(len(row)))
        row[:, layout.STIFFNESS] = body.stiffness
        row[:, layout.REST] = body.rest
        row[:, layout.DAMPING] = body.damping
        row[:, layout.ARMATURE] = body.armature
        row[:, layout.LOWER] = np.where(body.held, -np.inf, body.limits[:, 0])
        row[:, layout.UPPER] = np.where(body.held, np.inf, body.limits[:, 1])
        row[:, layout.PRESCRIBED] = np.array(body.joint.prescribed, dtype=np.bool_) | body.held
        stiffness = inertia * rate**2 if body.limit_stiffness is None else body.limit_stiffness
        critical = 2.0 * np.sqrt(stiffness * (inertia if i in felt else 0.0))
        row[:, layout.LIMIT_STIFFNESS] = stiffness
        row[:, layout.LIMIT_DAMPING] = (
            LIMIT_DAMPING_RATIO * critical if body.limit_damping is None else body.limit_damping
        )
        own = _limit_rows(i, body, row)
        for limit in own:  # these replace the springs on the coordinate
            if limit.kind in (layout.LIMIT_LOWER, layout.LIMIT_UPPER):
                row[limit.coordinate, [layout.LOWER, layout.UPPER]] = [-np.inf, np.inf]
        for first, _ in body.joint.angle_groups:
            row[first : first + 3, [layout.LOWER, layout.UPPER]] = [-np.inf, np.inf]
        rows.append(row)
        limits += own
    return rows, limits


def _limit_rows(i: int, body: Body, row: FloatArray) -> list[LimitRow]:
    """Limits of body i's rotations and Euler angles, and its hard limits."""
    hard = body.limit_restitution is not None
    restitution = np.full(len(row), -1.0) if body.limit_restitution is None else body.limit_restitution

    def limit_row(kind: int, coordinate: int, count: int, parameters: Any) -> LimitRow:
        entries = slice(coordinate, coordinate + count)
        return LimitRow(
            kind,
            i,
            coordinate,
            float(row[entries, layout.LIMIT_STIFFNESS].max()),
            float(row[entries, layout.LIMIT_DAMPING].max()),
            float(restitution[entries].max()),
            np.asarray(parameters, dtype=np.float64),
        )

    angles = {first + k: (first, sequence) for first, sequence in body.joint.angle_groups for k in range(3)}
    result = []
    for d, (lower, upper) in enumerate(body.limits):
        for sense, bound in ((1.0, lower), (-1.0, upper)):
            if not np.isfinite(bound) or body.held[d]:
                continue
            if d in angles:
                first, sequence = angles[d]
                axes = [AXES[letter] for letter in sequence]
                result.append(limit_row(layout.LIMIT_ANGLE, first, 3, [*axes, d - first, sense, bound]))
            elif hard:
                kind = layout.LIMIT_LOWER if sense > 0.0 else layout.LIMIT_UPPER
                result.append(limit_row(kind, d, 1, [bound]))
    for first, limit in body.joint.rotation_limits:
        kind, parameters = limit_parameters(limit)
        result.append(limit_row(kind, first, 3, parameters))
    return result


def _chooses(body: Body) -> bool:
    given = body.limit_stiffness is not None and body.limit_damping is not None
    limited = bool(np.isfinite(body.limits[~body.held]).any()) or bool(body.joint.rotation_limits)
    return limited and not given and body.limit_restitution is None


def _middle(body: Body) -> FloatArray:
    """A representative configuration: the middle of limits and range; 0, or the only end, if they are open."""
    return body.joint.from_readings(_middle_reading(body))


def _middle_reading(body: Body) -> FloatArray:
    inner = body.joint.range.reshape(-1, 2)
    lower = np.maximum(body.limits[:, 0], inner[:, 0])
    upper = np.minimum(body.limits[:, 1], inner[:, 1])
    outside = (lower >= upper) & ~body.held  # limits that leave no part of the range: take the range itself
    lower[outside], upper[outside] = inner[outside].T
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (lower + upper)
    return np.where(np.isfinite(middle), middle, np.clip(0.0, lower, upper))


def _felt_inertia(bodies: Sequence[Body], wanted: Sequence[int]) -> dict[int, FloatArray]:
    """Inertia that each coordinate of some bodies moves at mid-range of all joints (diagonal of the mass matrix)."""
    relative = []  # pose of each body in its parent's body frame
    for body in bodies:
        relative.append(body.joint_in_parent @ body.joint.transform(_middle(body)) @ body.body_in_joint)
    composite = [lie.spatial_inertia(body.mass, body.com, body.inertia) for body in bodies]
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
    """Motion subspace (6, n) at mid-range by finite differences: good enough for a stiffness, not for dynamics."""
    middle, step = _middle(body), 1e-6
    n = len(middle)
    after = body.joint.transform(middle + step * np.eye(n))
    before = body.joint.transform(middle - step * np.eye(n))
    columns: FloatArray = lie.log(lie.inverse(before) @ after) / (2.0 * step)
    return columns.reshape(n, 6).T
