"""Gaps and normals against closed forms, brute force and differences; contacts of bodies in trees; bad input."""

import json

import numpy as np
import pytest

import physics as ph
from physics.contacts import (
    REGISTRY,
    Box,
    Capsule,
    HeightField,
    Plane,
    Sphere,
    make_contact,
    obstacle_from_dict,
    pack_contacts,
)
from physics.errors import FormatError, ModelError
from physics.kernels import layout
from physics.kernels.contact.detection import detect_contacts
from physics.kernels.contact.geometry import FAR, field_height, obstacle_distance
from physics.kernels.contact.layout import FOUND_WIDTH
from physics.kernels.joints.kinematics import outward
from tests.physics.generators import random_pose, random_state, random_tree


def hilly(seed: int = 0) -> HeightField:
    rng = np.random.default_rng(seed)
    return HeightField(0.05 * rng.normal(size=(7, 6)), [0.2, 0.3])


OBSTACLES = {
    "plane": Plane(),
    "sphere": Sphere(0.4),
    "capsule": Capsule(0.3, 0.5),
    "box": Box([0.3, 0.5, 0.2]),
    "height_field": hilly(),
}


def distance(obstacle, point, inward=(0.0, 0.0, 0.0)):
    record = np.concatenate([[obstacle.kind], np.zeros(12), obstacle.parameters()])
    gap, normal = obstacle_distance(record, 0, tuple(map(float, point)), tuple(map(float, inward)), 10.0)
    return gap, np.array(normal)


def points_near(name: str, rng: np.random.Generator, count: int = 200) -> np.ndarray:
    if name == "height_field":
        return rng.uniform([0.2, 0.2, -0.1], [1.0, 1.3, 0.3], (count, 3))
    return rng.uniform(-0.8, 0.8, (count, 3))


def brute_force(name: str, p: np.ndarray) -> float:
    """Signed distance by searching the surface, or by a formula that is not the kernels'."""
    if name == "plane":
        return float(p[2])
    if name == "sphere":
        return float(np.sqrt(p @ p)) - 0.4
    if name == "capsule":
        z = np.linspace(-0.5, 0.5, 20001)
        return float(np.sqrt(p[0] ** 2 + p[1] ** 2 + (p[2] - z) ** 2).min()) - 0.3
    sizes = np.array([0.3, 0.5, 0.2])
    inside = np.abs(p) <= sizes
    if inside.all():
        return -float((sizes - np.abs(p)).min())
    return float(np.linalg.norm(p - np.clip(p, -sizes, sizes)))


@pytest.mark.parametrize("name", ["plane", "sphere", "capsule", "box"])
def test_gaps_against_brute_force(name):
    rng = np.random.default_rng(1)
    for p in points_near(name, rng):
        # the search over the capsule's axis is as fine as 5e-5, squared over twice the least distance
        assert abs(distance(OBSTACLES[name], p)[0] - brute_force(name, p)) < 1e-8


def test_height_field_gap_is_the_distance_of_the_nearest_point():
    field = OBSTACLES["height_field"]
    rng = np.random.default_rng(2)
    at = field.parameters()
    for p in rng.uniform([0.3, 0.3, -0.04], [0.9, 1.2, 0.12], (40, 3)):
        gap, normal = distance(field, p)
        foot = p - gap * normal
        h, hx, hy, *_ = field_height(at, 0, foot[0], foot[1])
        assert abs(h - foot[2]) < 1e-12  # on the surface, and square to it
        assert np.abs(np.cross(normal, [-hx, -hy, 1.0])).max() < 1e-9
        x, y = np.meshgrid(*(np.linspace(-0.12, 0.12, 61) + p[k] for k in (0, 1)), indexing="ij")
        z = np.array([field_height(at, 0, a, b)[0] for a, b in zip(x.ravel(), y.ravel(), strict=True)])
        nearest = np.sqrt((x.ravel() - p[0]) ** 2 + (y.ravel() - p[1]) ** 2 + (z - p[2]) ** 2).min()
        assert abs(gap) <= nearest + 1e-12  # no sample of the surface is nearer
        assert nearest < abs(gap) + 0.004**2 / max(abs(gap), 0.004) + 1e-9
        assert (gap > 0.0) == (p[2] > field_height(at, 0, p[0], p[1])[0])


def test_height_field_passes_its_samples_with_a_continuous_slope():
    field = hilly(3)
    at = field.parameters()
    for i in range(7):
        for j in range(6):
            assert abs(field_height(at, 0, 0.2 * i, 0.3 * j)[0] - field.heights[i, j]) < 1e-14
    across = 1e-9
    for x in (0.2, 0.4, 0.8):
        for y in (0.1, 0.3, 0.77):
            before, after = field_height(at, 0, x - across, y), field_height(at, 0, x + across, y)
            assert np.abs(np.subtract(before, after)[:3]).max() < 1e-7
    slope = HeightField(np.add.outer(0.3 * np.arange(4), -0.1 * np.arange(5)), [1.0, 1.0])
    gap, normal = distance(slope, [1.3, 2.2, 5.0])  # straight samples give a plane, to the border
    expected = np.array([-0.3, 0.1, 1.0]) / np.sqrt(1.1)
    assert np.abs(normal - expected).max() < 1e-14
    assert abs(gap - expected @ [1.3, 2.2, 5.0]) < 1e-13


def test_height_field_has_nothing_beside_it_and_tells_what_is_far():
    field = OBSTACLES["height_field"]
    assert distance(field, [-0.01, 0.5, 0.0])[0] == FAR
    record = np.concatenate([[field.kind], np.zeros(12), field.parameters()])
    assert obstacle_distance(record, 0, (0.5, 0.5, 3.0), (0.0, 0.0, 0.0), 0.1)[0] == FAR


@pytest.mark.parametrize("name", sorted(OBSTACLES))
def test_normals_are_the_gaps_gradients(name):
    rng = np.random.default_rng(4)
    step = 1e-6
    for p in points_near(name, rng):
        gap, normal = distance(OBSTACLES[name], p)
        assert abs(np.linalg.norm(normal) - 1.0) < 1e-14
        if name == "height_field" and abs(gap) > 0.05:
            continue  # further off than the surface's least radius: which point is nearest changes by jumps
        slope = [
            (distance(OBSTACLES[name], p + e)[0] - distance(OBSTACLES[name], p - e)[0]) / (2.0 * step)
            for e in step * np.eye(3)
        ]
        # round-off over the step, and the change of curvature at seams of the shapes
        assert np.abs(np.array(slope) - normal).max() < 1e-5


def test_normals_around_a_box_are_continuous():
    # once around an edge and a corner, a millimetre outside and with the steps of a ten thousandth
    for start, end in (((0.301, 0.3, 0.0), (0.25, 0.501, 0.0)), ((0.301, 0.4, 0.1), (0.2, 0.4, 0.201))):
        last = None
        for share in np.linspace(0.0, 1.0, 2001):
            p = (1.0 - share) * np.array(start) + share * np.array(end)
            if distance(OBSTACLES["box"], p)[0] > 0.0:
                normal = distance(OBSTACLES["box"], p)[1]
                if last is not None:
                    assert np.abs(normal - last).max() < 0.2
                last = normal
            else:
                last = None


@pytest.mark.parametrize("point", [(0.0, 0.0, 0.0), (0.0, 0.0, 0.5), (1e-300, 0.0, 0.0)])
@pytest.mark.parametrize("name", ["sphere", "capsule", "box"])
def test_middles_have_a_direction(name, point):
    gap, normal = distance(OBSTACLES[name], point)
    assert np.isfinite(gap)
    assert abs(np.linalg.norm(normal) - 1.0) < 1e-14


def frames_of(model):
    """Poses of the body frames in the link frames, as packed."""
    rows = model.arrays[1][:, layout.BODY_FRAME : layout.BODY_FRAME + 12]
    frames = np.tile(np.eye(4), (len(rows), 1, 1))
    frames[:, :3, :3], frames[:, :3, 3] = rows[:, :9].reshape(-1, 3, 3), rows[:, 9:]
    return list(frames)


def detect(model, state, contacts, reach, most=100):
    pairs = pack_contacts(contacts, frames_of(model))
    work, dof, flags = model.workspace().clear()
    outward(model.arrays, np.array(state.q), np.array(state.qd), work, dof, flags)
    found = np.zeros((most, FOUND_WIDTH))
    count = detect_contacts(model.arrays, pairs, reach, work, found)
    return count, found[: max(count, 0)]


def contact(model, name, body, points, obstacle, **values):
    numbers = {known: i for i, known in enumerate(model.body_names)}
    given = {"other": None, "pose": None, "radius": 0.0, "friction": 0.5, "restitution": 0.1, **values}
    return make_contact(name, numbers, {"body": body, "points": points, "obstacle": obstacle, **given})


@pytest.mark.parametrize("seed", range(4))
def test_contacts_of_bodies_anywhere_in_a_forest(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 8)
    state = random_state(rng, model)
    poses = ph.body_poses(model, state)
    names = list(model.body_names)
    contacts, expected = [], []
    for k, obstacle in enumerate(list(OBSTACLES.values()) * 3):
        body = int(rng.integers(8))
        other = int(rng.integers(-1, 8))
        if other == body:
            other = -1
        points, radii = rng.normal(size=(5, 3)) * 0.4, rng.uniform(0.0, 0.2, 5)
        pose = random_pose(rng)
        contacts.append(
            contact(
                model,
                f"contact {k}",
                names[body],
                points,
                obstacle,
                other=None if other < 0 else names[other],
                pose=pose,
                radius=radii,
                friction=0.1 * k,
            )
        )
        outer = pose if other < 0 else poses[other] @ pose
        for n in range(5):
            p = poses[body][:3, :3] @ points[n] + poses[body][:3, 3]
            middle = model.arrays[1][body, layout.COM : layout.COM + 3]
            inward = outer[:3, :3].T @ poses[body][:3, :3] @ (middle - points[n])
            gap, normal = distance(obstacle, outer[:3, :3].T @ (p - outer[:3, 3]), inward)
            normal = outer[:3, :3] @ normal
            if gap - radii[n] < 0.3:
                point = p - radii[n] * normal
                row = [body, other, *point, *normal, gap - radii[n], 0.1 * k, 0.1, 5 * k + n, 5 * k + n]
                expected.append(row)
    count, found = detect(model, state, contacts, 0.3)
    assert count == len(expected) > 3
    assert np.abs(found - np.array(expected)).max() < 1e-11


@pytest.mark.parametrize("beside", [0.0, 1e-9, -1e-9])
@pytest.mark.parametrize("depth", [0.0, 1e-6, 1e-2])
def test_what_is_flush_with_an_edge_comes_through_the_face_that_its_body_is_over(depth, beside):
    box = OBSTACLES["box"]  # half sizes 0.3, 0.5, 0.2
    point = np.array([0.3 + beside, 0.5, 0.2 - depth])
    gap, normal = distance(box, point, (-0.1, -0.1, 0.1))
    assert normal.tolist() == [0.0, 0.0, 1.0]
    assert gap == pytest.approx(-depth, abs=1e-15)
    gap, normal = distance(box, point, (0.1, -0.1, -0.1))  # it stands beside
    assert normal.tolist() == [1.0, 0.0, 0.0]
    assert gap == pytest.approx(min(beside, 0.0), abs=1e-15)


def test_too_many_contacts_are_told():
    model = random_tree(np.random.default_rng(1), 2)
    state = random_state(np.random.default_rng(1), model)
    points = np.zeros((5, 3))
    planes = [contact(model, "ground", model.body_names[0], points, Plane())]
    assert detect(model, state, planes, 1e6, most=5)[0] == 5
    assert detect(model, state, planes, 1e6, most=4)[0] == -1
    assert detect(model, state, [], 1e6)[0] == 0


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_obstacles_and_contacts_survive_being_written(name):
    obstacle = OBSTACLES[name]
    again = obstacle_from_dict(json.loads(json.dumps(obstacle.to_dict())))
    assert type(again) is type(obstacle)
    assert again.to_dict() == obstacle.to_dict()
    model = random_tree(np.random.default_rng(1), 2)
    made = contact(
        model,
        "touch",
        "body_0",
        np.eye(3),
        obstacle,
        other="body_1",
        pose=random_pose(np.random.default_rng(2)),
    )
    written = json.loads(json.dumps(made.to_dict(model.body_names)))
    read = make_contact(written.pop("name"), {"body_0": 0, "body_1": 1}, written)
    assert read.to_dict(model.body_names) == made.to_dict(model.body_names)
    with pytest.raises(ValueError, match="read-only"):
        read.points[0] = 0.0


BAD_OBSTACLES = [
    (lambda: Sphere(0.0), "radius of a sphere must be positive, got 0"),
    (lambda: Capsule(1.0, -1.0), "half_length of a capsule must not be negative, got -1"),
    (lambda: Box([1.0, 0.0, 1.0]), "half_sizes of a box must be positive"),
    (lambda: HeightField([[0.0, 1.0]], [1.0, 1.0]), r"at least 2 by 2, got shape \(1, 2\)"),
    (lambda: HeightField([[0.0, np.nan], [0.0, 0.0]], [1.0, 1.0]), r"finite, got nan at \[0, 1\]"),
    (lambda: HeightField(np.zeros((2, 2)), [1.0, 0.0]), "spacing of a height field must be positive"),
]


@pytest.mark.parametrize(("make", "words"), BAD_OBSTACLES)
def test_bad_obstacles_are_refused(make, words):
    with pytest.raises(ModelError, match=words):
        make()


@pytest.mark.parametrize(
    "description", [{"type": "cone"}, {"type": "sphere"}, {"type": "plane", "size": 1.0}, 3]
)
def test_bad_descriptions_are_refused(description):
    with pytest.raises(FormatError):
        obstacle_from_dict(description)


BAD_CONTACTS = [
    ({"body": "nobody"}, "body of contact 'touch' is missing: 'nobody'"),
    ({"other": "body_0"}, "on one body 'body_0'"),
    ({"points": [0.0, 0.0, 0.0]}, r"points of contact 'touch' must have shape \(n, 3\)"),
    ({"points": [[0.0, np.inf, 0.0]]}, r"points of contact 'touch' must be finite, got inf at \[0, 1\]"),
    ({"radius": -0.1}, "radius of contact 'touch' must not be negative, got -0.1"),
    ({"radius": [0.1, 0.1]}, r"one number or 1, got shape \(2,\)"),
    ({"obstacle": "plane"}, "obstacle of contact 'touch' must be an obstacle, got 'plane'"),
    ({"pose": np.zeros((4, 4))}, "pose of contact 'touch'"),
    ({"friction": -1.0}, "friction of contact 'touch' must not be negative, got -1"),
    ({"restitution": 1.5}, "restitution of contact 'touch' must be at most 1, got 1.5"),
]


@pytest.mark.parametrize(("wrong", "words"), BAD_CONTACTS)
def test_bad_contacts_are_refused(wrong, words):
    given = {"body": "body_0", "points": [[0.0, 0.0, 0.0]], "obstacle": Plane(), "other": None, "pose": None}
    given |= {"radius": 0.0, "friction": 0.0, "restitution": 0.0, **wrong}
    with pytest.raises(ModelError, match=words):
        make_contact("touch", {"body_0": 0, "body_1": 1}, given)
