"""What is told of a motion between its samples: where these do not tell it, and nothing of the samples is another."""

import numpy as np
import pytest

import physics as ph
from physics.contacts import Plane
from physics.errors import CancelledError, DivergedError
from physics.muscles import PathPoint
from physics.simulation.between_samples import PARTS, simulate_between
from tests.physics.small_models import alone

FRAME = 1.0 / 24.0


def stone(tilt: float) -> tuple[ph.Model, ph.State]:
    """A cube that falls on its edge, on ground in which it lies at once."""
    builder = alone("stone", ph.joints.Free(), inertia=0.04 / 6.0 * np.eye(3))
    corners = 0.1 * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    builder.add_contact("ground", "stone", corners, Plane(), friction=0.5)
    model = builder.build()
    return model, model.state([0.0, 0.0, 0.5, tilt, 0.0, 0.0])


@pytest.mark.parametrize("integrator", ["symplectic_euler", "linearly_implicit_euler"])
def test_samples_are_the_same_to_the_bit_and_hits_are_seen_between_them(integrator):
    model, state = stone(0.4)
    wishes = {"duration": 1.0, "dt": 1e-3, "integrator": integrator, "record_interval": FRAME}
    alone = ph.simulate(model, state, **wishes)
    result, seen = simulate_between(model, state, **wishes)
    for name in ("t", "q", "qd", "row_forces", "poses", "energy"):
        np.testing.assert_array_equal(getattr(result, name), getattr(alone, name))
    fine = ph.simulate(model, state, **{**wishes, "record_interval": FRAME / PARTS})
    assert 0 < len(seen.rows) < 15 and seen.missed.all()
    for row, poses in zip(seen.rows, seen.poses):
        np.testing.assert_array_equal(poses, fine.poses[PARTS * row + 1 : PARTS * (row + 1)])
    falls = np.flatnonzero(np.diff(alone.qd[:, 2]) > 0.0)[0]  # it is hit in this stretch
    assert falls in seen.rows and not (seen.rows < falls - 2).any()
    later = seen.behind(int(falls))
    assert later.rows[0] == 0 and len(later.poses) == len(later.missed) == (seen.rows >= falls).sum()


def test_what_swings_is_told_by_its_samples():
    model = alone("bob", ph.joints.Hinge((0, 1, 0)), com=(0, 0, -1.0), inertia=0.01 * np.eye(3)).build()
    wishes = {"duration": 2.0, "dt": 1e-3, "integrator": "rk4", "record_interval": FRAME}
    _, seen = simulate_between(model, model.state([1.0]), **wishes)
    assert seen.poses.shape == (0, PARTS - 1, 1, 4, 4) and seen.missed.shape == (0, 1)


def test_what_was_computed_of_a_motion_that_ends_early_has_its_samples_alone():
    model, state = stone(0.4)
    wishes = {"duration": 100.0, "dt": 1e-3, "integrator": "symplectic_euler", "record_interval": FRAME}

    def stop(fraction: float) -> bool:  # a call takes steps of 0.05 s: far fewer than all
        return fraction < 0.002

    with pytest.raises(CancelledError) as caught:
        simulate_between(model, state, progress=stop, **wishes)
    times = caught.value.result.t
    assert len(times) > 4 and np.allclose(np.diff(times), FRAME)

    model = alone("bead", ph.joints.Slider()).build()
    blown = ph.Table([0.0, 0.4, 0.5], [[0.0], [0.0], [1e308]])
    with pytest.raises(DivergedError) as diverged:
        simulate_between(model, model.state([0.0]), tau=blown, **wishes)
    with pytest.raises(DivergedError) as expected:
        ph.simulate(model, model.state([0.0]), tau=blown, **wishes)
    np.testing.assert_array_equal(diverged.value.result.t, expected.value.result.t)
    assert str(diverged.value) == str(expected.value)


def test_poses_without_the_energies_of_muscles_are_the_same_and_take_no_other_kernel(monkeypatch):
    """Data that can be written was compiled for anew: 12 s at the first bake."""
    from physics import dynamics
    from physics.kernels import layout
    from physics.kernels.dynamics import observe

    builder = alone("arm", ph.joints.Hinge((0, 1, 0)), com=(0, 0, -0.3), inertia=0.01 * np.eye(3))
    builder.add_muscle(
        "cord", [PathPoint(None, (0.1, 0, 0.5)), PathPoint("arm", (0.05, 0, -0.3))], mass=0.4, num_points=5
    )
    model = builder.build()
    q = np.zeros((3, model.num_coordinates))
    given, kernel = [], observe.observe

    def seen(arrays, *rest):
        given.append(arrays)
        return kernel(arrays, *rest)

    monkeypatch.setattr(observe, "observe", seen)
    poses, _ = dynamics.observe(model, q, q, anywhere=True)
    bare, _ = dynamics.observe(model, q, q, anywhere=True, muscles=False)
    np.testing.assert_array_equal(bare, poses)
    with_muscles, without = (arrays[3] for arrays in given)
    assert with_muscles[layout.MUSCLE_COUNT] > 0.0 and without[layout.MUSCLE_COUNT] == 0.0
    assert with_muscles.flags.writeable is without.flags.writeable is False
