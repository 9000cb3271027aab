"""Implicit methods: orders, energy, Newton's iteration, what stops them."""

import numpy as np
import pytest

import physics as ph
from physics.integrators.implicit import implicit_workspace
from physics.kernels.stepping import implicit_stage
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.generators import (
    TREE_KINDS,
    random_coordinates,
    random_inertia,
    random_joint,
    random_pose,
    smooth_frames,
)
from tests.physics.simulation.test_contact_motion import on_slope
from tests.physics.small_models import alone, row

IMPLICIT = ("linearly_implicit_euler", "bdf1", "sdirk2")


def chain(rng, joints, stiffness=1.0, damping=0.1, armature=0.0):
    builder, parent = ph.ModelBuilder(), None
    for i, joint in enumerate(joints):
        body = {"joint": joint, "joint_in_parent": random_pose(rng, 0.1), "mass": rng.uniform(0.5, 1.5)}
        body |= {"com": rng.normal(size=3) * 0.05, "inertia": random_inertia(rng, 1.0, 0.3)}
        parent = builder.add_body(
            f"body {i}", parent, **body, stiffness=stiffness, damping=damping, armature=armature
        )
    return builder


def sprung_chain():
    """Hinges with springs and dampers between points of bodies that are not neighbours, and to the world."""
    rng = np.random.default_rng(0)
    builder = chain(rng, [ph.joints.Hinge(rng.normal(size=3)) for _ in range(5)])
    for k, (a, b) in enumerate([(1, 3), (2, 4), (4, None)]):
        other = None if b is None else f"body {b}"
        points = rng.normal(size=(2, 3)) * 0.2
        ends = (f"body {a}", points[0], other, points[1])
        builder.add_spring(f"spring {k}", *ends, stiffness=40.0, damping=1.0, rest_length=0.1)
    model = builder.build()
    return model, model.state(qd=rng.normal(size=model.num_coordinates) * 0.5)


def chain_of_everything():
    """One joint of every type, one behind the other; velocities so low that no chart changes."""
    rng = np.random.default_rng(3)
    joints = [random_joint(rng, kind) for kind in TREE_KINDS]
    model = chain(rng, joints, damping=0.5, armature=0.05).build()
    q = np.concatenate([random_coordinates(rng, joint, 0.5) for joint in joints])
    qd = np.where(model.prescribed, 1.0, 0.1 * rng.normal(size=len(q)))
    return model, model.state(q=q, qd=qd)


def test_orders_of_convergence():
    """The error falls with the first, first and second power of the step, to 12 %; every joint, at a short span."""
    (model, state), span = chain_of_everything(), 0.02
    exact = ph.simulate(model, state, span, integrator="DOP853", rtol=1e-12, atol=1e-13).q[-1]
    for name, order in zip(IMPLICIT, (1, 1, 2)):
        steps = (40, 80, 160)
        errors = [
            np.linalg.norm(ph.simulate(model, state, span, span / n, name).q[-1] - exact) for n in steps
        ]
        slopes = np.log2(np.array(errors[:-1]) / errors[1:])
        assert np.abs(slopes - order).max() < 0.12 * order, (name, errors)


def test_linear_oscillator_is_the_textbooks():
    """I q'' = -k q - c q': both Euler methods are v' = (I v - h k q) / (I + h c + h^2 k)."""
    body = {"inertia": np.diag([1, 1, 1.5]), "stiffness": 700.0, "damping": 3.0}
    model = alone("wheel", ph.joints.Hinge(), gravity=(0, 0, 0), **body).build()
    for name in ("linearly_implicit_euler", "bdf1"):
        h, q, v = 0.1, 0.3, -1.0
        result = ph.simulate(model, model.state(q=[q], qd=[v]), 1.0, h, name)
        for k in range(1, 11):
            v = (1.5 * v - h * 700.0 * q) / (1.5 + h * 3.0 + h * h * 700.0)
            q += h * v
            assert np.isclose(result.q[k, 0], q, rtol=1e-12, atol=1e-14)
            assert np.isclose(result.qd[k, 0], v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", IMPLICIT)
def test_what_rests_goes_on_resting(name):
    """Corrections that are exactly zero are the end of the iteration, too."""
    model = alone("wheel", ph.joints.Spherical(), gravity=(0, 0, 0), stiffness=1e6).build()
    result = ph.simulate(model, model.state(), 10.0, 1.0, name)
    assert not result.q.any() and not result.qd.any()


def test_energy_falls_with_backward_euler_and_wavers_at_second_order_with_sdirk2():
    builder = ph.ModelBuilder()
    inertia = np.diag([0.1, 0.1, 0.01])
    builder.add_body("rod", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, com=(0, 0, -0.5), inertia=inertia)
    model = builder.build()
    state = model.state(q=[1.5])
    fallen = ph.simulate(model, state, 5.0, 0.01, "bdf1").energy[:, 2]
    assert fallen[-1] < fallen[0] and np.diff(fallen).max() < 1e-3 * np.ptp(fallen)
    drift = [np.ptp(ph.simulate(model, state, 5.0, dt, "sdirk2").energy[:, 2]) for dt in (0.02, 0.01)]
    assert drift[1] < drift[0] / 3.5 and drift[1] < 1e-2 * (fallen[0] - fallen[-1])


def test_newton_converges_quadratically():
    """From no acceleration at all, a step far beyond the explicit limit; corrections in the scale of velocities."""
    model, state = chain_of_everything()
    implicit, spaces = implicit_workspace(model), model.workspace().clear()
    vectors, nv, step = implicit[3], model.num_coordinates, 0.02
    vectors[implicit_stage.BASE, :nv] = state.q
    vectors[implicit_stage.BASE_QD, :nv] = state.qd
    sizes = np.zeros(12)
    assert implicit_stage.solve_stage(model.arrays, None, step, implicit, spaces, sizes)
    sizes = step * sizes[sizes > 0.0]
    assert len(sizes) > 5 and sizes[0] > 1.0
    last = sizes[-3:]  # 0.016, 9e-4, 2e-6: each about three times the square of the one before
    assert (last[1:] < 6.0 * last[:-1] ** 2).all() and last[-1] < 1e-5
    rows = (implicit_stage.STAGE_Q, implicit_stage.STAGE_QD, implicit_stage.ACCELERATIONS)
    q, qd, qdd = (vectors[row, :nv] for row in rows)
    force = ph.inverse_dynamics(model, model.state(q=q, qd=qd), qdd)
    scale = np.abs(ph.mass_matrix(model, state)) @ np.abs(qdd)
    assert np.abs(force[~model.prescribed]).max() < 1e-10 * scale.max()


def test_spinning_body_changes_charts_and_keeps_its_momentum():
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    inertia = np.diag([0.3, 0.5, 0.6])
    builder.add_body("top", joint=ph.joints.Spherical(), mass=1.0, inertia=inertia)
    model = builder.build()
    result = ph.simulate(model, model.state(q=[0.3, -0.2, 0.1], qd=[1.0, 4.0, 0.5]), 5.0, 2e-3, "sdirk2")
    assert result.info["chart_changes"] > 0
    rotation = ph.lie.so3_exp(result.q)
    body_rate = np.einsum("tij,tj->ti", ph.lie.so3_right_jacobian(result.q), result.qd)
    momentum = np.einsum("tij,jk,tk->ti", rotation, inertia, body_rate)
    # second order: 5 s of 4 rad/s at (w dt)^2 of 6e-5
    assert np.abs(momentum - momentum[0]).max() < 1e-2 * np.linalg.norm(momentum[0])


def test_a_force_over_time_and_the_same_bits_every_time():
    model, state = sprung_chain()
    rng = np.random.default_rng(3)
    table = ph.Table(np.linspace(0.0, 0.2, 5), rng.normal(size=(5, model.num_coordinates)))
    exact = ph.simulate(model, state, 0.2, integrator="DOP853", tau=table, rtol=1e-11, atol=1e-12).q[-1]
    for name, error in zip(IMPLICIT, (2e-2, 2e-2, 1e-4)):
        first = ph.simulate(model, state, 0.2, 2e-3, name, tau=table)
        again = ph.simulate(model, state, 0.2, 2e-3, name, tau=table, progress=lambda _: None)
        assert np.abs(first.q[-1] - exact).max() < error
        assert np.array_equal(first.q, again.q) and np.array_equal(first.qd, again.qd)


@pytest.mark.parametrize("name", IMPLICIT)
def test_prescribed_coordinates_go_their_way(name):
    rng = np.random.default_rng(4)
    joints = [ph.joints.Hinge(), random_joint(rng, "moving_surface"), ph.joints.Hinge()]
    model = chain(rng, joints).build()
    state = model.state()
    result = ph.simulate(model, state, 0.1, 0.01, name)
    moving = model.prescribed
    assert moving.any() and np.allclose(result.q[:, moving], result.t[:, None], atol=1e-13)
    assert (result.qd[:, moving] == 1.0).all()


def test_what_they_cannot_do_is_told():
    options = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": np.eye(3) * 0.1}
    frames = smooth_frames(np.random.default_rng(5), 8)
    model = alone("bead", ph.joints.SplineCurve(frames, outside="error"), **options).build()
    upper = model.joints[0].range[0, 1]
    for name in IMPLICIT:
        with pytest.raises(ph.DivergedError, match="range") as caught:
            ph.simulate(model, model.state(q=[0.9 * upper], qd=[5.0]), 2.0, 0.01, name)
        assert caught.value.body == "bead" and len(caught.value.result.t) > 1


def test_a_step_that_newton_cannot_take_is_told():
    """Rods thrown so fast that a step holds many turns: no solution is near; time and body are named."""
    link = {"com": (0, 0, -0.5), "inertia": np.diag([0.1, 0.1, 0.01]), "gravity": (0, 0, -100.0)}
    model = row(["upper", "lower"], ph.joints.Hinge((0, 1, 0)), (0, 0, -1.0), **link).build()
    rng = np.random.default_rng(3)
    state = model.state(q=rng.normal(size=2), qd=5e3 * rng.normal(size=2))
    with pytest.raises(ph.DivergedError, match="smaller") as caught:
        ph.simulate(model, state, 100.0, 0.5, "sdirk2")
    assert caught.value.body in ("upper", "lower") and caught.value.result.t[-1] == caught.value.time


@pytest.mark.parametrize("name, order", list(zip(IMPLICIT, (1, 1, 2))))
def test_closed_loops_and_their_forces(name, order):
    """A four-bar linkage stays closed; motion and forces come at the order of the method, against RK4."""
    model, state = four_bar("hinge")
    exact = ph.simulate(model, state, 0.2, 1e-3, "rk4")
    errors, forces = [], []
    for n in (20, 40):
        result = ph.simulate(model, state, 0.2, 0.2 / n, name)
        errors.append(np.abs(result.q[-1] - exact.q[-1]).max())
        last, right = (run.constraint_forces["loop"][-1] for run in (result, exact))
        forces.append(np.abs(last - right).max())
        assert result.info["constraints"]["drift_left"] < 1e-11
        assert result.info["constraints"]["steps_unmet"] == 0
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.1 * order
    assert forces[1] < 0.6 * forces[0]


def test_a_stiff_spring_in_a_closed_loop():
    """A spring across a linkage that would want microseconds: SDIRK2 swings it out at milliseconds."""
    model, state = four_bar("point")
    builder = ph.ModelBuilder.from_dict(model.to_dict())
    poses = ph.body_poses(model, state)
    length = float(np.linalg.norm((poses[2] @ [0.7, 0, 0, 1] - poses[0] @ [0.5, 0, 0, 1])[:3]))
    ends = ("crank", (0.5, 0.0, 0.0), "rocker", (0.7, 0.0, 0.0))
    builder.add_spring("stay", *ends, stiffness=1e8, damping=1e3, rest_length=length)
    stiff = builder.build()
    state = ph.assemble(stiff, stiff.state(state.q))
    for name in ("bdf1", "sdirk2"):
        result = ph.simulate(stiff, state, 1.0, 2e-3, name)
        assert result.info["constraints"]["drift_left"] < 1e-11
        assert np.abs(result.qd[-1]).max() < 0.05  # the spring holds it, its own damping has calmed it
        assert result.energy[-1, 2] < result.energy[0, 2]


@pytest.mark.parametrize("name", IMPLICIT)
def test_given_motions_and_what_they_take(name):
    model, state = four_bar("point")
    start = state.q[0]
    motions = {"crank": ph.Motion([0.0, 0.1, 0.2, 0.3], start + np.array([0.0, 0.1, 0.3, 0.6]))}
    exact = ph.simulate(model, state, 0.25, 1e-3, "rk4", motions=motions, record_interval=0.05)
    result = ph.simulate(model, state, 0.25, 2.5e-3, name, motions=motions, record_interval=0.05)
    assert np.abs(result.q - exact.q).max() < 1e-10  # one degree of freedom, and that is given
    effort = np.abs(result.efforts - exact.efforts)
    assert (
        effort.max() < 1e-3 * np.abs(exact.efforts).max()
    )  # told before the step is brought back onto the loop


@pytest.mark.parametrize("name", [*IMPLICIT, "rk4"])
def test_hard_limits_stop_without_creeping(name):
    builder = ph.ModelBuilder()
    inertia = np.diag([0.1, 0.1, 0.01])
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": inertia}
    joint = ph.joints.Hinge((0, 1, 0))
    builder.add_body("rod", joint=joint, limits=(-1.0, 0.4), limit_restitution=0.3, **rod)
    model = builder.build()
    result = ph.simulate(model, model.state(), 3.0, 5e-3, name)
    assert result.q.max() < 0.4 + 1e-3
    rested = result.t > 2.5
    assert np.abs(result.qd[rested]).max() < 1e-10 and np.ptp(result.q[rested]) < 1e-10


@pytest.mark.parametrize("name", IMPLICIT)
def test_a_cube_stands_on_a_slope_and_slides_on_a_steeper_one(name):
    edge = np.arctan(0.4)
    model, state = on_slope(edge - 1e-3, 0.7, 0.4)
    rest = ph.simulate(model, state, 0.2, 2e-3, name, record_interval=0.2)
    assert np.abs(rest.q[-1] - rest.q[0]).max() < 1e-11
    model, state = on_slope(edge + 0.1, 0.7, 0.4)
    moved = ph.simulate(model, state, 0.2, 2e-3, name, record_interval=0.2).q[-1, :3] - state.q[:3]
    excess = 9.81 * (np.sin(edge + 0.1) - 0.4 * np.cos(edge + 0.1))
    # first order of the step in a uniform acceleration: 0.2 s in 100 steps
    assert abs(np.linalg.norm(moved) - 0.5 * excess * 0.2**2) < 0.015 * 0.5 * excess * 0.2**2


@pytest.mark.parametrize("name", ["bdf1", "sdirk2"])
def test_damped_ground_is_touched_at_any_step(name):
    """Its force leaps at the touch, where an implicit step may have no end: shorter ones take its place, and at last a
    linearly implicit one. Samples in it are faster than its ends only by what gravity adds: a cubic's ran beyond.
    """
    builder = alone("ball", ph.joints.Slider(axis=(0, 0, 1)))
    builder.add_ground("floor", "ball", points=[(0.0, 0.0, 0.0)], stiffness=2e3, damping=800.0, exponent=1.5)
    model = builder.build()
    beyond, parted = 0.0, 0
    for height in np.linspace(0.1, 0.2, 21):
        result = ph.simulate(model, model.state([height]), 0.5, 2e-3, name, record_interval=5e-4)
        parted += result.info["divided"]
        assert -0.05 < result.q[-1, 0] < 0.0  # it has come to rest in the ground
        speed = result.qd[:, 0]
        ends = np.array([speed[:-1:4], speed[4::4]])
        for k in (1, 2, 3):
            beyond = max(
                beyond, (speed[k::4] - ends.max(axis=0)).max(), (ends.min(axis=0) - speed[k::4]).max()
            )
    assert parted > 0 and beyond < 9.81 * 2e-3, beyond


def test_backward_euler_leads_what_is_given_as_it_goes_itself():
    """Each step ends where the forces are those of the changes of velocity over it, also of the given coordinate whose
    acceleration leaps.
    """
    link = {"com": (0.25, 0.0, 0.0), "inertia": 0.02 * np.eye(3)}
    builder = row(["led", "free"], ph.joints.Hinge((0.0, 1.0, 0.0)), (0.5, 0, 0), **link)
    model, dt = builder.build(), 1e-3
    motion = ph.Motion([0.0, 0.2, 0.25, 0.5], [0.0, 0.1, 0.9, 0.9])
    state = model.state(q=[0.0, 0.3])
    result = ph.simulate(model, state, 0.5, dt, "bdf1", motions={"led": motion}, record_interval=dt)
    changes = np.diff(result.qd, axis=0) / dt
    missing = [
        ph.inverse_dynamics(model, model.state(q=q, qd=qd), a)[1]
        for q, qd, a in zip(result.q[1:], result.qd[1:], changes)
    ]
    # Newton's iteration ends near round-off of forces of 10 N m
    assert np.abs(changes[:, 0]).max() > 100.0 and np.abs(missing).max() < 1e-8


@pytest.mark.parametrize(("dt", "stiffness", "length"), [(1e-3, 3e8, 1.0), (1.1e-3, 4.6e7, 1.25)])
@pytest.mark.parametrize("integrator", ["bdf1", "sdirk2"])
def test_a_stiff_spring_stays_on_its_side(integrator, dt, stiffness, length):
    """Equations of a stage have another solution, on the other side of the spring's end: with it a run made 89 times
    its energy. On this side the force is linear in the length, and both methods only damp.
    """
    builder = alone("mass", ph.joints.Translational(), gravity=(0.0, 0.0, 0.0))
    builder.add_spring("s", "mass", (0, 0, 0), None, (0, 0, 0), stiffness=stiffness, rest_length=0.9)
    model = builder.build()
    result = ph.simulate(model, model.state([length, 0.0, 0.0]), 0.05, dt, integrator)
    assert (result.q[:, 0] > 0.0).all() and (np.diff(result.energy[:, 2]) < 1e-9 * result.energy[0, 2]).all()
