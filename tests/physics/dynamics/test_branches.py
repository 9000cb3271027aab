"""Sparse factors of an implicit step's matrix: they solve what the dense matrix solves."""

import numpy as np
import pytest

import physics as ph
from physics import kernels
from physics.integrators.implicit import branch_rows, implicit_workspace
from tests.verification.generators import chain, surface

PATCH = surface(np.random.default_rng(13), shape=(8, 8))
JOINTS = (ph.joints.Hinge((0.0, 0.6, 0.8)), ph.joints.Spherical(), PATCH, ph.joints.Free())


def tree():
    """A chain of joints with one to six coordinates, with a branch, springs and a motor's inertia."""
    builder = ph.ModelBuilder()
    for number, parent in enumerate((None, 0, 1, 2, 1, 4, 4, 0)):
        builder.add_body(
            f"link {number}",
            parent=None if parent is None else f"link {parent}",
            joint=JOINTS[number % 4],
            joint_in_parent=ph.lie.exp([0.2, 0.1 * number, 0.3, 0.1, 0.2, 0.3]),
            mass=1.0 + number,
            com=(0.1, 0.02 * number, 0.05),
            inertia=np.diag((0.02, 0.03, 0.04)),
            stiffness=3.0,
            damping=0.5,
            armature=0.01,
        )
    return builder.build()


@pytest.mark.parametrize("held", (None, 5))
def test_factors_of_a_tree_solve_the_dense_matrix(held):
    model = tree()
    nv, rng = model.num_coordinates, np.random.default_rng(3)
    slopes, *_, tangents, branches = implicit_workspace(model, dense=False)
    assert len(branches) == nv + model.num_bodies
    spaces = model.workspace().clear()
    if held is not None:
        spaces[1][held, kernels.layout.HELD] = 1.0
    middle = np.concatenate([np.mean(np.clip(joint.range, -0.5, 0.5), axis=1) for joint in model.joints])
    q, qd, qdd, right = middle, *rng.standard_normal((3, nv))
    right[held if held is not None else slice(0)] = 0.0
    tau, mine, step = np.zeros(nv), np.zeros(nv), 0.05
    kernels.dynamics.derivatives.inverse_dynamics_derivatives(
        model.arrays, q, qd, qdd, tau, slopes, tangents, spaces
    )
    by_q, by_qd, mass = (each.copy() for each in slopes)
    matrix = mass + step * by_qd + step**2 * by_q
    if held is not None:
        matrix[held] = np.eye(nv)[held]
    bad = kernels.dynamics.branches.factorize_tree(
        model.arrays, step, q, qd, qdd, mine, slopes[2], branches, tangents, spaces
    )
    assert bad == -1
    # round-off, amplified by the condition number of the matrix
    round_off = 1e-15 * np.linalg.cond(matrix)
    np.testing.assert_allclose(mine, tau, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.diag(slopes[2]), np.diag(mass), rtol=1e-12)
    for _ in range(2):  # factors are kept
        x = right.copy()
        kernels.dynamics.branches.solve_tree(model.arrays[0], branches, x)
        expected = np.linalg.solve(matrix, right)
        np.testing.assert_allclose(x, expected, rtol=0.0, atol=round_off * np.abs(expected).max())


def test_only_long_trees_alone_have_sparse_factors():
    assert branch_rows(chain(20, lambda index: JOINTS[0])) == 40
    assert branch_rows(chain(3, lambda index: JOINTS[0])) == 0
