"""Points and frames of bodies that are led along given motions."""

import pickle

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


def tip_of(model, q, where=(LENGTH, 0.0, 0.0)):
    return (ph.body_poses(model, model.state(q))[-1] @ [*where, 1.0])[:3]


@pytest.mark.parametrize("integrator", ["rk4", "bdf1", "sdirk2", "DOP853"])
def test_a_led_tip_follows_and_its_force_makes_the_same_motion(integrator):
    builder = arm()
    builder.add_target("tip", "lower", point=(LENGTH, 0.0, 0.0))
    model, start = builder.build(), [-0.9, 0.8]
    times = np.linspace(0.0, 1.0, 101)
    path = circle(times) - circle(0.0) + tip_of(model, start)
    options = {"integrator": integrator, "motions": {"tip": ph.Motion(times, path)}}
    result = ph.simulate(model, model.state(start), 1.0, record_interval=0.01, **options)
    tips = result.poses[:, 1] @ np.array([LENGTH, 0.0, 0.0, 1.0])
    assert np.abs(tips[:, :3] - path).max() < (1e-6 if integrator == "DOP853" else 1e-9)  # its tolerance
    # the constraint's force is what inverse dynamics of the arm asks for at the tip
    k = 40
    state = model.state(result.q[k], result.qd[k])
    step = 1e-2
    qdd = (result.qd[k + 1] - result.qd[k - 1]) / (2.0 * step)
    tau = ph.inverse_dynamics(model, state, qdd)
    rows = ph.constraints.PointConstraint("lower", point=(LENGTH, 0.0, 0.0)).jacobian(model, state)
    force = result.constraint_forces["tip"][k]
    assert np.abs(rows.T @ force - tau).max() < 2e-3 * np.abs(tau).max()  # differences of 10 ms


def test_coordinates_forces_and_results_are_without_targets():
    builder = arm()
    builder.add_input("pull", 1.0)
    builder.add_constraint("wall", ph.constraints.PointConstraint("upper"))
    builder.add_target("idle", "lower", frame=np.eye(4))
    builder.add_target("tip", "lower", point=(LENGTH, 0.0, 0.0))
    model = builder.build()
    assert model.coordinate_names == ("upper.angle", "lower.angle") and model.num_bodies == 2
    start = model.state([-0.9, 0.8], [0.3, -0.2])
    drop = ph.simulate(model, start, 0.1)  # a target without a motion does nothing
    bare = ph.simulate(model.altered(targets={}), start, 0.1)
    assert np.array_equal(drop.q, bare.q)
    assert drop.row_forces.shape[1] == 3 + 6 + 3 and not drop.constraint_forces["tip"].any()
    # its own motion leads it with next to no force, and asks tau for the model's coordinates alone
    tips = bare.poses[:, 1] @ [LENGTH, 0.0, 0.0, 1.0]
    motions = {"tip": ph.Motion(bare.t, tips[:, :3])}
    tables = np.zeros(2), np.zeros(3), lambda t, q, qd: np.zeros(3 if len(q) == len(qd) == 2 else 99)
    for tau in (*tables, ph.Table([0.0, 1.0], np.zeros((2, 3)))):
        led = ph.simulate(model, start, 0.1, tau=tau, motions=motions)
        assert led.q.shape == led.qd.shape == led.efforts.shape == bare.q.shape
        assert led.poses.shape == bare.poses.shape and led.row_forces.shape[1] == 3 + 6 + 3
        assert np.abs(led.q - bare.q).max() < 1e-5  # the spline's error over steps of 1 ms
        assert not led.constraint_forces["idle"].any() and led.constraint_forces["tip"].any()
    many = ph.simulate_many(model, [start], 0.1, motions=motions, threads=1)[0]
    assert many.model == model and np.array_equal(many.q, led.q)


def test_a_target_is_saved_and_files_of_old_ones_have_their_bodies(tmp_path):
    builder = arm()
    builder.add_target("tip", "lower", point=(LENGTH, 0.0, 0.0), at=pose((0.1, 0.0, 0.0), (0.0, 0.3, 0.0)))
    model = builder.build()
    start = model.state([-0.9, 0.8])
    ph.save_model(model, tmp_path / "arm.json", start)
    again = ph.load_model(tmp_path / "arm.json").model
    assert again == model and again.targets["tip"].to_dict() == model.targets["tip"].to_dict()
    assert model != model.altered(targets={}) and pickle.loads(pickle.dumps(model)) == model
    place = (np.linalg.inv(model.targets["tip"].at) @ [*tip_of(model, start.q), 1.0])[:3]
    result = ph.simulate(model, start, 0.1, motions={"tip": ph.Motion([0.0], place[None])})
    ph.save_result(result, tmp_path / "arm.npz")
    loaded = ph.load_result(tmp_path / "arm.npz")
    assert np.array_equal(loaded.constraint_forces["tip"], result.constraint_forces["tip"])
    # as released versions wrote it: a body with a constraint
    old = arm()
    old.add_body("tip", joint=ph.joints.Translational(), mass=1e-9, inertia=1e-9 * np.eye(3))
    old.add_constraint("tip", ph.constraints.PointConstraint("lower", "tip", point=(LENGTH, 0.0, 0.0)))
    ph.save_model(old.build(), tmp_path / "old.json")
    model = ph.load_model(tmp_path / "old.json").model
    assert model.num_coordinates == 5
    state = ph.assemble(model, model.state([-0.9, 0.8, *tip_of(arm().build(), [-0.9, 0.8])]))
    led = ph.simulate(model, state, 0.1, motions={"tip": ph.Motion([0.0], state.q[None, 2:])})
    assert np.abs(led.q[:, :2] - result.q).max() < 1e-9


def test_bodies_go_to_where_motions_begin_if_they_are_asked_to():
    builder = arm()
    builder.add_target("tip", "lower", point=(LENGTH, 0.0, 0.0))
    model = builder.build()
    motions = {"tip": ph.Motion([0.0, 1.0], [circle(0.0), circle(0.0)])}
    start = model.state([-0.9, 0.8])
    with pytest.raises(ph.ModelError, match="target 'tip' begins "):
        ph.simulate(model, start, 0.1, motions=motions)
    result = ph.simulate(model, start, 0.1, motions=motions, assemble=True)
    assert np.abs(tip_of(model, result.q[0]) - circle(0.0)).max() < 1e-9


@pytest.mark.parametrize("led", ["point", "frame"])
def test_a_target_in_the_plane_moves_as_one_in_space(led):
    """With the forces of one, of which those across the plane are 0."""
    times, found = np.linspace(0.0, 0.5, 51), {}
    for planar in (False, True):
        builder = arm()
        if led == "frame":
            bar(builder, "hand", "lower", 0.1, LENGTH)
        tip = (LENGTH if led == "point" else 0.1, 0.0, 0.0)
        place = {"point": tip} if led == "point" else {"frame": pose(tip, (0.0, 0.0, 0.0))}
        builder.add_target("tip", builder.bodies[-1].name, **place, planar=planar)
        model = builder.build()
        start = model.state([-0.9, 0.8] if led == "point" else [-0.9, 0.8, 0.5])
        more = np.zeros((len(times), 0 if led == "point" else 3))
        if led == "frame":
            more[:, 2] = 0.4 + 0.3 * times
        path = np.concatenate([circle(times) - circle(0.0) + tip_of(model, start.q, tip), more], axis=1)
        path = path[:, [0, 1, 5][: 2 if led == "point" else 3]] if planar else path
        result = ph.simulate(model, start, 0.5, integrator="rk4", motions={"tip": ph.Motion(times, path)})
        found[planar] = result.q, result.constraint_forces["tip"]
    # round-off of constraints solved with one row more or less, over 500 steps
    assert np.abs(found[True][0] - found[False][0]).max() < 1e-7


@pytest.mark.parametrize("integrator", ["rk4", "DOP853", "Radau", "event_driven"])
def test_a_path_that_begins_with_speed_takes_what_rests_along_at_once(integrator):
    builder = arm()
    bar(builder, "hand", "lower", LENGTH, LENGTH)
    builder.add_target("tip", "hand", point=(LENGTH, 0.0, 0.0))
    model = builder.build()
    q = [-0.9, 0.8, 0.6]
    times = np.linspace(0.0, 0.4, 5)
    path = ph.Motion(times, tip_of(model, q) + np.outer(times, [0.3, -0.2, 0.0]))
    rest = model.state(q)
    # what an impulse on the tip makes of the arm's velocities, by the mass matrix
    rows = ph.constraints.PointConstraint("hand", point=(LENGTH, 0.0, 0.0)).jacobian(model, rest)[:2]
    answers = np.linalg.solve(ph.mass_matrix(model, rest), rows.T)
    moving = model.state(q, answers @ np.linalg.solve(rows @ answers, [0.3, -0.2]))

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
    state = model.state()
    place = model.targets["hand"].coordinates(np.eye(4))
    result = ph.simulate(model, state, 0.2, motions={"hand": ph.Motion([0.0], place[None])})
    assert np.abs(result.q - state.q).max() < 1e-9
    weight = np.linalg.norm(result.constraint_forces["hand"][-1][:3])
    assert abs(weight - 2.0 * 9.81) < 1e-5


def test_bad_targets_are_named():
    builder = arm()
    with pytest.raises(ph.ModelError, match="needs either a point or a frame"):
        builder.add_target("tip", "lower")
    with pytest.raises(ph.ModelError, match="body 'hand' of target 'tip' is missing"):
        builder.add_target("tip", "hand", point=(0, 0, 0))
    assert len(builder.bodies) == 2 and not builder.targets
    builder.add_target("tip", "lower", point=(0, 0, 0))
    with pytest.raises(ph.ModelError, match="target named 'tip' already"):
        bar(builder, "tip", None, LENGTH, 0.0)
