"""Gradients through hard contacts: bodies that land, slide, roll and stand."""

import numpy as np
import pytest

import physics as ph
from physics import contacts
from physics.optimize import gradient as module
from physics.optimize.gradient import Motion, make_task
from tests.physics.optimize.problems import IMPLICIT, errors, everything_wanted, of_body, of_coordinate

INERTIA = np.diag([0.02, 0.03, 0.025])
FEET = np.array([[0.1, 0.0, -0.05], [-0.06, 0.08, -0.05], [-0.05, -0.08, -0.05]])
TILTED = ph.lie.exp(np.array([1.4, 0.2, 0.0, 0.0, 0.0, 0.0]))
WAVES = 0.1 * np.random.default_rng(0).normal(size=(6, 6))
#: obstacles below the origin, their poses, and the height from which a body falls on them by a millimetre
OBSTACLES = {
    "plane": (contacts.Plane(), np.eye(4), (0.0, 0.0, 0.0), 0.0758),
    "sphere": (contacts.Sphere(0.5), np.eye(4), (0.0, 0.0, -0.5), 0.0767),
    "capsule": (contacts.Capsule(0.3, 0.4), TILTED, (0.0, 0.0, -0.3), 0.0979),
    "box": (contacts.Box((0.05, 0.5, 0.2)), np.eye(4), (0.0, 0.0, -0.2), 0.0838),
    "field": (contacts.HeightField(WAVES, (0.4, 0.4)), np.eye(4), (-1.0, -1.0, -0.1), 0.0155),
}
LOWER = 0.0168  # that of a collider's sole than that of its points


def least_errors(task):
    """{parameter: error} by the best of three steps of the differences: shorter ones have more round-off, and longer
    ones reach over steps in which another set of contacts touches, sticks or slides.
    """
    found = [errors(task, share) for share in (1e-4, 1e-5, 3e-7)]
    return {each: min(off[each] for off in found) for each in found[0]}


def landing(kind, moving, integrator, colliders=False):
    """A body with a tail on a ball joint that slides over an obstacle, which a sprung body carries if moving."""
    rng, builder = np.random.default_rng(1), ph.ModelBuilder()
    springs = {"stiffness": np.repeat([2000.0, 50.0], 3), "damping": 2.0}
    free = ph.joints.Free()
    builder.add_body("floor", joint=free, mass=5.0, com=(0, 0, -0.1), inertia=20.0 * INERTIA, **springs)
    builder.add_body("top", joint=free, mass=2.0, com=(0.01, 0.02, 0.0), inertia=INERTIA)
    place = ph.lie.exp(np.array([0.1, 0.2, 0.3, 0.0, 0.1, 0.1]))
    tail = {"joint": ph.joints.Spherical(), "joint_in_parent": place, "damping": 0.1}
    builder.add_body("tail", "top", **tail, mass=0.5, com=(0, 0, 0.1), inertia=INERTIA)
    shape, turn, at, height = OBSTACLES[kind]
    pose, other = turn.copy(), "floor" if moving else None
    pose[:3, 3] = at
    if colliders:
        builder.add_collider("ground", other, shape, pose=pose, friction=0.4)
        own = contacts.Box((0.1, 0.08, 0.05)) if kind == "plane" else contacts.Sphere(0.06)
        builder.add_collider("sole", "top", own, friction=0.4)
        builder.add_collider("end", "tail", contacts.Sphere(0.05), friction=0.4)
    else:
        given = {"other": other, "pose": pose, "friction": 0.4}
        builder.add_contact("sole", "top", FEET, shape, radius=0.02, **given)
        builder.add_contact("end", "tail", [[0, 0, -0.05]], shape, radius=0.03, **given)
    model = builder.build()
    q, qd = np.zeros(15), 0.1 * rng.normal(size=15)
    q[8], q[9:12], q[12:], qd[6], qd[8] = height - LOWER * colliders, (0.1, -0.15, 0.2), 0.1, 0.5, -0.5
    if kind == "plane":
        q[9:12] = 0.04, -0.06, 0.2
    table = ph.Table([0.0, 0.1], 0.3 * rng.normal(size=(2, 15)))
    names = [model.coordinate_names[d] for d in (8, 9, 14)]
    parameters = [each for name in names for each in of_coordinate(name)]
    parameters += [*of_body("top"), *of_body("floor"), ph.Parameter("gravity")]
    wanted = everything_wanted(rng, "tail", names[-1])
    return make_task(
        Motion(model, model.state(q=q, qd=qd), 0.08, 1e-3, integrator, table), wanted, parameters
    )


CASES = [
    *((kind, True, False) for kind in OBSTACLES),
    ("plane", False, False),
    ("plane", False, True),
    ("sphere", True, True),
]


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize(
    "case", [CASES[1], *(pytest.param(case, marks=pytest.mark.slow) for case in (*CASES[:1], *CASES[2:]))]
)
def test_a_body_that_slides_over_an_obstacle(case, integrator):
    task = landing(*case[:2], integrator, case[2])
    assert task.whole().info["constraints"]["steps_with_contact"] > 0
    off = list(least_errors(task).values())
    # the best of differences whose round-off is that of the losses over their step
    assert np.median(off) < 2e-8 and max(off) < 2e-5, (case, off)
    assert not task.swept()[1].grazes


def figure(span):
    """Five links that fall on two feet of three points, and stand; steps in which they land may be solved in turns."""
    builder = ph.ModelBuilder()
    links = {
        "inertia": np.diag([0.01, 0.01, 0.002]),
        "com": (0, 0, -0.15),
        "stiffness": 200.0,
        "damping": 4.0,
    }
    builder.add_body("trunk", joint=ph.joints.Free(), mass=4.0, com=(0, 0, 0.2), inertia=INERTIA)
    for side, y in (("left", 0.1), ("right", -0.1)):
        hip, knee = np.eye(4), np.eye(4)
        hip[1, 3], knee[2, 3], hinge = y, -0.3, ph.joints.Hinge((0, 1, 0))
        builder.add_body(f"{side} thigh", "trunk", joint=hinge, joint_in_parent=hip, mass=1.0, **links)
        builder.add_body(
            f"{side} shank", f"{side} thigh", joint=hinge, joint_in_parent=knee, mass=0.8, **links
        )
        foot = [[0.12, 0, -0.32], [-0.06, 0.04, -0.32], [-0.06, -0.04, -0.32]]
        builder.add_contact(f"{side} foot", f"{side} shank", foot, contacts.Plane(), friction=0.6)
    model = builder.build()
    q, qd, names = np.zeros(10), np.zeros(10), model.coordinate_names
    q[2], q[4], q[6:], qd[0], qd[2] = 0.66, 0.02, (-0.05, 0.1, -0.08, 0.12), 0.1, -0.6
    torques = np.hstack([np.zeros((3, 6)), 2.0 * np.random.default_rng(0).normal(size=(3, 4))])
    wanted = ph.objectives.Reach("trunk", (0.1, 0.0, 0.7), point=(0.0, 0.0, 0.4))
    wanted = wanted + 0.01 * ph.objectives.Rest() + ph.objectives.Pose({names[7]: 0.2})
    parameters = [*of_coordinate(names[7]), *of_coordinate(names[9]), *of_body("trunk")]
    motion = Motion(
        model, model.state(q=q, qd=qd), span, 1e-3, "bdf1", ph.Table([0, span / 2, span], torques)
    )
    return make_task(motion, wanted, parameters)


@pytest.mark.parametrize("span", [0.05, pytest.param(0.1, marks=pytest.mark.slow)])
def test_a_figure_that_lands_on_its_feet_and_stands(span, monkeypatch):
    task = figure(span)
    assert (task.whole().info["repeated"] > 0) == (span == 0.05)  # with these torques
    off = list(least_errors(task).values())
    # sticking feet share impulses in many ways: their solver ends at a residual of about 1e-12
    assert np.median(off) < 1e-6 and max(off) < 1e-4, off
    whole = task.gradient()
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    for parameter, slope in task.gradient().by_parameter.items():
        expected = whole.by_parameter[parameter]
        assert np.allclose(slope, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def ball_on(points, spin, friction):
    """The gradient of a ball, or of a block on points, that moves and turns on a plane; state and model."""
    builder = ph.ModelBuilder()
    builder.add_body("block", joint=ph.joints.Free(), mass=1.0, inertia=np.diag([0.02, 0.02, 0.02]))
    builder.add_contact("sole", "block", points, contacts.Plane(), radius=0.1, friction=friction)
    model = builder.build()
    state = model.state(q=[0, 0, 0.1, 0, 0, 0], qd=[0.5, 0.1, 0.0, 0.0, 0.0, spin])
    given = {"integrator": "bdf1", "objective": ph.objectives.Reach("block", (0.2, 0.0, 0.1))}
    speed = [ph.Parameter("speed", "block.x"), ph.Parameter("speed", "block.r_y")]
    return ph.gradient(model, state, 0.1, 1e-3, parameters=speed, **given), state, model


def test_a_ball_that_rolls_keeps_a_share_of_its_speed():
    """Friction that makes a ball stick leaves it m r^2 / (m r^2 + I) of its speed, and the rest of its rim's."""
    found, state, model = ball_on([[0.0, 0.0, 0.0]], 0.0, 100.0)
    end, kept = ph.simulate(model, state, 0.1, 1e-3, "bdf1").q[-1], 0.01 / (0.01 + 0.02)
    expected = 2.0 * (end[0] - 0.2) * 0.1 * np.array([kept, (1.0 - kept) * 0.1])
    # the rotation vector's implicit steps take a little of the spin
    assert np.allclose(list(found.by_parameter.values()), expected, rtol=1e-4) and not found.one_sided


def test_four_points_that_slide_and_turn_are_one_sided():
    """The motion depends on how a simulation shares the weight among the points; without a turn it does not."""
    corners = [[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    assert len(ball_on(corners, 2.0, 0.1)[0].one_sided) == 2
    assert ball_on(corners, 0.0, 0.1)[0].one_sided == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_random_trees_that_fall_on_a_tilted_plane(seed):
    rng, builder, names = np.random.default_rng(seed), ph.ModelBuilder(), ["base"]
    builder.add_body("base", joint=ph.joints.Free(), mass=2.0, com=0.05 * rng.normal(size=3), inertia=INERTIA)
    hinges = [ph.joints.Hinge(rng.normal(size=3)) for _ in range(2)]
    for joint in (*hinges, ph.joints.Spherical(), ph.joints.Slider(rng.normal(size=3))):
        place = ph.lie.exp(np.append(0.3 * rng.normal(size=3), 0.2 * rng.normal(size=3)))
        given = {"joint": joint, "joint_in_parent": place, "com": 0.1 * rng.normal(size=3), "damping": 0.2}
        names.append(f"body_{len(names)}")
        builder.add_body(
            names[-1], names[rng.integers(len(names) - 1)], **given, mass=0.5, inertia=INERTIA, stiffness=5.0
        )
    pose, points = (
        ph.lie.exp(np.append(0.1 * rng.normal(size=3), np.zeros(3))),
        0.15 * rng.normal(size=(5, 3)),
    )
    for name, point in zip(names, points):
        given = {"radius": 0.02, "friction": rng.uniform(0.1, 0.8), "pose": pose}
        builder.add_contact(name, name, [point], contacts.Plane(), **given)
    model = builder.build()
    q, qd = 0.1 * rng.normal(size=(2, model.num_coordinates))
    q[:3] = 0.0
    places = ph.body_poses(model, model.state(q=q))
    lowest = min(float(pose[:3, 2] @ (x[:3, :3] @ p + x[:3, 3])) for x, p in zip(places, points))
    q[:3] = (0.03 - lowest) * pose[:3, 2]
    name = model.coordinate_names[-1]
    motion = Motion(model, model.state(q=q, qd=qd), 0.12, 2e-3, IMPLICIT[seed % 2])
    parameters = [*of_coordinate(name), *of_body("body_2"), ph.Parameter("gravity")]
    task = make_task(motion, everything_wanted(rng, "body_3", name), parameters)
    assert task.whole().info["constraints"]["steps_with_contact"] > 5
    off = list(least_errors(task).values())
    assert np.median(off) < 5e-8 and max(off) < 5e-6, off
