"""Colliders in motion: stacks that stand, momentum, energy, friction; and their descriptions."""

import json

import numpy as np
import pytest

import physics as ph
from physics import io
from physics.contacts import Box, Capsule, Convex, HeightField, Plane, Sphere, TriangleMesh
from physics.errors import FormatError, ModelError
from tests.physics.contacts.shapes import KINDS, boxes, found_at, free_builder, pair, shape
from tests.physics.generators import random_pose

HALF = 0.1
STEP = 1e-3


def stacked(count: int, offset: tuple[float, float]) -> tuple[ph.Model, ph.State]:
    """Boxes of equal width, every second one moved aside."""
    model = boxes(count, HALF)
    q = np.zeros((count, 6))
    q[1::2, :2] = offset
    q[:, 2] = HALF * (1.0 + 2.0 * np.arange(count))
    return model, model.state(q=q.ravel())


def creep(model: ph.Model, state: ph.State, duration: float) -> float:
    result = ph.simulate(model, state, duration=duration, dt=STEP)
    assert result.info["constraints"]["residual"] < 1e-9
    return float(np.abs(result.q - state.q).max())


@pytest.mark.parametrize("offset", [(0.03, 0.01), (0.0, 0.0), (0.09, 0.09)])
def test_a_box_on_a_box_of_the_same_width_stays(offset):
    # at rest nothing moves but by round-off of 1e-15 a step
    assert creep(*stacked(2, offset), 1.0) < 1e-11


def test_ten_boxes_with_small_offsets_stand():
    assert creep(*stacked(10, (0.002, 0.001)), 0.5) < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("offset", [(0.002, 0.0), (0.002, 0.002)])
def test_ten_boxes_with_small_offsets_stand_for_a_minute(offset):
    assert creep(*stacked(10, offset), 60.0) < 1e-6


def test_a_box_beyond_the_edge_of_the_one_below_tips():
    model, state = stacked(2, (0.11, 0.0))
    result = ph.simulate(model, state, duration=0.3, dt=STEP)
    assert result.q[-1, 8] < 0.29 and abs(result.q[-1, 10]) > 0.1


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_an_impact_keeps_momentum_and_loses_energy(first, second):
    rng = np.random.default_rng(7)
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for name, kind, restitution in (("0", first, 0.5), ("1", second, 0.2)):
        builder.add_body(name, joint=ph.joints.Free(), mass=1.0 + float(name), inertia=0.01 * np.eye(3))
        builder.add_collider(name, name, shape(kind, rng), friction=0.4, restitution=restitution)
    model = builder.build()
    q, qd = np.zeros(12), np.zeros(12)
    q[3:6], q[9:12] = rng.normal(size=3), rng.normal(size=3)
    q[6:9], qd[6:9], qd[9:12] = (1.2, 0.05, 0.02), (-3.0, 0.1, 0.0), rng.normal(size=3)
    state = model.state(q=q, qd=qd)
    result = ph.simulate(model, state, duration=0.5, dt=STEP)
    assert result.info["constraints"]["steps_with_contact"] > 0
    assert np.linalg.norm(result.qd[-1, 6:9] - qd[6:9]) > 0.5
    # round-off of some hundred steps; rotation vectors turn with an error of first order, some I w^2 dt
    momenta = [momentum(result, k) for k in (0, -1)]
    assert np.abs(momenta[1][0] - momenta[0][0]).max() < 1e-11
    assert np.abs(momenta[1][1] - momenta[0][1]).max() < 1e-3
    kinetic = result.energy[:, 0]
    assert kinetic[-1] < kinetic[0] - 0.1 and np.diff(kinetic).max() < 1e-3
    assert result.info["constraints"]["overlap"] < 1e-3


def momentum(result: ph.Result, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum about the world's origin of free bodies with spherical inertia."""
    linear, angular = np.zeros(3), np.zeros(3)
    moving = ph.maximal_coordinates(result.model, result.model.state(q=result.q[k], qd=result.qd[k]))
    for body, pose, twist in zip(result.model.bodies, moving.poses, moving.twists):
        p = body.mass * pose[:3, :3] @ twist[3:]
        linear += p
        angular += np.cross(pose[:3, 3], p) + body.inertia[0, 0] * pose[:3, :3] @ twist[:3]
    return linear, angular


@pytest.mark.parametrize("slope, slides", [(0.35, False), (0.45, True)])
def test_a_box_slides_where_the_slope_exceeds_its_friction(slope, slides):
    """tan 0.35 < sqrt(0.2 x 0.8) = 0.4 < tan 0.45"""
    builder = free_builder(1)
    turn = np.eye(4)
    turn[:3, :3] = ph.geometry.lie.so3_exp([0.0, slope, 0.0])
    builder.add_collider("slope", None, Plane(), pose=turn, friction=0.2)
    builder.add_collider("box", "0", Box((HALF,) * 3), friction=0.8)
    model = builder.build()
    q = np.zeros(6)
    q[:3], q[4] = HALF * turn[:3, 2], slope
    result = ph.simulate(model, model.state(q=q), duration=0.5, dt=STEP)
    speed = 9.81 * (np.sin(slope) - 0.4 * np.cos(slope)) * 0.5 if slides else 0.0
    assert np.linalg.norm(result.qd[-1, :3]) == pytest.approx(speed, abs=1e-9)


def test_capsules_lie_on_each_other_along_a_line():
    builder = free_builder(2)
    builder.add_collider("floor", None, Box((1.0, 1.0, 0.1)), friction=0.5)
    lying = np.eye(4)[[2, 0, 1, 3]]
    for name in "01":
        builder.add_collider(name, name, Capsule(0.05, 0.2), pose=lying, friction=0.5)
    model = builder.build()
    q = np.zeros(12)
    q[2], q[8] = 0.15, 0.25
    result = ph.simulate(model, model.state(q=q), duration=0.2, dt=STEP)
    # the upper one balances on the lower one: round-off grows e-fold in 0.1 s
    assert np.abs(result.q - q).max() < 1e-9


def test_fast_spheres_do_not_pass_through_a_thin_wall():
    builder = free_builder(1)
    builder.add_collider("wall", None, Box((0.005, 1.0, 1.0)))
    builder.add_collider("ball", "0", Sphere(0.02))
    model = builder.build()
    state = model.state(q=[-1.0, 0, 0, 0, 0, 0], qd=[90.0, 0, 0, 0, 0, 0])
    result = ph.simulate(model, state, duration=0.05, dt=STEP)
    assert result.q[-1, 0] < -0.02499 and result.info["constraints"]["overlap"] < 1e-12


def test_bodies_that_a_joint_or_a_point_connects_do_not_touch_each_other_but_the_ground():
    builder = ph.ModelBuilder()
    for name, parent in (("a", None), ("b", "a"), ("c", "b")):
        builder.add_body(name, parent, joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, inertia=np.eye(3))
        builder.add_collider(name, name, Sphere(0.1))
    assert touching(builder.build()) == [(0.0, 2.0)]
    builder.add_collider("ground", None, Sphere(0.1))
    assert touching(builder.build()) == [(0.0, -1.0), (0.0, 2.0), (1.0, -1.0), (2.0, -1.0)]
    builder.add_constraint("pin", ph.constraints.PointConstraint("a", "c", (0, 0, 0), (0, 0, 0)))
    assert touching(builder.build()) == [(0.0, -1.0), (1.0, -1.0), (2.0, -1.0)]


def touching(model: ph.Model) -> list[tuple[float, float]]:
    """Pairs of bodies whose colliders overlap."""
    return sorted((row[0], row[1]) for row in found_at(model, np.zeros(model.num_coordinates), 0.0))


def test_groups_and_margins():
    builder = free_builder(3)
    for name, groups in (("0", ["left"]), ("1", ["right"]), ("2", ["left", "right"])):
        builder.add_collider(name, name, Sphere(0.1), margin=0.01, groups=groups)
    model = builder.build()
    assert touching(model) == [(0.0, 2.0), (1.0, 2.0)]
    assert found_at(model, np.zeros(18), 0.0)[:, 8] == pytest.approx([-0.22, -0.22], abs=1e-15)


def test_ignored_groups_do_not_touch():
    builder = free_builder(4)
    for name, ignores in (("0", ["links"]), ("1", ["links"]), ("2", []), ("3", [])):
        groups = ["default", "links"] if name in "01" else ["default", "near"] if name == "3" else ["default"]
        builder.add_collider(
            name, name, Sphere(0.1), groups=groups, ignores=[*ignores, *["near"] * (name == "0")]
        )
    assert touching(builder.build()) == [(0.0, 2.0), (1.0, 2.0), (1.0, 3.0), (2.0, 3.0)]


def test_files_keep_colliders(tmp_path):
    rng, below = np.random.default_rng(0), np.eye(4)
    below[2, 3] = -10.0
    builder = free_builder(len(KINDS))
    for k, kind in enumerate(KINDS):
        pose = random_pose(rng)
        builder.add_collider(kind, str(k), shape(kind, rng), pose=pose, friction=0.3, margin=0.01)
    builder.add_collider(
        "ground", None, Plane(), pose=below, restitution=0.5, groups=["default", "ground"], ignores=["mesh"]
    )
    builder.add_collider("hills", None, HeightField(rng.normal(size=(3, 4)), (1.0, 2.0)), pose=below)
    builder.add_collider("mesh", "0", TriangleMesh(np.eye(3), [[0, 1, 2]]))
    model = builder.build()
    io.save_model(model, tmp_path / "model.json")
    again = io.load_model(tmp_path / "model.json").model
    assert again == model and json.dumps(again.to_dict()) == json.dumps(model.to_dict())
    assert "colliders" not in free_builder(1).build().to_dict()
    apart = {f"{k}.x": 10.0 * k for k in range(len(KINDS))}
    result = ph.simulate(model, model.state(q=apart), 0.01)
    ph.save_result(result, tmp_path / "result.npz")
    assert ph.load_result(tmp_path / "result.npz").model == model


BAD = {
    "shape": "cube",
    "body": "nobody",
    "friction": -0.1,
    "restitution": 1.5,
    "margin": np.inf,
    "groups": "default",
    "ignores": [""],
    "pose": np.ones((4, 4)),
}


@pytest.mark.parametrize("key", BAD)
def test_bad_values_are_named(key):
    builder = free_builder(1)
    values = {"body": "0", "shape": Sphere(0.1)} | {key: BAD[key]}
    with pytest.raises(ModelError, match=f"{key} of collider 'ball'"):
        builder.add_collider("ball", **values)
    assert not builder.colliders


def test_further_bad_values():
    builder = free_builder(1)
    builder.add_collider("ball", "0", Sphere(0.1))
    with pytest.raises(ModelError, match="ball"):
        builder.add_collider("ball", "0", Sphere(0.1))
    with pytest.raises(FormatError, match="cube"):
        builder.add_collider("cube", "0", {"type": "cube"})
    with pytest.raises(ModelError, match="52"):
        builder.add_collider("many", "0", Sphere(0.1), groups=[str(k) for k in range(53)])
    for points in (np.zeros((3, 3)), np.eye(4)[:, :3] @ np.diag([1, 1, 0]), np.zeros(5)):
        with pytest.raises(ModelError, match="points"):
            Convex(points)
    assert [each.name for each in builder.colliders] == ["ball"]


def test_a_start_inside_another_shape_is_refused():
    model = pair(Sphere(0.1), Box((0.1, 0.1, 0.1)))
    with pytest.raises(ModelError, match="first on second"):
        ph.simulate(model, model.state(), duration=0.01, dt=STEP)
    with pytest.raises(ModelError, match="first"):
        ph.simulate(model, model.state(), duration=0.01, integrator="RK45")


def test_forces_at_rest_carry_the_weight():
    model, state = stacked(2, (0.03, 0.01))
    found = ph.constrained_dynamics(model, state)
    # solved to 1e-13 of the forces; rows at four times by differences err by 1e-9
    assert np.abs(found.qdd).max() < 1e-7
    carried = {-1: np.zeros(3), 0: np.zeros(3), 1: np.zeros(3)}
    for contact in found.contacts:
        carried[contact.body] += contact.force
        carried[contact.other] -= contact.force
    assert np.abs(carried[0] - [0, 0, 9.81]).max() < 1e-6
    assert np.abs(carried[1] - [0, 0, 9.81]).max() < 1e-6
