"""Fast paths of single hinges and curves in the kinematics, with sines and polynomials in the workspace."""

import numpy as np
import pytest

import physics as ph
from physics.joints.packing import Workspace
from physics.kernels import layout
from physics.kernels.algebra.spatial import MANY_TURNS
from tests.physics.generators import random_inertia, random_pose, smooth_frames

# columns that persist between calls: prescribed motion, inertia of limits (0 without any)
KEPT = [layout.HELD, layout.GIVEN, layout.EXTRA, layout.COUPLED, layout.COUPLED + 1, layout.COUPLED + 2]


def hinges_and_curves(count: int, seed: int) -> tuple[ph.Model, ph.State]:
    """Two trees of hinges, every third body on a curve, some of them beyond its end."""
    rng = np.random.default_rng(seed)
    builder, q = ph.ModelBuilder(), np.empty(count)
    for i in range(count):
        joint: ph.joints.Joint = ph.joints.Hinge(rng.normal(size=3))
        q[i] = rng.uniform(-3.0, 3.0)
        if i % 3 == 2:
            joint = ph.joints.SplineCurve(smooth_frames(rng, 7))
            q[i] = rng.uniform(-0.2, 1.2) * joint.range[0, 1]
        builder.add_body(
            f"b{i}",
            f"b{i - 2}" if i > 1 else None,
            joint=joint,
            joint_in_parent=random_pose(rng),
            mass=1.0,
            com=(0.1, 0.0, 0.0),
            inertia=random_inertia(rng, 1.0),
        )
    model = builder.build()
    return model, model.state(q=q, qd=rng.normal(size=count))


def test_hinges_turn_by_their_angles_in_all_quarters_and_beyond_many_turns() -> None:
    rng = np.random.default_rng(0)
    quarters = np.arange(-8, 9) * np.pi / 2.0
    edges = np.concatenate([quarters, quarters + np.pi / 4.0, [-MANY_TURNS, MANY_TURNS]])
    aside = [np.nextafter(edges, side) for side in (-np.inf, np.inf)]
    far = [1e6, -12345678.9, 3e9, -1e15]  # the vectorized reduction loses all digits at the last
    angles = np.concatenate([edges, *aside, far, rng.uniform(-MANY_TURNS, MANY_TURNS, 200)])
    builder = ph.ModelBuilder()
    for i in range(len(angles)):
        builder.add_body(f"b{i}", joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    assert (model.arrays[0][:, layout.WAY] == layout.HINGE_WAY).all()
    poses = ph.body_poses(model, model.state(q=angles))
    # both sines within an ulp of 1 of NumPy's
    close = {"rtol": 0.0, "atol": 2.3e-16}
    np.testing.assert_allclose(poses[:, 0, 0], np.cos(angles), **close)
    np.testing.assert_allclose(poses[:, 1, 0], np.sin(angles), **close)


@pytest.mark.parametrize("count", [*range(1, 10), 13, 52])  # about whole registers, and whole rows, of sines
def test_what_a_call_left_in_the_workspace_is_not_read_by_the_next(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, state = hinges_and_curves(count, count)

    def found() -> list[np.ndarray]:
        energy = ph.energy(model, state)
        motion = ph.hybrid_dynamics(model, state, {model.coordinate_names[0]: 0.7})
        return [
            ph.body_poses(model, state),
            np.array([energy.kinetic, energy.potential]),
            ph.forward_dynamics(model, state),
            ph.inverse_dynamics(model, state, np.ones(count)),
            ph.mass_matrix(model, state),
            np.asarray(motion[0]),
        ]

    fresh, make = found(), ph.Model.workspace

    def used(self: ph.Model, moment_arms: bool = False) -> Workspace:
        workspace = make(self, moment_arms)
        kept = workspace.dof[:, KEPT].copy()
        workspace.work[...], workspace.dof[...] = np.nan, np.nan
        workspace.dof[:, KEPT] = kept
        return workspace

    monkeypatch.setattr(ph.Model, "workspace", used)
    for one, other in zip(fresh, found()):
        np.testing.assert_array_equal(one, other)
