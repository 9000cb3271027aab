"""Soft bodies: forces, stiffness, coupling with bodies, orders of the methods, files, and refused input."""

import numpy as np
import pytest

import physics as ph
from physics import kernels
from physics.integrators.implicit import implicit_workspace
from physics.kernels.soft import layout as at
from tests.physics.soft.blocks import MATERIAL, bolted, complex_force, free_block, grid, linear_stiffness

SCRATCH = np.zeros((8, 4))


def forces(mesh, places, rates=None, damped=False):
    """Forces (n, 3) on all nodes."""
    f = np.zeros(places.size)
    x = mesh.inward(places)
    v = np.zeros_like(x) if rates is None else mesh.inward(rates)
    kernels.soft.system.node_forces(mesh.arrays, damped, x, v, f, SCRATCH)
    return mesh.outward(f)


def elastic(mesh, places):
    states = np.stack([places, 0.0 * places])[None]
    return float(mesh.energies(None, None, np.zeros(3), states)[0, :, 2].sum())


def stiffness(mesh, places, exact=True, weights=(1.0, 0.0)):
    """-df/dx (3 n, 3 n) of free nodes, from the blocks."""
    space = mesh.workspace(1, 0)
    kernels.soft.system.assemble_blocks(
        mesh.arrays, weights, exact, mesh.inward(places), space[at.BLOCKS], SCRATCH
    )
    count = len(places)
    result = np.zeros((3 * count, 3 * count))
    for k in range(3 * count):
        v, f = np.zeros(3 * count), np.zeros(3 * count)
        v[k] = 1.0
        kernels.soft.coupling.subtract_times(
            mesh.arrays, space[at.BLOCKS], -1.0, mesh.inward(v.reshape(-1, 3)), f
        )
        result[:, k] = mesh.outward(f).ravel()
    return result


def strained(seed, size=0.006, springs=False):
    """The mesh of a free block, and strained places of its nodes."""
    mesh = free_block(springs=springs).soft_mesh
    return mesh, mesh.rest + np.random.default_rng(seed).normal(size=mesh.rest.shape) * size


@pytest.mark.parametrize("springs", [False, True])
def test_force_is_the_gradient_of_energy(springs):
    mesh, places = strained(0, springs=springs)
    way = np.random.default_rng(1).normal(size=places.shape)
    h = 1e-5  # differences of order 4: errors of h^4 and of round-off / h
    ends = [elastic(mesh, places + k * h * way) for k in (1, -1, 2, -2)]
    slope = (8.0 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12.0 * h)
    assert -(forces(mesh, places) * way).sum() == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize("springs", [False, True])
def test_stiffness_is_the_derivative_of_force(springs):
    mesh, places = strained(2, springs=springs)
    matrix, h = stiffness(mesh, places), 1e-6
    way = np.random.default_rng(3).normal(size=places.shape)
    change = (forces(mesh, places - h * way) - forces(mesh, places + h * way)).ravel() / (2.0 * h)
    assert np.abs(matrix @ way.ravel() - change).max() < 1e-7 * np.abs(change).max()
    assert np.abs(matrix - matrix.T).max() < 1e-14 * np.abs(matrix).max()  # round-off


def test_stiffness_equals_the_complex_step():
    mesh, places = strained(4)
    body, h = mesh.soft[0], 1e-30
    matrix = stiffness(mesh, places)
    for k in (0, 7, 20):
        moved = places.astype(complex)
        moved.reshape(-1)[k] += 1j * h
        column = -complex_force(body, moved).imag.ravel() / h
        assert np.abs(matrix[:, k] - column).max() < 1e-12 * np.abs(matrix).max()


def test_rigid_motion_gives_no_force_and_internal_forces_none_in_sum():
    mesh, places = strained(5)
    turn = ph.lie.exp(np.array([0.3, -1.1, 2.0, 0.4, 0.1, -0.2]))
    rigid = mesh.rest @ turn[:3, :3].T + turn[:3, 3]
    scale = np.abs(forces(mesh, places)).max()
    assert np.abs(forces(mesh, rigid)).max() < 1e-12 * MATERIAL["young"] * 0.05**2
    for f in (forces(mesh, places), forces(mesh, places, 10.0 * places[::-1], True)):
        assert np.abs(f.sum(axis=0)).max() < 1e-12 * scale
        assert np.abs(np.cross(places, f).sum(axis=0)).max() < 1e-12 * scale


def test_stiffness_at_rest_is_that_of_linear_elasticity():
    mesh = free_block().soft_mesh
    linear = linear_stiffness(mesh.soft[0])
    for exact in (True, False):
        assert np.abs(stiffness(mesh, mesh.rest, exact) - linear).max() < 1e-12 * np.abs(linear).max()


def test_inverted_element_is_pushed_back():
    """A tetrahedron turned inside out has the rotation nearest to it: its force is still the gradient."""
    mesh = free_block().soft_mesh
    places = mesh.rest + np.random.default_rng(6).normal(size=mesh.rest.shape) * 0.004
    tet = mesh.soft[0].tets[0]
    normal = np.cross(*(places[tet[1:3]] - places[tet[3]]))
    normal /= np.linalg.norm(normal)
    places[tet[0]] -= 1.6 * normal * ((places[tet[0]] - places[tet[3]]) @ normal)
    edges = places[tet[1:]] - places[tet[0]]
    assert np.linalg.det(edges) < 0.0
    way, h = np.random.default_rng(7).normal(size=places.shape), 1e-7
    slope = (elastic(mesh, places + h * way) - elastic(mesh, places - h * way)) / (2.0 * h)
    assert -(forces(mesh, places) * way).sum() == pytest.approx(slope, rel=1e-7)
    lowest = np.linalg.eigvalsh(stiffness(mesh, places, exact=False))[0]
    assert lowest > -1e-9 * np.abs(stiffness(mesh, places)).max()


def test_clamped_stiffness_is_not_negative_under_compression():
    mesh = free_block().soft_mesh
    squeezed = mesh.rest * [0.9, 1.0, 1.0]
    assert np.linalg.eigvalsh(stiffness(mesh, squeezed))[0] < -1.0
    assert np.linalg.eigvalsh(stiffness(mesh, squeezed, exact=False))[0] > -1e-9


def test_stiffness_damping_never_feeds_energy():
    mesh = free_block(damping=0.1).soft_mesh
    for seed in range(20):
        rng = np.random.default_rng(seed)
        places = mesh.rest + rng.normal(size=mesh.rest.shape) * 0.01
        rates = rng.normal(size=mesh.rest.shape)
        assert ((forces(mesh, places, rates, True) - forces(mesh, places)) * rates).sum() < 0.0


@pytest.mark.parametrize("ground", [None, {"stiffness": 300.0, "dissipation": 2.0, "radius": 0.01}])
def test_matrix_of_a_step_is_the_derivative_of_its_residual(ground):
    """The whole system of tree and nodes, with the geometric terms, by differences."""
    model = bolted(joint=ph.joints.Spherical(), ground=ground)
    mesh, stage = model.soft_mesh, kernels.soft.stage
    rng = np.random.default_rng(8)
    state = model.state(0.3 * rng.normal(size=model.num_coordinates))
    arrays = mesh.moving(model.arrays)
    space = mesh.workspace(model.num_bodies, len(arrays[at.COORDINATES]))
    newton, implicit = kernels.stepping.implicit_stage, implicit_workspace(model)
    vectors, nodes, spaces = implicit[3], space[at.VECTORS], model.workspace().clear()
    soft = model.arrays, arrays, space, implicit, spaces
    nv, free, step = model.num_coordinates, 3 * mesh.num_free, 1e-2
    vectors[newton.BASE, :nv] = state.q
    nodes[at.BASE, :free] = mesh.inward(state.soft_states[0] + rng.normal(size=mesh.rest.shape) * 0.004)[
        :free
    ]
    begun = rng.normal(size=nv + free)
    vectors[newton.ACCELERATIONS, :nv], nodes[at.ACCELERATIONS, :free] = begun[:nv], begun[nv:]

    def residual(a):
        right, out = np.zeros(nv), np.zeros(3 * len(mesh.rest))
        x = np.concatenate([a[nv:], np.zeros(out.size - free)])
        stage.find_residual(soft, step, a[:nv].copy(), x, right, out)
        return np.concatenate([right, out[:free]])

    stage.find_correction(soft, step, True)
    found = np.concatenate([vectors[newton.CORRECTION, :nv], nodes[at.CORRECTION, :free]])
    h = 1e-4
    change = (residual(begun + h * found) - residual(begun - h * found)) / (2.0 * h)
    assert np.abs(change + residual(begun)).max() < 1e-7 * np.abs(residual(begun)).max()


def drift(model, method, dt, duration=0.2):
    return np.ptp(ph.simulate(model, model.state(), duration, dt, method).energy[:, 2])


def test_energy_of_two_way_coupling_at_the_order_of_rk4():
    model = bolted()
    coarse, fine = drift(model, "rk4", 2e-3), drift(model, "rk4", 1e-3)
    assert fine < 1e-7
    assert np.log2(coarse / fine) > 3.8


@pytest.mark.parametrize(("method", "order"), [("linearly_implicit_euler", 1), ("bdf1", 1), ("sdirk2", 2)])
def test_implicit_methods_converge_at_their_order(method, order):
    model = bolted()
    state = model.state()
    exact = ph.simulate(model, state, 0.1, 2.5e-4, "rk4")
    errors = []
    for dt in (2e-3, 1e-3):
        result = ph.simulate(model, state, 0.1, dt, method)
        errors.append(np.abs(result.soft["block"].nodes[-1] - exact.soft["block"].nodes[-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("method", ["linearly_implicit_euler", "bdf1", "sdirk2"])
def test_stiff_body_at_a_large_step(method):
    """At 5 ms explicit methods are far beyond their stable step; implicit ones only lose energy."""
    model = bolted(young=1e6, damping=1e-3)
    energy = ph.simulate(model, model.state(), 0.5, 5e-3, method).energy[:, 2]
    assert np.diff(energy).max() < 1e-6 * np.ptp(energy)


@pytest.mark.parametrize("method", ["rk4", "bdf1", "sdirk2"])
def test_free_nodes_keep_their_momentum(method):
    model = free_block(gravity=(0.0, 0.0, 0.0))
    rng = np.random.default_rng(9)
    nodes = model.soft_mesh.rest + rng.normal(size=model.soft_mesh.rest.shape) * 0.003
    state = model.state(nodes={"block": nodes}, node_rates={"block": rng.normal(size=nodes.shape)})
    momentum = ph.simulate(model, state, 0.05, 5e-4, method).soft["block"].momentum[:, 3:]
    scale = model.soft_mesh.masses.sum()  # of speeds of about 1 m/s
    assert np.abs(momentum - momentum[0]).max() < 1e-12 * scale


def test_chain_of_springs_hangs_as_its_statics_say():
    """Each spring carries the weight below it."""
    count, tensile, length = 6, 50.0, 0.1
    builder = ph.ModelBuilder()
    builder.add_body("post", joint=ph.joints.Slider((1, 0, 0)), mass=1.0, inertia=np.eye(3))
    nodes = [[0.0, 0.0, -length * k] for k in range(count)]
    springs = [(k, k + 1, tensile, length) for k in range(count - 1)]
    builder.add_soft_body(
        "chain", nodes, springs=springs, density=0.5, damping=(20.0, 0.05), attached={0: "post"}
    )
    model = builder.build()
    end = ph.simulate(model, model.state(), 40.0, 2e-2, "bdf1").soft["chain"]
    weights = 9.81 * np.cumsum(model.soft_mesh.masses[::-1])[::-1]
    expected = -np.cumsum(length * (1.0 + weights[1:] / tensile))
    assert np.abs(end.nodes[-1, 1:, 2] - expected).max() < 1e-10


@pytest.mark.parametrize("method", ["bdf1", "sdirk2", "rk4"])
def test_effort_of_a_prescribed_body_is_the_work_that_is_gained(method):
    model = bolted()
    motion = ph.Motion([0.0, 0.1, 0.2], [0.0, 0.2, 0.5], first_slope=0.0)
    result = ph.simulate(model, model.state(), 0.2, 2e-4, method, motions={"a": motion})
    power = result.efforts[1:, 0] * 0.5 * (result.qd[1:, 0] + result.qd[:-1, 0])
    work = 2e-4 * power.sum()
    gained = result.energy[-1, 2] - result.energy[0, 2]
    assert abs(gained) > 0.1
    assert work == pytest.approx(gained, rel=1e-2)  # efforts are of the ends of steps: order 1


def test_saved_models_and_results_are_the_same(tmp_path):
    model = bolted(damping=(0.1, 1e-3))
    ph.save_model(model, tmp_path / "m.json")
    loaded = ph.load_model(tmp_path / "m.json")
    again = getattr(loaded, "model", loaded)
    assert again == model
    result = ph.simulate(model, model.state(), 0.01, 1e-3, "bdf1")
    ph.save_result(result, tmp_path / "r.npz")
    back = ph.load_result(tmp_path / "r.npz")
    assert np.array_equal(back.soft["block"].nodes, result.soft["block"].nodes)
    assert np.array_equal(back.energy, result.energy)


def test_samples_do_not_depend_on_batches():
    model = bolted()
    whole = ph.simulate(model, model.state(), 0.02, 1e-3, "bdf1")
    many = ph.simulate(
        model, model.state(), 0.02, 1e-3, "bdf1", tau=lambda t: np.zeros(2)
    )  # a call for each step
    assert np.array_equal(whole.soft_states, many.soft_states)


def test_embedded_vertices_follow_the_nodes():
    model = free_block()
    body, rng = model.soft_bodies[0], np.random.default_rng(10)
    vertices = rng.uniform(body.nodes.min(axis=0), body.nodes.max(axis=0), (20, 3))
    embedding = body.embed(vertices)
    assert np.abs(embedding.weights.min()) >= 0.0
    shear = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    assert (
        np.abs(embedding.places(body.nodes @ shear) - vertices @ shear).max() < 1e-14
    )  # linear in a tetrahedron


NODES, TETS = grid(1, 1, 1, 0.05)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"tets": TETS[:, [0, 2, 1, 3]]}, "inverted"),
        ({"nodes": NODES * [1, 1, 0]}, "flat"),
        ({"nodes": [*NODES.tolist(), [1, 1, 1]]}, "node 8"),
        ({"poisson": 0.5}, "0.5"),
        ({"attached": {0: "nobody"}}, "nobody"),
        ({"attached": {99: "post"}}, "99"),
        ({"density": 0.0}, "density"),
        ({"damping": -1.0}, "damping"),
        ({"tets": [[0, 1, 2, 99]]}, "99"),
        ({"springs": [(0, 1, 1.0, 0.0)]}, "rest"),
        ({"nodes": NODES * np.nan}, "finite"),
    ],
)
def test_faulty_soft_bodies_are_refused(change, word):
    builder = ph.ModelBuilder()
    builder.add_body("post", joint=ph.joints.Slider((1, 0, 0)), mass=1.0, inertia=np.eye(3))
    with pytest.raises(ph.ModelError, match=word):
        builder.add_soft_body("block", **{"nodes": NODES, "tets": TETS, **MATERIAL, **change})
    assert not builder.soft_bodies


@pytest.mark.parametrize("method", ["RK45", "event_driven", "spring_implicit_euler"])
def test_methods_without_soft_bodies_are_refused(method):
    model = bolted()
    with pytest.raises(ph.ModelError, match=method):
        ph.simulate(model, model.state(), 0.01, 1e-3, method)


def test_energy_of_a_state_has_soft_bodies():
    model = bolted()
    places = model.soft_mesh.rest + np.random.default_rng(11).normal(size=model.soft_mesh.rest.shape) * 0.003
    state = model.state([0.1, -0.2], [1.0, 2.0], nodes={"block": places})
    result = ph.simulate(model, state, 1e-3, 1e-3, "rk4")
    assert ph.energy(model, state) == pytest.approx(tuple(result.energy[0]), rel=1e-12)


TIMES = np.linspace(0.0, 1.0, 9)


@pytest.mark.parametrize(
    "call",
    [
        ph.forward_dynamics,
        lambda model, state: ph.forward_dynamics(model, state, road="dense"),
        ph.inverse_dynamics,
        ph.constrained_dynamics,
        lambda model, state: ph.hybrid_dynamics(model, state, {"a": 0.0}),
        ph.forward_dynamics_derivatives,
        ph.inverse_dynamics_derivatives,
        ph.maximal_coordinates,
        lambda model, _: ph.inverse_dynamics_of_samples(model, TIMES, np.zeros((9, 2))),
        ph.joint_reactions,
    ],
)
def test_dynamics_of_one_state_refuse_soft_bodies(call):
    model = bolted()
    with pytest.raises(ph.ModelError, match="block"):
        call(model, model.state())


def test_a_loop_refuses_soft_bodies():
    model = bolted()
    with pytest.raises(ph.ModelError, match="block"):
        ph.simulate_loop(model, model.state(), 0.1)


def test_many_runs_have_the_bits_of_one_each():
    model = bolted()
    states = [model.state([angle, 0.0]) for angle in (0.0, 0.1, 0.2)]
    many = ph.simulate_many(model, states, 0.02, 1e-3, "bdf1")
    for state, result in zip(states, many, strict=True):
        assert np.array_equal(result.soft_states, ph.simulate(model, state, 0.02, 1e-3, "bdf1").soft_states)
