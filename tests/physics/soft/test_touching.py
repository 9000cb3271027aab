"""Points of soft bodies on the shapes of bodies: forces, momentum, rest, friction, and vertices of a fine mesh."""

import numpy as np
import pytest

import physics as ph
from physics import contacts

from .blocks import MATERIAL, grid

LAW = {"stiffness": 400.0, "dissipation": 2.0, "friction": 1.0}
SHAPES = {
    "plane": contacts.Plane(),
    "sphere": contacts.Sphere(0.12),
    "capsule": contacts.Capsule(0.08, 0.1),
    "box": contacts.Box((0.15, 0.1, 0.05)),
    "height_field": contacts.HeightField(0.01 * np.sin(np.arange(36.0)).reshape(6, 6), (0.06, 0.06)),
}


def over(shape, gravity=(0.0, 0.0, 0.0), joint=None, law=LAW, points=None, height=0.0, **material):
    """A block above a shape on a body that slides and turns."""
    builder = ph.ModelBuilder(gravity)
    joint = joint or ph.joints.Free()
    builder.add_body("base", joint=joint, mass=0.4, inertia=4e-3 * np.eye(3))
    middle = np.eye(4)
    if isinstance(shape, contacts.HeightField):
        middle[:2, 3] = -0.15
    builder.add_collider("shape", "base", shape, pose=middle, friction=0.25)
    nodes, tets = grid(2, 1, 1, 0.05)
    top = 0.0 if isinstance(shape, contacts.Plane | contacts.HeightField) else _top(shape)
    nodes = nodes + [-0.05, -0.025, top + height]
    ground = {
        **law,
        "colliders": ["shape"],
        "points": None if points is None else nodes.mean(axis=0) + points,
    }
    builder.add_soft_body("block", nodes, tets=tets, ground=ground, **{**MATERIAL, **material})
    return builder.build()


def _top(shape):
    if isinstance(shape, contacts.Capsule):
        return shape.radius + shape.half_length
    return shape.radius if isinstance(shape, contacts.Sphere) else shape.half_sizes[2]


@pytest.mark.parametrize("method", ["linearly_implicit_euler", "bdf1", "sdirk2", "rk4"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_hit_takes_the_momentum(shape, method):
    """From before the block touches until it has left the shape."""
    model = over(SHAPES[shape], height=0.02)
    state = model.state(node_rates={"block": np.zeros((12, 3)) + [0.05, 0.02, -0.5]})
    result = ph.simulate(model, state, 0.2, 2e-4 if method == "rk4" else 1e-3, method)
    soft, places = result.soft["block"], result.poses[:, 0, :3, 3]
    assert soft.depth.max() > 1e-3 and soft.depth[-2:].max() == soft.depth[:2].max() == 0.0
    base = 0.4 * (places[-1] - places[-2]) / (result.t[-1] - result.t[-2])
    begun, ended = soft.momentum[0, 3:], soft.momentum[-1, 3:] + base
    # Newton's iteration ends at 1e-9 of the rates; differences of places lose some digits
    assert ended == pytest.approx(begun, abs=1e-6 * np.linalg.norm(begun))
    assert np.linalg.norm(base) > 0.1 * np.linalg.norm(begun)


def test_the_push_is_the_gradient_of_its_energy():
    """Of nodes and of the body, with vertices of a fine mesh in place of the nodes; by differences."""
    rng = np.random.default_rng(4)
    points = rng.uniform(-1.0, 1.0, (40, 3)) * [0.05, 0.025, 0.025]
    model = over(
        SHAPES["sphere"], law={"stiffness": 50.0}, points=points, height=-0.02, young=1e-9, density=500.0
    )
    mesh = model.soft_mesh
    free = model.state(nodes={"block": mesh.rest})
    h, push = 1e-6, np.zeros(12 * 3 + 6)
    dt = 1e-5
    after = ph.simulate(model, free, dt, dt, "symplectic_euler")
    push[:36] = (after.soft["block"].rates[-1] * mesh.masses[:, None] / dt).ravel()
    push[36:] = after.qd[-1] / dt

    def stored(x, q):
        return float(mesh.pressed(model.arrays, q[None], x.reshape(1, 1, -1, 3).repeat(2, 1))[0].sum())

    x, q = mesh.rest.ravel(), free.q
    slopes = np.array([(stored(x + h * e, q) - stored(x - h * e, q)) / (2 * h) for e in np.eye(36)])
    own = np.array([(stored(x, q + h * e) - stored(x, q - h * e)) / (2 * h) for e in np.eye(6)])
    assert stored(x, q) > 1e-5
    assert push[:36] == pytest.approx(-slopes, abs=1e-7 * np.abs(slopes).max() + 1e-9)
    assert ph.mass_matrix(model, free) @ push[36:] == pytest.approx(-own, abs=1e-6 * np.abs(own).max())


@pytest.mark.parametrize("method", ["linearly_implicit_euler", "bdf1", "sdirk2"])
@pytest.mark.parametrize("fine", [False, True])
def test_a_falling_cube_comes_to_rest(method, fine):
    """On a fixed box: its points bear its weight, and energy falls only; the deepest is within the stated bound."""
    points = None
    if fine:
        x, y = np.meshgrid(np.linspace(-0.05, 0.05, 9), np.linspace(-0.025, 0.025, 5))
        points = np.stack([x.ravel(), y.ravel(), np.full(x.size, -0.025)], axis=1)
    law = {"stiffness": 100.0 if fine else 400.0, "dissipation": 5.0, "friction": 1.0}
    model = over(SHAPES["box"], (0, 0, -9.81), ph.joints.Fixed(), law, points, height=0.02, damping=2e-3)
    result = ph.simulate(model, model.state(), 2.0, 5e-3, method)
    soft, mass = result.soft["block"], model.soft_mesh.masses.sum()
    assert np.abs(soft.rates[-1]).max() < 1e-4
    assert np.diff(result.energy[:, 2]).max() < 1e-9
    vertices = soft.nodes[-1] if points is None else soft.embed(soft.body.ground.points)[-1]
    deep = np.maximum(0.05 - vertices[:, 2], 0.0)
    assert law["stiffness"] * deep.sum() == pytest.approx(9.81 * mass, rel=1e-4)
    assert soft.depth[-1] == pytest.approx(deep.max(), rel=1e-9)
    share, borne = mass / (45 if fine else 6), 9.81 * mass / (45 if fine else 6)
    speed = np.sqrt(2.0 * 9.81 * 0.02)
    # points at the rim bear more than their share
    assert soft.depth.max() < 2.0 * (speed * np.sqrt(share / law["stiffness"]) + borne / law["stiffness"])


@pytest.mark.parametrize(("slope", "slides"), [(0.4, False), (0.6, True)])
def test_it_slides_beyond_the_angle_of_friction(slope, slides):
    """The coefficient is the geometric mean of both, 0.5."""
    gravity = (9.81 * np.sin(np.arctan(slope)), 0.0, -9.81 * np.cos(np.arctan(slope)))
    law = LAW | {"dissipation": 5.0, "smooth_speed": 1e-3}
    model = over(SHAPES["plane"], gravity, ph.joints.Fixed(), law, damping=2e-2)
    result = ph.simulate(model, model.state(), 2.0, 5e-3, "linearly_implicit_euler")
    speed = result.soft["block"].momentum[:, 3] / model.soft_mesh.masses.sum()
    if slides:
        gained = (speed[-1] - speed[200]) / (result.t[-1] - result.t[200])
        assert gained == pytest.approx(gravity[0] + 0.5 * gravity[2], rel=0.02)  # the block still sways
    else:
        assert speed[-1] < 1e-3


def test_faults_are_named():
    builder = ph.ModelBuilder()
    builder.add_body("base", mass=1.0, inertia=np.eye(3), joint=ph.joints.Free())
    nodes, tets = grid(1, 1, 1, 0.1)
    wedge = contacts.Convex([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    builder.add_collider("wedge", "base", wedge)
    builder.add_collider("floor", None, contacts.Plane())
    for name, word in (("flor", "'flor'.*'floor'"), ("wedge", "'wedge'.*convex")):
        builder.soft_bodies.clear()
        builder.add_soft_body(
            "block", nodes, tets=tets, ground={"stiffness": 1.0, "colliders": [name]}, **MATERIAL
        )
        with pytest.raises(ph.ModelError, match=word):
            builder.build()
    builder.soft_bodies.clear()
    builder.add_soft_body("block", nodes, tets=tets, **MATERIAL)
    model = builder.build()
    with pytest.raises(ph.ModelError, match=r"colliders.*'block'"):
        ph.simulate(model, model.state(), 0.01, 1e-3, "bdf1")


def test_touching_bodies_are_saved(tmp_path):
    model = over(SHAPES["box"], points=np.zeros((1, 3)))
    ph.save_model(model, tmp_path / "m.json")
    again = ph.load_model(tmp_path / "m.json")
    again = getattr(again, "model", again)
    assert again == model
