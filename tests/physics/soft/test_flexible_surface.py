"""Surfaces that bend under the bodies on them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

import physics as ph
from physics.geometry import splines

SIDE, DENSITY, TENSION, BENDING, MASS = 0.6, 1.0, 20.0, 0.01, 0.2
COUNT, ORDER = 9, 4
POINTS = np.arange(COUNT**2).reshape(COUNT, COUNT)


def sheet(shift=(0.0, 0.0, 0.0), bent=0.0):
    """A square sheet, whose control points are where its coordinates are."""
    heights = splines.greville(splines.clamped_knots(COUNT, ORDER), ORDER)
    values = np.zeros((COUNT, COUNT, 6))
    values[..., 3], values[..., 4] = SIDE * heights[:, None], SIDE * heights[None, :]
    values[..., 5] = bent * (heights[:, None] ** 2 - heights[None, :] ** 2 + heights[:, None] ** 3)
    values[..., 3:] += shift
    return ph.joints.FlexibleSurface(ph.joints.SplineSurface(values))


def arch(count=11):
    """A bent wire between two ends."""
    angle = np.linspace(-1.1, 1.1, count)
    values = np.zeros((count, 6))
    values[:, 3], values[:, 5] = 0.4 * np.sin(angle), 0.4 * np.cos(angle)
    return ph.joints.FlexibleSurface(ph.joints.SplineSurface(values))


def drum(beads=1, carried=False, gravity=9.81, bent=0.0, **options):
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -gravity))
    if carried:
        builder.add_body(
            "cart", joint=ph.joints.Free(), mass=1.5, com=(0.2, 0.4, -0.1), inertia=0.05 * np.eye(3)
        )
    for k in range(beads):
        builder.add_body(
            f"ball{k}",
            joint=sheet(bent=bent),
            parent="cart" if carried else None,
            mass=MASS,
            com=(0.0, 0.0, 0.02),
            inertia=1e-4 * np.eye(3),
        )
    settings = {"density": DENSITY, "tension": TENSION, "bending": BENDING} | options
    builder.add_flexible_surface("drum", [f"ball{k}" for k in range(beads)], **settings)
    return builder.build()


def bow(gravity=9.81, **options):
    """A bead on a bent wire on a body that swings freely."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_body("frame", joint=ph.joints.Free(), mass=0.8, inertia=0.02 * np.eye(3))
    placed = np.eye(4)
    placed[:3, 3] = 0.05, -0.1, 0.02
    builder.add_body(
        "bead", joint=arch(), parent="frame", joint_in_parent=placed, mass=0.3, inertia=1e-4 * np.eye(3)
    )
    settings = {"density": 0.2, "tension": 30.0, "bending": 0.05, "fixed": "clamped"} | options
    builder.add_flexible_surface("wire", ["bead"], **settings)
    return builder.build()


def momentum(model, result):
    """Of all bodies and control points about the world's origin (T, 6)."""
    found = np.zeros((len(result.t), 6))
    for k, (q, qd) in enumerate(zip(result.q, result.qd)):
        for i, body in enumerate(model.bodies):
            pose = result.poses[k, i]
            turn, jacobian = pose[:3, :3], ph.body_jacobian(model, replace(model.state(), q=q), body)
            angular, linear = np.split(jacobian @ qd, 2)
            speed = turn @ (linear + np.cross(angular, body.com))
            found[k, :3] += turn @ (body.inertia @ angular) + body.mass * np.cross(
                pose[:3, 3] + turn @ body.com, speed
            )
            found[k, 3:] += body.mass * speed
    for motion in result.soft.values():
        found += motion.momentum
    return found


def test_lowest_frequency_of_a_drum():
    """pi / side sqrt(2 tension / density); cubic splines of 9 values are 4e-7 off."""
    body = drum(bending=0.0).soft_bodies[0]
    mass, stiffness = body.surface.matrices
    free = ~np.asarray(body.surface.fixed).ravel()
    lowest = scipy.linalg.eigh(
        stiffness[np.ix_(free, free)], mass[np.ix_(free, free)], eigvals_only=True, subset_by_index=[0, 0]
    )[0]
    assert np.sqrt(lowest) == pytest.approx(np.pi / SIDE * np.sqrt(2.0 * TENSION / DENSITY), rel=1e-6)


def test_rows_of_stiffness_vanish_and_mass_is_that_of_the_area():
    for body, mass in ((drum().soft_bodies[0], DENSITY * SIDE**2), (bow().soft_bodies[0], None)):
        m, k = body.surface.matrices
        np.testing.assert_allclose(k.sum(axis=1), 0.0, atol=1e-12 * np.abs(k).max())  # round-off
        if mass is not None:
            assert m.sum() == pytest.approx(mass, rel=1e-13)
        assert np.linalg.eigvalsh(m).min() > 0.0
        assert np.linalg.eigvalsh(k).min() > -1e-12 * np.abs(k).max()


def test_accelerations_of_a_bead_on_a_sheet():
    """Against the dense equations of u and the free control points, formed from the bases alone."""
    model = drum()
    body = model.soft_bodies[0]
    mass, stiffness = body.surface.matrices
    fixed = np.asarray(body.surface.fixed).ravel()
    free = np.flatnonzero(~fixed)
    rng = np.random.default_rng(4)
    c = body.nodes.copy()
    c[free] += 0.02 * rng.normal(size=(len(free), 3))
    rates = np.zeros_like(c)
    rates[free] = 0.3 * rng.normal(size=(len(free), 3))
    u, du = np.array([0.37, 0.61]), np.array([0.8, -0.5])
    knots = splines.clamped_knots(COUNT, ORDER)

    def weights(a, b):
        first, second = (splines.basis(knots, ORDER, u[k : k + 1], d)[0] for k, d in ((0, a), (1, b)))
        return np.outer(first, second).ravel()

    slopes = np.stack([weights(1, 0) @ c, weights(0, 1) @ c], axis=1)
    jacobian = np.concatenate([slopes, np.kron(weights(0, 0)[free], np.eye(3))], axis=1)
    bias = weights(2, 0) @ c * du[0] ** 2 + 2.0 * weights(1, 1) @ c * du[0] * du[1]
    bias += weights(0, 2) @ c * du[1] ** 2 + 2.0 * (weights(1, 0) * du[0] + weights(0, 1) * du[1]) @ rates
    down = np.array([0.0, 0.0, -9.81])
    system = MASS * jacobian.T @ jacobian
    system[2:, 2:] += np.kron(mass[np.ix_(free, free)], np.eye(3))
    force = jacobian.T @ (MASS * (down - bias))
    weight = np.outer(mass.sum(axis=1), down) - stiffness @ (c - body.nodes)
    force[2:] += weight[free].ravel()
    wanted = np.linalg.solve(system, force)
    state = model.state(
        q={"ball0.q_1": u[0], "ball0.q_2": u[1]},
        qd={"ball0.q_1": du[0], "ball0.q_2": du[1]},
        nodes={"drum": c},
        node_rates={"drum": rates},
    )
    # x, y, z follow from the nodes
    np.testing.assert_allclose(state.q[:3], weights(0, 0) @ c, atol=1e-15)
    np.testing.assert_allclose(state.qd[:3], slopes @ du + weights(0, 0) @ rates, atol=1e-14)
    step = 1e-6
    result = ph.simulate(model, state, step, step, "forward_euler")
    found = (result.qd[-1, 3:] - du) / step, (result.soft["drum"].rates[-1, free] - rates[free]) / step
    scale = np.abs(wanted).max()
    # differences of velocities over a step of 1e-6: round-off 1e-16 / 1e-6
    np.testing.assert_allclose(found[0], wanted[:2], atol=1e-8 * scale)
    np.testing.assert_allclose(found[1].ravel(), wanted[2:], atol=1e-8 * scale)


def test_sag_under_its_own_weight():
    """At the solution of the linear equations nothing accelerates."""
    model = drum()
    body = model.soft_bodies[0]
    mass, stiffness = body.surface.matrices
    free = np.flatnonzero(~np.asarray(body.surface.fixed).ravel())
    knots = splines.clamped_knots(COUNT, ORDER)
    middle = splines.basis(knots, ORDER, np.array([0.5]))[0]
    load = -9.81 * (mass.sum(axis=1) + MASS * np.outer(middle, middle).ravel())
    places = body.nodes.copy()
    places[free, 2] += np.linalg.solve(stiffness[np.ix_(free, free)], load[free])
    state = model.state(q={"ball0.q_1": 0.5, "ball0.q_2": 0.5}, nodes={"drum": places})
    result = ph.simulate(model, state, 0.05, 1e-3, "rk4")
    sag = np.abs(places - body.nodes).max()
    assert sag > 0.02
    assert np.abs(result.soft["drum"].nodes - places).max() < 1e-10 * sag


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("sdirk2", 2), ("bdf1", 1)])
def test_energy_and_momentum_at_the_order_of_the_method(method, order):
    """Of a swinging bow with a bead in free flight, whose wire is bent at rest."""
    model = bow(gravity=0.0)
    start = model.state(q={"bead.q_1": 0.4}, qd={"frame": [0.9, -2.0, 1.5, 0.1, 0.2, -0.3], "bead.q_1": 0.9})
    lost, drift = [], []
    for step in (2e-3, 1e-3, 5e-4):
        result = ph.simulate(model, start, 0.1, step, method)
        lost.append(np.ptp(result.energy[:, 2]))
        moving = momentum(model, result)
        drift.append(np.abs(moving - moving[0]).max())
    for errors in (lost, drift):
        slopes = np.log2(np.array(errors[:-1]) / errors[1:])
        # round-off: energies of 1 J, momenta of 1 kg m/s, 200 steps
        assert errors[-1] < 1e-11 or slopes[-1] > order - 0.2, (errors, slopes)


@pytest.mark.parametrize("bent", [0.0, 0.1])
def test_places_by_modes_and_corners(bent):
    """Of a sheet on a body, with a plane rim (three corners) and a bent one (four)."""
    model = drum(carried=True, gravity=0.0, bent=bent)
    (modes, _), mesh = model.soft_mesh.modes[0], model.soft_mesh
    assert len(modes.corners) == (3 if bent == 0.0 else 4)
    start = model.state({"ball0.q_1": 0.4, "ball0.q_2": 0.3}, {"cart": [0.5, -0.9, 0.7, 0.1, 0.2, -0.3]})
    np.testing.assert_allclose(mesh.outward(mesh.inward(start.soft_states)), start.soft_states, atol=1e-14)
    result = ph.simulate(model, start, 0.1, 1e-3, "rk4")
    moving = momentum(model, result)
    assert np.ptp(result.energy[:, 2]) < 1e-12  # round-off: slow, and of smooth motion
    assert np.abs(moving - moving[0]).max() < 1e-12
    rim = result.soft["drum"].nodes[-1, modes.fixed]  # moves with the cart
    pose = result.poses[-1, 0]
    wanted = modes.law.points[modes.fixed] @ pose[:3, :3].T + pose[:3, 3]
    np.testing.assert_allclose(rim, wanted, atol=1e-13)


@pytest.mark.parametrize("place", [0.0, 1e4])
def test_energy_of_a_stiff_sheet_at_any_place(place):
    """Of a cart in free flight with a bead on its sheet."""
    model = drum(carried=True, gravity=0.0, tension=2000.0, bending=1.0)
    speeds = {"cart": [0.5, -0.9, 0.7, 0.1, 0.2, -0.3], "ball0.q_1": 0.3}
    start = model.state({"cart": [place, 0, 0, 0, 0, 0], "ball0.q_1": 0.4, "ball0.q_2": 0.3}, speeds)
    result = ph.simulate(model, start, 0.02, 2.5e-4, "rk4")
    # round-off of places at 1e4 m: 2e-12 in each of 80 steps; forces of absolute places lose 4e-8 J
    assert np.ptp(result.energy[:, 2]) < 1e-10


@pytest.mark.parametrize("tension", [0.0, TENSION])
@pytest.mark.parametrize("fixed", [POINTS == 0, POINTS != 40, POINTS < COUNT], ids=["one", "but one", "row"])
def test_rest_with_any_fixed_points(fixed, tension):
    """Without tension the stiffness is singular about one point or a straight row."""
    model = drum(carried=True, gravity=0.0, fixed=fixed, tension=tension)
    assert model.soft_bodies[0].surface.modes[0].min() >= 0.0
    result = ph.simulate(model, model.state(q={"ball0.q_1": 0.4, "ball0.q_2": 0.3}), 0.01, 1e-3, "rk4")
    assert np.abs(result.soft["drum"].rates).max() < 1e-11  # round-off: places of 1 m, up to 900 / s


def test_energy_of_a_swing():
    """A bead that falls onto the sheet: 85 mm, and 1e-8 of that energy at 0.5 ms."""
    model = drum()
    start = model.state(q={"ball0.q_1": 0.3, "ball0.q_2": 0.45})
    result = ph.simulate(model, start, 0.5, 5e-4, "rk4")
    depth = -result.q[:, 2].min()
    assert depth == pytest.approx(0.085, abs=2e-3)
    assert np.ptp(result.energy[:, 2]) < 1e-8 * MASS * 9.81 * depth


def test_a_bent_wire_rests_as_it_was_built():
    model = bow(gravity=0.0)
    for method in ("rk4", "sdirk2", "linearly_implicit_euler"):
        result = ph.simulate(model, model.state(q={"bead.q_1": 0.4}), 0.1, 1e-3, method)
        assert (
            np.abs(result.soft["wire"].rates).max() < 1e-11
        )  # m/s: round-off of its springs, summed over the steps


def test_a_stiff_sheet_carries_as_the_rigid_one():
    """The motion nears that on the joint without elastic control points with the inverse of the tension."""
    builder = ph.ModelBuilder()
    builder.add_body("ball0", joint=sheet().surface, mass=MASS, com=(0, 0, 0.02), inertia=1e-4 * np.eye(3))
    rigid = builder.build()
    start = {"ball0.q_1": 0.3, "ball0.q_2": 0.45}, {"ball0.q_1": 0.5, "ball0.q_2": 0.2}
    wanted = ph.simulate(rigid, rigid.state(*start), 0.4, 1e-3, "sdirk2").q[-1]
    errors = []
    for tension in (1e5, 1e6):
        model = drum(tension=tension, damping=1e-3)
        result = ph.simulate(model, model.state(*start), 0.4, 1e-3, "sdirk2")
        errors.append(np.abs(result.q[-1, 3:] - wanted).max())
    assert errors[1] < 0.2 * errors[0] < 1e-3


def test_several_bodies_and_orders_of_the_linearly_implicit_step():
    model = drum(beads=3, carried=True, damping=(0.1, 1e-3))
    places = {
        f"ball{k}.q_{i + 1}": v
        for k, pair in enumerate([(0.2, 0.3), (0.6, 0.4), (0.5, 0.8)])
        for i, v in enumerate(pair)
    }
    start = model.state(places, {"cart": [0.5, -0.4, 0.3, 0.0, 0.1, 0.2]})
    wanted = ph.simulate(model, start, 0.05, 2.5e-4, "rk4").q[-1]
    errors = [
        np.abs(ph.simulate(model, start, 0.05, step, "linearly_implicit_euler").q[-1] - wanted).max()
        for step in (1e-3, 5e-4)
    ]
    assert errors[1] < 0.6 * errors[0] < 1e-3


def test_saved_and_read(tmp_path):
    model = drum(carried=True, fixed="clamped", damping=(0.1, 1e-3))
    ph.save_model(model, tmp_path / "drum.json")
    again = ph.load_model(tmp_path / "drum.json").model
    assert again == model
    result = ph.simulate(model, model.state(), 0.01, 1e-3, "sdirk2")
    ph.save_result(result, tmp_path / "drum.npz")
    read = ph.load_result(tmp_path / "drum.npz")
    np.testing.assert_array_equal(read.soft_states, result.soft_states)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"density": 0.0}, "density"),
        ({"density": 1e-310}, "'drum' .*density 1e-310, tension 20 and bending 0.01"),
        ({"tension": 1e308}, r"'drum' .*tension 1e\+308"),
        ({"tension": -1.0}, "tension"),
        ({"tension": 0.0, "bending": 0.0}, "tension or bending"),
        ({"fixed": "rim"}, "'rim'"),
        ({"fixed": np.ones((COUNT, COUNT), dtype=bool)}, "81 of 81"),
        ({"fixed": np.zeros((3, 3), dtype=bool)}, r"shape \(9, 9\)"),
        ({"fixed": [[True], [False, True]]}, r"shape \(9, 9\), got \[\[True\]"),
        ({"damping": (1.0, 2.0, 3.0)}, "damping"),
    ],
)
def test_wrong_values_are_named(options, word):
    with pytest.raises(ph.ModelError, match=word):
        drum(**options)


def test_bodies_must_be_on_the_same_surface():
    builder = ph.ModelBuilder()
    builder.add_body("one", joint=sheet(), mass=1.0, inertia=np.eye(3))
    builder.add_body("other", joint=sheet((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    builder.add_body("hinge", joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    builder.add_body("on it", joint=sheet(), parent="one", mass=1.0, inertia=np.eye(3))
    for bodies, word in (
        (["one", "other"], "same joint"),
        (["hinge"], "FlexibleSurface"),
        (["two"], "'two'"),
        ([], "none"),
    ):
        with pytest.raises(ph.ModelError, match=word):
            builder.add_flexible_surface("drum", bodies, density=1.0, tension=1.0)
    assert not builder.flexible_surfaces
    builder.add_flexible_surface("drum", ["one"], density=1.0, tension=1.0)
    for name, bodies, word in (
        ("drum", ["other"], "already"),
        ("more", ["one"], "already"),
        ("more", ["on it"], "'one' on a flexible surface must not carry"),
    ):
        with pytest.raises(ph.ModelError, match=word):
            builder.add_flexible_surface(name, bodies, density=1.0, tension=1.0)


def test_a_body_on_a_surface_carries_none_whichever_comes_first():
    builder = ph.ModelBuilder()
    for name, parent in (("one", None), ("on it", "one")):
        builder.add_body(name, joint=sheet(), parent=parent, mass=1.0, inertia=np.eye(3))
    builder.add_flexible_surface("upper", ["on it"], density=1.0, tension=1.0)
    with pytest.raises(ph.ModelError, match="'one' on a flexible surface must not carry"):
        builder.add_flexible_surface("lower", ["one"], density=1.0, tension=1.0)


def test_fixed_control_points_are_a_copy():
    mask = np.zeros((COUNT, COUNT), dtype=bool)
    mask[0] = True
    model = drum(fixed=mask)
    mask[:] = True
    assert np.sum(model.soft_bodies[0].surface.fixed) == COUNT


def test_nodes_of_soft_bodies_may_be_fixed_in_the_world():
    builder = ph.ModelBuilder()
    builder.add_body("arm", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, inertia=np.eye(3))
    builder.add_soft_body(
        "rope", [[0, 0, 0], [0, 0, -0.1]], springs=[[0, 1, 100.0, 0.1]], density=0.1, attached={0: None}
    )
    model = builder.build()
    result = ph.simulate(model, model.state(), 0.2, 1e-3, "rk4")
    motion = result.soft["rope"]
    np.testing.assert_array_equal(motion.nodes[:, 0], 0.0)
    # a mass of 5 g on a spring of 1000 N/m swings about its sag
    sag = 0.005 * 9.81 / 1000.0
    assert -0.1 - 2.01 * sag < motion.nodes[:, 1, 2].min() < -0.1 - 1.9 * sag


def test_dynamics_need_the_surface_of_a_joint():
    builder = ph.ModelBuilder()
    builder.add_body("bead", joint=arch(), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    with pytest.raises(ph.ModelError, match="add_flexible_surface"):
        ph.simulate(model, model.state(), 0.1, 1e-2)


@pytest.mark.filterwarnings("ignore:a spline surface of order 3")
def test_surfaces_with_jumps_of_curvature_are_refused():
    wire = ph.joints.SplineSurface(arch().surface.values, order=3)
    builder = ph.ModelBuilder()
    builder.add_body("bead", joint=ph.joints.FlexibleSurface(wire), mass=1.0, inertia=np.eye(3))
    with pytest.raises(ph.ModelError, match="kinematics"):
        builder.add_flexible_surface("wire", ["bead"], density=1.0, tension=1.0)
