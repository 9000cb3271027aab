"""Points and frames of bodies that are led along given motions."""

import numpy as np
import pytest

import physics as ph
from tests.physics.constraints.mechanisms import bar, pose
from tests.physics.small_models import alone

LENGTH = 0.5


def arm():
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    bar(builder, "upper", None, LENGTH, 0.0)
    bar(builder, "lower", "upper", LENGTH, LENGTH)
    return builder


def circle(t):
    angle = 2.0 * t**2
    return np.stack([0.6 + 0.1 * np.cos(angle), -0.3 + 0.1 * np.sin(angle), 0.0 * t], axis=-1)


@pytest.mark.parametrize("integrator", ["rk4", "bdf1", "sdirk2"])
def test_a_led_tip_follows_and_its_force_makes_the_same_motion(integrator):
    builder = arm()
    builder.add_target("tip", "lower", point=(LENGTH, 0.0, 0.0))
    model = builder.build()
    times = np.linspace(0.0, 1.0, 101)
    path = circle(times)
    start = ph.assemble(model, model.state([-0.9, 0.8, *path[0]]))
    # the target must begin where the path does: the arm goes there, not the target
    q = np.array(start.q)
    options = {"integrator": integrator, "motions": {"tip": ph.Motion(times, path - path[0] + q[2:])}}
    result = ph.simulate(model, start, 1.0, record_interval=0.01, **options)
    tips = result.poses[:, 1] @ np.array([LENGTH, 0.0, 0.0, 1.0])
    assert np.abs(tips[:, :3] - (path - path[0] + q[2:])).max() < 1e-9
    # the constraint's force is what inverse dynamics of the bare arm asks for at the tip
    bare = arm().build()
    k = 40
    state = bare.state(result.q[k, :2], result.qd[k, :2])
    step = 1e-2
    qdd = (result.qd[k + 1, :2] - result.qd[k - 1, :2]) / (2.0 * step)
    tau = ph.inverse_dynamics(bare, state, qdd)
    rows = ph.constraints.PointConstraint("lower", point=(LENGTH, 0.0, 0.0)).jacobian(bare, state)
    force = result.constraint_forces["tip"][k]
    assert np.abs(rows.T @ force - tau).max() < 2e-3 * np.abs(tau).max()  # differences of 10 ms


@pytest.mark.parametrize("led", ["point", "frame"])
def test_a_target_in_the_plane_moves_as_one_in_space(led):
    """With the forces of one, of which those across the plane are 0."""
    times, found = np.linspace(0.0, 0.5, 51), {}
    angles = 0.4 + 0.3 * times
    for planar in (False, True):
        builder = arm()
        if led == "frame":
            bar(builder, "hand", "lower", 0.1, LENGTH)
        tip = (LENGTH if led == "point" else 0.1, 0.0, 0.0)
        place = {"point": tip} if led == "point" else {"frame": pose(tip, (0.0, 0.0, 0.0))}
        builder.add_target("tip", builder.bodies[-1].name, **place, planar=planar)
        model = builder.build()
        more = np.zeros((len(times), 0 if led == "point" else 3))
        if led == "frame":
            more[:, 2] = angles
        path = np.concatenate([circle(times), more], axis=1)
        path = path[:, [0, 1, 5][: 2 if led == "point" else 3]] if planar else path
        free = [-0.9, 0.8] if led == "point" else [-0.9, 0.8, 0.5]
        start = ph.assemble(model, model.state([*free, *path[0]]))
        moved = path - path[0] + np.array(start.q)[len(free) :]
        result = ph.simulate(model, start, 0.5, integrator="rk4", motions={"tip": ph.Motion(times, moved)})
        found[planar] = result.q[:, : len(free)], result.constraint_forces["tip"]
        assert model.num_coordinates == len(free) + path.shape[1]
    # round-off of constraints solved with one row more or less, over 500 steps
    assert np.abs(found[True][0] - found[False][0]).max() < 1e-7


@pytest.mark.parametrize("integrator", ["rk4", "DOP853", "Radau", "event_driven"])
def test_a_path_that_begins_with_speed_takes_what_rests_along_at_once(integrator):
    builder = arm()
    bar(builder, "hand", "lower", LENGTH, LENGTH)
    builder.add_target("tip", "hand", point=(LENGTH, 0.0, 0.0))
    model = builder.build()
    q = [-0.9, 0.8, 0.6]
    tip = (ph.body_poses(model, model.state([*q, 0.0, 0.0, 0.0]))[2] @ [LENGTH, 0.0, 0.0, 1.0])[:3]
    times = np.linspace(0.0, 0.4, 5)
    path = ph.Motion(times, tip + np.outer(times, [0.3, -0.2, 0.0]))
    rest = model.state([*q, *tip])
    # what an impulse on the tip makes of the arm's velocities, by the mass matrix
    rows = model.constraints["tip"].jacobian(model, rest)[:2, :3]
    answers = np.linalg.solve(ph.mass_matrix(model, rest)[:3, :3], rows.T)
    led = answers @ np.linalg.solve(rows @ answers, [0.3, -0.2])
    moving = model.state(rest.q, [*led, 0.3, -0.2, 0.0])

    def end(state, name, dt=1e-3, **options):
        return ph.simulate(model, state, 0.4, dt, name, motions={"tip": path}, **options).q[-1]

    exact = end(moving, "DOP853", rtol=1e-11, atol=1e-12)
    assert np.abs(exact - end(moving, "rk4")).max() < 1e-9
    off = [np.abs(end(rest, integrator, dt) - exact).max() for dt in (1e-3, 5e-4)]
    if integrator == "rk4":  # spreads the leap over its first step: of first order in it
        assert off[0] < 1e-4
        assert off[0] / off[1] > 1.9
    else:
        assert max(off) < 1e-6  # their tolerance


def test_a_led_frame():
    builder = alone("box", ph.joints.Free(), mass=2.0)
    builder.add_target("hand", "box", frame=pose((0.1, 0.0, 0.0), (0.0, 0.3, 0.0)))
    model = builder.build()
    state = ph.assemble(model, model.state())
    held = ph.Motion([0.0], state.q[None, 6:])
    result = ph.simulate(model, state, 0.2, motions={"hand": held})
    assert np.abs(result.q - state.q).max() < 1e-9
    weight = np.linalg.norm(result.constraint_forces["hand"][-1][:3])
    assert abs(weight - 2.0 * 9.81) < 1e-5


def test_bad_targets_are_named():
    builder = arm()
    with pytest.raises(ph.ModelError, match="needs either a point or a frame"):
        builder.add_target("tip", "lower")
    with pytest.raises(ph.ModelError, match="body 'hand' of target 'tip' is missing"):
        builder.add_target("tip", "hand", point=(0, 0, 0))
    assert len(builder.bodies) == 2
