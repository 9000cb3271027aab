"""Meshes and height fields: distances by brute force, sliding over inner edges, bodies that rest."""

from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.contacts import Box, HeightField, Plane, Sphere, TriangleMesh
from physics.errors import ModelError
from physics.kernels.contact.layout import FOUND_GAP
from tests.physics.contacts.shapes import KINDS, found_at, free_builder, shape
from tests.physics.generators import random_pose

STEP = 1e-3


def hills(seed: int, samples: int = 12, spacing: float = 0.2) -> tuple[HeightField, np.ndarray]:
    """Random ground about the origin, and its pose."""
    rng = np.random.default_rng(seed)
    pose = np.eye(4)
    pose[:2, 3] = -0.5 * spacing * (samples - 1)
    return HeightField(0.08 * rng.normal(size=(samples, samples)), (spacing, spacing)), pose


def surface_distance(p: np.ndarray, corners: np.ndarray) -> float:
    """Distance of a point from the nearest of triangles (m, 3, 3), negative behind it."""
    best = np.inf
    for a, b, c in corners:
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal)
        height = (p - a) @ normal
        sides = ((a, b), (b, c), (c, a))
        if all(np.cross(normal, y - x) @ (p - x) >= 0.0 for x, y in sides):
            distance = height
        else:
            shares = [np.clip((p - x) @ (y - x) / ((y - x) @ (y - x)), 0.0, 1.0) for x, y in sides]
            distance = min(np.linalg.norm(p - x - t * (y - x)) for (x, y), t in zip(sides, shares))
        best = distance if abs(distance) < abs(best) else best
    return float(best)


@pytest.mark.parametrize("moving", [False, True])
def test_distances_of_spheres_from_hills(moving):
    ground, place = hills(0)
    rng = np.random.default_rng(1)
    builder = free_builder(2)
    pose = random_pose(rng) @ place
    builder.add_collider("ground", "1" if moving else None, ground, pose=pose)
    builder.add_collider("ball", "0", Sphere(0.1))
    model = builder.build()
    q = np.concatenate([np.zeros(6), rng.normal(size=6)])
    outer = ph.body_poses(model, model.state(q=q))[1] @ pose if moving else pose
    core = ground.core()
    corners = (core.vertices @ outer[:3, :3].T + outer[:3, 3])[core.triangles]
    inner = np.abs(rng.uniform(-0.8, 0.8, (60, 3))) * [1.0, 1.0, 0.3]
    for p in (inner - place[:3, 3]) @ outer[:3, :3].T + outer[:3, 3]:
        q[:3] = p
        expected = surface_distance(p, corners) - 0.1
        rows = found_at(model, q, 0.5)
        if -0.1 < expected < 0.9:
            assert rows[:, FOUND_GAP].min() == pytest.approx(expected, abs=1e-12)


def slid(ground: Any, pose: Any) -> ph.Result:
    builder = free_builder(1)
    builder.add_collider("ground", None, ground, pose=pose, friction=0.3)
    builder.add_collider("box", "0", Box((0.1, 0.1, 0.1)), friction=0.3)
    model = builder.build()
    state = model.state(q=[-0.5, 0.03, 0.1, 0, 0, 0.3], qd=[2.0, 0.5, 0, 0, 0, 0])
    return ph.simulate(model, state, duration=0.5, dt=STEP)


def test_a_box_slides_over_inner_edges_as_over_a_plane():
    pose = np.eye(4)
    pose[:2, 3] = -1.0
    flat = HeightField(np.zeros((9, 9)), (0.25, 0.25))
    # the same contacts, but for round-off of their places
    assert np.abs(slid(flat, pose).q - slid(Plane(), None).q).max() < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_come_to_rest_on_hills(kind):
    ground, pose = hills(0)
    builder = free_builder(1)
    builder.add_collider("ground", None, ground, pose=pose, friction=0.6)
    builder.add_collider("body", "0", shape(kind, np.random.default_rng(1)), friction=0.6)
    model = builder.build()
    result = ph.simulate(model, model.state(q=[0, 0, 0.7, 0.3, 0.2, 0.1]), duration=1.0, dt=STEP)
    told = result.info["constraints"]
    assert told["residual"] < 1e-9 and told["overlap"] < 2e-3
    # what pushes a body of 1 kg out again adds less than its weight times the overlap
    assert (
        np.diff(result.energy[:, 2]).max() < 9.81 * told["overlap"] + 1e-9
        and result.energy[-1, 2] < result.energy[0, 2] - 2.0
    )


def test_a_cube_of_triangles_is_a_box():
    corners = 0.3 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    loops = ph.contacts.cores.BOX_LOOPS
    triangles = [[a, b, c] for a, b, c, _ in loops] + [[a, c, d] for a, _, c, d in loops]
    rng = np.random.default_rng(0)
    for kind in KINDS:
        own = shape(kind, rng)
        models = []
        for other in (TriangleMesh(corners, triangles), Box((0.3, 0.3, 0.3))):
            builder = free_builder(2)
            builder.add_collider("0", "0", own)
            builder.add_collider("1", "1", other)
            models.append(builder.build())
        for _ in range(20):
            q = rng.normal(size=12)
            q[:3] = 0.0
            q[6:9] *= 0.9 / np.linalg.norm(q[6:9])
            mesh, box = (found_at(model, q, 0.2)[:, FOUND_GAP] for model in models)
            assert len(mesh) == 0 == len(box) or (mesh.min() > 0.0) == (box.min() > 0.0)
            if len(box) and box.min() > 0.0:  # inside, the way out of a triangle may be shorter
                assert mesh.min() == pytest.approx(box.min(), abs=1e-12)


@pytest.mark.parametrize(
    "vertices, triangles",
    [
        (np.zeros((3, 2)), [[0, 1, 2]]),
        (np.eye(3), [[0, 1, 3]]),
        (np.eye(3), [[0, 1]]),
        (np.eye(3), [[0, 1, 0.5]]),
        (np.eye(3), [[0, 1, 1]]),
        (np.eye(3), np.zeros((0, 3))),
    ],
)
def test_bad_meshes_are_refused(vertices, triangles):
    with pytest.raises(ModelError, match="triangle"):
        TriangleMesh(vertices, triangles)
