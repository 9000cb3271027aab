"""The stable Neo-Hookean law: force, tangent, damping, runs from inverted shapes, and files."""

import numpy as np
import pytest

import physics as ph
from tests.physics.soft.blocks import MATERIAL, bolted, complex_force, free_block, grid, linear_stiffness
from tests.physics.soft.test_soft_bodies import elastic, forces, stiffness

LAW = {"law": "neo_hookean"}


def strained(seed, size=0.01):
    """The mesh of a free block, and places of its nodes, with inverted tetrahedra if size is large."""
    mesh = free_block(**LAW).soft_mesh
    return mesh, mesh.rest + np.random.default_rng(seed).normal(size=mesh.rest.shape) * size


def volumes(mesh, places):
    """Of the tetrahedra over those at rest."""
    tets = mesh.soft[0].tets
    now, rest = (np.linalg.det(x[tets[:, 1:]] - x[tets[:, :1]]) for x in (places, mesh.rest))
    return now / rest


@pytest.mark.parametrize("size", [0.01, 0.03])
def test_force_is_the_gradient_of_energy(size):
    mesh, places = strained(0, size)
    way, h = np.random.default_rng(1).normal(size=places.shape), 1e-5
    ends = [elastic(mesh, places + k * h * way) for k in (1, -1, 2, -2)]
    slope = (8.0 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12.0 * h)
    # differences of order 4: errors of h^4 and of round-off / h
    assert -(forces(mesh, places) * way).sum() == pytest.approx(slope, rel=1e-9)
    assert elastic(mesh, mesh.rest) == pytest.approx(0.0, abs=1e-15 * MATERIAL["young"])  # round-off


@pytest.mark.parametrize("size", [0.01, 0.03])
def test_force_and_stiffness_equal_the_complex_step(size):
    mesh, places = strained(2, size)
    assert (volumes(mesh, places) < 0.0).any() == (size > 0.02)
    force, matrix = forces(mesh, places), stiffness(mesh, places)
    assert np.abs(force - complex_force(mesh.soft[0], places)).max() < 1e-12 * np.abs(force).max()
    for k in range(places.size):
        moved = places.astype(complex)
        moved.reshape(-1)[k] += 1e-30j
        column = -complex_force(mesh.soft[0], moved).imag.ravel() / 1e-30
        assert np.abs(matrix[:, k] - column).max() < 1e-12 * np.abs(matrix).max()  # round-off
    assert np.abs(matrix - matrix.T).max() < 1e-14 * np.abs(matrix).max()


def test_stiffness_at_rest_is_that_of_linear_elasticity():
    mesh = free_block(**LAW).soft_mesh
    linear = linear_stiffness(mesh.soft[0])
    assert np.abs(stiffness(mesh, mesh.rest) - linear).max() < 1e-12 * np.abs(linear).max()


def test_rigid_motion_gives_no_force():
    mesh = free_block(**LAW).soft_mesh
    turn = ph.lie.exp(np.array([0.3, -1.1, 2.0, 0.4, 0.1, -0.2]))
    moved = mesh.rest @ turn[:3, :3].T + turn[:3, 3]
    assert np.abs(forces(mesh, moved)).max() < 1e-12 * MATERIAL["young"] * 0.05**2  # round-off


@pytest.mark.parametrize("poisson", [-0.5, 0.0, 0.3, 0.49])
def test_clamped_stiffness_is_not_negative(poisson):
    builder, nodes = ph.ModelBuilder(), np.vstack([np.zeros(3), np.eye(3)])
    builder.add_body("post", mass=1.0, inertia=np.eye(3), joint=ph.joints.Slider((1, 0, 0)))
    builder.add_soft_body("tet", nodes, tets=[[0, 1, 2, 3]], young=1.0, poisson=poisson, density=1.0, **LAW)
    mesh, rng = builder.build().soft_mesh, np.random.default_rng(3)
    for _ in range(300):
        matrix = stiffness(mesh, nodes @ rng.normal(size=(3, 3)), exact=False)
        assert np.linalg.eigvalsh(matrix)[0] > -1e-12 * np.abs(matrix).max()  # round-off


def test_damping_is_linear_in_the_rates_and_never_feeds_energy():
    mesh = free_block(damping=0.1, **LAW).soft_mesh
    for seed in range(10):
        rng = np.random.default_rng(seed)
        places = mesh.rest + rng.normal(size=mesh.rest.shape) * 0.02
        rates = rng.normal(size=places.shape)
        lost = forces(mesh, places, rates, True) - forces(mesh, places)
        matrix = stiffness(mesh, places, weights=(0.0, 1.0))
        assert np.abs(matrix @ rates.ravel() + lost.ravel()).max() < 1e-12 * np.abs(lost).max()  # round-off
        assert (lost * rates).sum() < 0.0


@pytest.mark.parametrize("method", ["linearly_implicit_euler", "bdf1", "sdirk2", "rk4"])
def test_inverted_elements_recover(method):
    model = free_block((0.0, 0.0, 0.0), 2e-3, **LAW)
    mesh, rest = model.soft_mesh, model.soft_bodies[0].nodes
    start = rest + np.random.default_rng(4).normal(size=rest.shape) * 0.03
    assert (volumes(mesh, start) < -0.1).any() and np.isfinite(forces(mesh, start)).all()
    step = 1e-4 if method == "rk4" else 1e-3
    result = ph.simulate(model, model.state(nodes={"block": start}), 1.0, step, method)
    soft = result.soft["block"]
    assert np.abs(volumes(mesh, soft.nodes[-1]) - 1.0).max() < 1e-2
    assert soft.elastic[-1] < 1e-4 * soft.elastic[0]


def test_energy_falls_with_backward_euler():
    model = bolted(joint=ph.joints.Spherical(), **LAW)
    energy = ph.simulate(model, model.state(), 0.2, 2e-3, "bdf1").energy[:, 2]
    assert (np.diff(energy) < 1e-12 * np.abs(energy).max()).all()


def test_each_body_has_its_law_also_from_a_file(tmp_path):
    builder, (nodes, tets) = ph.ModelBuilder(), grid(2, 1, 1, 0.05)
    builder.add_body("post", mass=1.0, inertia=np.eye(3), joint=ph.joints.Slider((1, 0, 0)))
    for name, law in (("first", "corotated"), ("second", "neo_hookean")):
        builder.add_soft_body(name, nodes, tets=tets, law=law, **MATERIAL)
    ph.save_model(builder.build(), tmp_path / "model.json")
    mesh = ph.load_model(tmp_path / "model.json").model.soft_mesh
    assert [each.law for each in mesh.soft] == ["corotated", "neo_hookean"]
    places = nodes + np.random.default_rng(5).normal(size=nodes.shape) * 0.005
    found = forces(mesh, np.concatenate([places, places]))
    for own, more in ((found[: len(nodes)], {}), (found[len(nodes) :], LAW)):
        alone = forces(free_block(**more).soft_mesh, places)
        assert np.abs(own - alone).max() < 1e-13 * np.abs(alone).max()  # round-off: nodes have another order


def test_other_laws_are_refused():
    with pytest.raises(ph.ModelError, match=r"law of soft body 'block' .* 'hooke'"):
        free_block(law="hooke")
