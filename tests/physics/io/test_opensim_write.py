"""Models written for OpenSim and read again, and what is refused; OpenSim's own reading is among the peers' tests."""

import numpy as np
import pytest

import physics as ph
from physics.io.opensim_out import angles, expression
from tests.physics.generators import random_inertia, random_pose, random_rotation

j, mus = ph.joints, ph.muscles
CURVE = j.CubicSpline([-1.0, 0.0, 0.5, 1.0], [0.1, 0.0, 0.03, 0.2])


def chain(**changes):
    """Three bodies on joints that OpenSim has, with names that it has not."""
    rng = np.random.default_rng(2)
    builder = ph.ModelBuilder(gravity=(0, -9.81, 0))
    solid = {"mass": 2.0, "com": rng.normal(size=3) * 0.1, "inertia": random_inertia(rng, 2.0)}
    builder.add_body(
        "upper arm", joint=j.Hinge(rng.normal(size=3)), joint_in_parent=random_pose(rng), **solid
    )
    axes = [
        (axis, CURVE if k == 4 else j.Linear(), "bend" if k < 5 else "slide")
        for k, axis in enumerate((*np.eye(3), *np.eye(3)))
    ]
    joint = j.Custom(("bend", "slide"), tuple(axes[:3]), tuple(axes[3:]), ("rad", "m"))
    limits = [(-0.5, 1.5), (None, 0.3)]
    options = {"joint_in_parent": random_pose(rng), "body_in_joint": random_pose(rng, 0.2), "limits": limits}
    builder.add_body("lower arm", "upper arm", joint=joint, **options, **solid, **changes)
    builder.add_body("hand", "lower arm", joint=j.Inverted(j.Slider((0, 1, 0))), limits=(0.1, 0.1), **solid)
    return builder


def again(builder, tmp_path, **options):
    model = builder.build()
    report = ph.write_opensim(model, tmp_path / "m.osim", tolerance=options.pop("tolerance", 1e-6))
    read = ph.read_opensim(tmp_path / "m.osim", **options)
    assert not read.warnings
    return model, report, read, read.build()


def states(model, report, read, back, seed=0):
    """The same state of both models."""
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-0.3, 0.3, (2, model.num_coordinates))
    q[model.prescribed], qd[model.prescribed] = 0.1, 0.0
    places = [model.coordinate_names.index(ours) for ours in report.coordinates]
    theirs = [
        back.coordinate_index(read.coordinates[name].coordinate) for name in report.coordinates.values()
    ]
    other, speeds = np.zeros((2, back.num_coordinates))
    other[theirs], speeds[theirs] = q[places], qd[places]
    return model.state(q, qd), back.state(other, speeds)


def test_bodies_coordinates_springs_and_laws(tmp_path):
    """Poses and accelerations are the same; limits are not forces in OpenSim, so they are read as none."""
    laws = {
        "stiffness": [3.0, 0.0],
        "damping": 0.4,
        "rest": [0.2, 0.0],
        "viscosity": [j.Polynomial([0.1, 0.0, 2.0]), None],
    }
    laws["elastic"] = [
        j.Polynomial([0.0, 1.0, 0.0, 4.0]),
        j.CubicSpline([-1.0, 0.0, 1.0, 2.0], [-5.0, 0.0, 2.0, 9.0]),
    ]
    laws["damper"] = [None, j.PiecewiseLinear([-1.0, 0.0, 2.0], [-3.0, 0.0, 1.0])]
    builder = chain(**laws)
    builder.add_spring("a rope", "hand", (0, 0, 0.1), None, (1, 0, 0), stiffness=30.0, rest_length=0.2)
    builder.add_spring(
        "b", "hand", (0, 0.1, 0), "upper arm", (0, 0, 1), stiffness=20.0, damping=2.0, rest_length=0.1
    )
    model, report, read, back = again(builder, tmp_path, limits=False)
    assert report.bodies["upper arm"] == "upper_arm" and not report.errors and len(report.notes) == 1
    assert report.coordinates["lower arm.bend"] == "bend" and read.coordinates["bend"].range == (-0.5, 1.5)
    assert read.coordinates[report.coordinates["hand.distance"]].locked
    assert np.array_equal(back.gravity, model.gravity)
    first, second = states(model, report, read, back)
    poses = dict(zip(back.body_names, ph.body_poses(back, second)))
    for name, pose in zip(model.body_names, ph.body_poses(model, first)):
        assert np.abs(poses[report.bodies[name]] - pose).max() < 1e-13
    ours, theirs = ph.forward_dynamics(model, first), ph.forward_dynamics(back, second)
    for name, other in report.coordinates.items():
        k = back.coordinate_index(read.coordinates[other].coordinate)
        assert theirs[k] == pytest.approx(ours[model.coordinate_index(name)], rel=1e-9, abs=1e-9)


def test_muscles_keep_their_paths_and_laws(tmp_path):
    builder = chain()
    ends = mus.PathPoint(None, (0.1, 0.5, 0.0)), mus.PathPoint("hand", (0.0, 0.1, 0.0))
    numbers = {"max_isometric_force": 100.0, "optimal_fibre_length": 0.1, "tendon_slack_length": 0.3}
    moving = mus.PathPoint("lower arm", (mus.Moving("lower arm.bend", CURVE), 0.1, 0.0))
    there = mus.PathPoint("lower arm", (0.1, 0.1, 0.0), mus.Condition("lower arm.bend", -0.2, 0.7))
    ball = mus.Sphere(
        body="upper arm", radius=0.05, side="-y", frame=random_pose(np.random.default_rng(1), 0.1)
    )
    tube = mus.Cylinder(body=None, radius=0.03, side=(2.0, 0.0, 0.0))
    builder.add_muscle(
        "m 1", [ends[0], moving, there, ends[1]], law=mus.Millard(**numbers, pennation=0.2), activation=0.3
    )
    builder.add_muscle(
        "m2", [ends[0], mus.Wrap((ball, tube)), ends[1]], law=mus.Thelen(**numbers, rigid_tendon=True)
    )
    builder.add_muscle("m3", [ends[0], mus.Wrap((ball,)), ends[1]], law=mus.Tension(7.0))
    cord = mus.Cord(
        j.PiecewisePolynomial([0.0, 0.4, 9.0], [[0.0, 0.0], [0.0, 50.0]]),
        j.Linear(1.0),
    )
    builder.add_muscle("m4", ends, law=cord, excitation=0.0)
    _, report, read, back = again(builder, tmp_path)
    first, second, third, fourth = back.muscles
    assert list(report.muscles.values()) == ["m_1", "m2", "m3", "m4"] and sorted(read.wrap_objects) == [
        "cylinder",
        "sphere",
    ]
    assert first.law == mus.Millard(
        **numbers, pennation=0.2, passive_stiffness=2.0 / 0.7, tendon_stiffness=1.375 / 0.049
    )
    assert second.law == mus.Thelen(**numbers, rigid_tendon=True) and first.activation == 0.3
    assert third.law == mus.Tension(7.0)
    assert first.points[1].position[0].function == CURVE and first.points[2].condition.upper == 0.7
    found = read.wrap_objects["sphere"]
    assert found.quadrant == "-y" and np.abs(found.frame.pose - ball.frame).max() < 1e-15
    assert read.wrap_objects["cylinder"].quadrant == "x"
    for length, speed in ((0.3, 1.0), (0.6, 0.7), (0.6, -0.7)):
        assert fourth.law.force(length, speed) == pytest.approx(cord.force(length, speed), abs=1e-9)


def test_a_muscle_of_schuttes(tmp_path):
    builder, numbers = (
        chain(),
        {"max_isometric_force": 9.0, "optimal_fibre_length": 0.1, "tendon_slack_length": 0.3},
    )
    ends = mus.PathPoint(None, (0.1, 0.5, 0.0)), mus.PathPoint("hand", (0.0, 0.1, 0.0))
    builder.add_muscle("m", ends, law=mus.Schutte(**numbers, minimum_activation=0.1))
    _, report, _, back = again(builder, tmp_path)
    assert "minimum_activation of Schutte's muscles is not written" in report.notes
    assert back.muscles[0].law.activation_time == pytest.approx(
        mus.Schutte(**numbers).activation_time, rel=1e-15
    )
    builder.add_muscle("slow", ends, law=mus.Schutte(**numbers, activation_time=0.2))
    with pytest.raises(
        ph.ModelError, match="muscle 'slow': its activation_time exceeds its deactivation_time"
    ):
        ph.write_opensim(builder.build(), tmp_path / "m.osim", tolerance=1e-6)


def test_constraints(tmp_path):
    builder = chain()
    c = ph.constraints
    builder.add_constraint("rod 1", c.DistanceConstraint("hand", None, (0, 0, 0.1), (0.3, 0, 0), 0.5))
    builder.add_constraint("pin", c.PointConstraint("hand", "upper arm", (0, 0, 0.1), (0.3, 0, 0)))
    pose = random_pose(np.random.default_rng(3))
    builder.add_constraint("weld", c.WeldConstraint("hand", "upper arm", pose, pose))
    drivers = {"lower arm.bend": 0.5, "upper arm.angle": 2.0}
    builder.add_constraint("gear", c.CouplingConstraint("lower arm.slide", drivers, j.Linear(3.0, 0.1)))
    model, report, read, back = again(builder, tmp_path)
    first, second = states(model, report, read, back)
    for ours, theirs in zip(model.constraints.values(), back.constraints.values()):
        assert np.allclose(ours.value(model, first), theirs.value(back, second), atol=1e-13)


def test_what_the_format_lacks_is_named_before_anything_is_written(tmp_path):
    builder = chain(armature=0.1)
    builder.add_force("push", "hand", (1, 0, 0), 3.0)
    path = [mus.PathPoint(None, (0, 0, 0)), mus.PathPoint("hand", (0, 0, 0))]
    builder.add_muscle("heavy", path, mass=0.1)
    ball = mus.Sphere(radius=0.1, side="+x", always=True)
    builder.add_muscle("sided", [path[0], mus.Wrap((ball,)), path[1]], law=mus.Tension(1.0))
    builder.add_constraint("loop", ph.constraints.HingeConstraint("hand", None))
    file = tmp_path / "m.osim"
    file.write_text("before")
    with pytest.raises(ph.ModelError) as told:
        ph.write_opensim(builder.build(), file, tolerance=1e-6)
    for part in ("'lower arm'", "armature", "'push'", "'heavy'", "'sided'", "'loop'"):
        assert part in str(told.value)
    assert file.read_text() == "before" and list(tmp_path.iterdir()) == [file]


def test_a_fitted_joint_within_its_tolerance_or_refused(tmp_path):
    builder = ph.ModelBuilder()
    joint = j.Elliptic(0.2, 0.1)
    builder.add_body("a", joint=joint, mass=1.0, inertia=np.eye(3), limits=(-1.0, 2.0))
    model, report, _, back = again(builder, tmp_path, tolerance=1e-7)
    assert 0.0 < report.errors["a"] <= 1e-7
    for q in np.linspace(-1.0, 2.0, 50):
        apart = ph.body_poses(back, back.state([q]))[0] - ph.body_poses(model, model.state([q]))[0]
        assert np.abs(apart).max() < 1.5 * report.errors["a"]
    with pytest.raises(ph.ModelError, match=r"'a'.*tolerance 1e-15"):
        ph.write_opensim(model, tmp_path / "m.osim", tolerance=1e-15)


def test_angles_of_rotations_near_gimbal_lock():
    """Two angles are badly determined there; the rotation that all three make is not."""
    rng = np.random.default_rng(4)
    for tilt in (0.3, 0.5 * np.pi - 1e-7, 0.5 * np.pi, -0.5 * np.pi):
        x, y, z = np.eye(3)
        turn = ph.lie.so3_exp(rng.normal() * x) @ ph.lie.so3_exp(tilt * y) @ ph.lie.so3_exp(rng.normal() * z)
        a, b, c = angles(turn)
        found = ph.lie.so3_exp(a * x) @ ph.lie.so3_exp(b * y) @ ph.lie.so3_exp(c * z)
        assert np.abs(found - turn).max() < 1e-15
    assert np.abs(angles(random_rotation(rng))).max() < 4.0


def test_expressions_that_are_too_long():
    with pytest.raises(ph.ModelError, match="cubic_spline"):
        expression(j.CubicSpline(np.arange(40.0), np.zeros(40)), "q")
