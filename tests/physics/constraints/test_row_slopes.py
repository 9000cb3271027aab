"""Derivatives of the forces and speeds of every row against differences of its Jacobian."""

import numpy as np
import pytest

from physics import constraints, kernels
from physics.constraints.packing import pack_constraints
from physics.joints.packing import TangentSpace
from tests.physics.constraints.test_rows import frames_of_each, one_of_each
from tests.physics.generators import random_pose, random_state, random_tree

# of five-point differences: their error is 3e-18 of the fifth derivative, and their round-off 1e-12
STEP, ACCURACY = 1e-4, 1e-8


def slopes_of(model, state, constraint, forces):
    """d(J^T l)/dq (nv, nv) and d(J q')/dq (rows, nv)."""
    packed = pack_constraints([constraint.packed(model)], model.arrays, model.body_frames)
    q, qd, spaces = np.array(state.q), np.array(state.qd), model.workspace().clear()
    nv = len(q)
    turned, swung = np.full((nv, nv), np.nan), np.full((len(forces), nv), np.nan)
    kernels.joints.kinematics.kinematics(model.arrays, q, qd, *spaces)
    tangents = TangentSpace(model.arrays[0]).arrays
    row_slopes = kernels.constraints.row_slopes.row_slopes
    none = np.zeros(0)
    row_slopes(model.arrays, packed, forces, q, qd, tangents, spaces, turned, swung, none, none)
    weights, pulled, lost = np.sin(1.0 + np.arange(nv)), np.ones(nv), np.empty_like(swung)
    row_slopes(
        model.arrays, packed, forces, q, qd, tangents, spaces, np.empty((nv, nv)), lost, weights, pulled
    )
    # round-off
    np.testing.assert_allclose(pulled, 1.0 + weights @ turned, atol=1e-13 * (1.0 + np.abs(turned).sum()))
    return turned, swung


def differences(model, state, constraint):
    """dJ/dq (rows, nv, nv)."""
    found = []
    for way in np.eye(model.num_coordinates):
        near, far = (
            constraint.jacobian(model, model.state(state.q + step * way, state.qd))
            - constraint.jacobian(model, model.state(state.q - step * way, state.qd))
            for step in (STEP, 2.0 * STEP)
        )
        found.append((8.0 * near - far) / (12.0 * STEP))
    return np.stack(found, axis=2)


@pytest.mark.parametrize("seed", range(8))
def test_row_slopes(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6)
    state = random_state(rng, model)
    body, another = rng.choice(model.body_names, 2, replace=False).tolist()
    line = [(-1.0, 0.1), (0.0, 0.3), (1.0, -0.2)]
    for other in (another, None):
        point = rng.normal(size=3)
        connectors = (
            constraints.PlanarConnector(body, point, other, random_pose(rng)),
            constraints.SegmentedPlanarConnector(body, point, other, random_pose(rng), segments=line),
        )
        for each in (*one_of_each(rng, model, other, body), *frames_of_each(rng, other, body), *connectors):
            forces, slopes = rng.normal(size=each.num_rows), differences(model, state, each)
            expected = np.tensordot(forces, slopes, 1), np.einsum("kde,d->ke", slopes, state.qd)
            for found, right in zip(slopes_of(model, state, each, forces), expected):
                assert np.abs(found - right).max() < ACCURACY * max(1.0, np.abs(right).max()), each.type
