"""Closed loops in motion: drift, refusals, and the same mechanism closed in several ways."""

import numpy as np
import pytest

import physics as ph
from physics import constraints
from tests.physics.constraints.mechanisms import four_bar, pose
from tests.physics.generators import random_inertia, random_pose


def drift(model, result):
    """Largest distance from the equalities at any sample."""
    worst = 0.0
    for k in range(len(result.t)):
        state = ph.State(result.q[k], result.qd[k], 0.0, np.zeros(model.num_bodies, dtype=np.int64))
        for constraint in model.constraints.values():
            worst = max(worst, float(np.abs(constraint.value(model, state)).max()))
    return worst


@pytest.mark.parametrize("interval", [0.05, 1.0 / 24.0])  # where steps end, and between them
@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4", "bdf1"])
def test_four_bar_stays_closed(integrator, interval):
    model, state = four_bar()
    result = ph.simulate(model, state, 2.0, integrator=integrator, record_interval=interval)
    assert drift(model, result) < 1e-11
    assert result.info["constraints"]["steps_unmet"] == 0


def test_closures_agree():
    """A point, a hinge (two of its five rows count) and a joint with half of the bar move the linkage alike."""
    motions = {}
    for closure in ("point", "hinge", "joint"):
        model, state = four_bar(closure)
        if closure == "point":
            start = state.q
        q = [*start, start.sum()] if closure == "joint" else start
        result = ph.simulate(model, model.state(q), 1.0, integrator="rk4", record_interval=0.1)
        motions[closure] = result.q[:, :3]
    # rk4 at 1 ms is exact to 1e-10 here; the projections tolerate 1e-12
    assert np.abs(motions["hinge"] - motions["point"]).max() < 1e-9
    assert np.abs(motions["joint"] - motions["point"]).max() < 1e-9


def test_gear_and_rope():
    builder = ph.ModelBuilder()
    for name in ("pinion", "wheel"):
        link = {"mass": 1.0, "inertia": np.eye(3)}
        builder.add_body(name, joint=ph.joints.Hinge(), joint_in_parent=pose((0, 0, 0), (0.5, 0, 0)), **link)
    builder.add_constraint("gear", constraints.CouplingConstraint("wheel.angle", {"pinion.angle": -0.25}))
    model = builder.build()
    # the wheel's inertia is felt at the pinion with the square of the ratio
    qdd = ph.constrained_dynamics(model, model.state(), [1.0, 0.0]).qdd
    assert np.abs(qdd - np.array([1.0, -0.25]) / (1.0 + 0.25**2)).max() < 1e-14
    builder = ph.ModelBuilder()
    builder.add_body("ball", joint=ph.joints.Translational(), mass=1.0, inertia=1e-3 * np.eye(3))
    builder.add_constraint("rope", constraints.DistanceConstraint("ball", length=1.0, sense="rope"))
    model = builder.build()
    result = ph.simulate(model, model.state([0.5, 0.0, 0.0]), 3.0, record_interval=0.01)
    lengths = np.linalg.norm(result.poses[:, 0, :3, 3], axis=1)
    # the rope is met to second order of the step in each step, and led back
    assert lengths.max() < 1.0 + 1e-4 and lengths.min() < 0.9
    assert (np.diff(result.energy[:, 2]) < 1e-2).all()


def test_start_off_the_constraints_is_refused():
    model, _ = four_bar()
    with pytest.raises(ph.ModelError, match=r"constraint 'loop' is violated by .* at the start"):
        ph.simulate(model, model.state([0.3, 0.1, 0.2]), 0.1)
    builder = ph.ModelBuilder()
    builder.add_body("ball", joint=ph.joints.Translational(), mass=1.0, inertia=np.eye(3))
    builder.add_constraint("rope", constraints.DistanceConstraint("ball", length=0.5, sense="rope"))
    roped = builder.build()
    with pytest.raises(ph.ModelError, match=r"constraint 'rope' is violated by 1.5 m at the start"):
        ph.simulate(roped, roped.state([2.0, 0.0, 0.0]), 0.1)
    builder = ph.ModelBuilder()
    builder.add_body("bar", joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3), com=(1, 0, 0))
    builder.add_constraint(
        "far", constraints.PointConstraint("bar", point=(1.0, 0.0, 0.0), other_point=(5.0, 0.0, 0.0))
    )
    impossible = builder.build()
    with pytest.raises(ph.ModelError, match="constraint 'far' cannot be satisfied: it is violated by 4"):
        ph.assemble(impossible, impossible.state())


def test_a_loop_joint_needs_two_bodies():
    builder = ph.ModelBuilder()
    bar = builder.add_body("bar", joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3))
    for body, parent in (("bar", "bar"), (bar, "bar"), ("bar", bar)):
        with pytest.raises(ph.ModelError, match="loop joint 'loop' needs two bodies, got 'bar' twice"):
            builder.add_loop_joint("loop", body, parent, joint=ph.joints.Hinge())
    assert builder.build().num_bodies == 1


def test_model_round_trip(tmp_path):
    for closure in ("point", "hinge", "joint"):
        model, state = four_bar(closure)
        ph.save_model(model, tmp_path / "m.json", state)
        again = ph.load_model(tmp_path / "m.json")
        assert again.model == model and np.array_equal(again.state.q, state.q)


@pytest.mark.parametrize("integrator", ["DOP853", "LSODA", "Radau"])
def test_adaptive_methods_keep_the_loop_closed(integrator):
    model, state = four_bar()
    tight = {"rtol": 1e-9, "atol": 1e-11}
    result = ph.simulate(model, state, 1.0, integrator=integrator, record_interval=0.1, **tight)
    assert drift(model, result) < 1e-11
    fine = ph.simulate(model, state, 1.0, dt=5e-4, integrator="rk4", record_interval=0.1)
    # the adaptive method's own error over a second, and RK4's 1e-10
    assert np.abs(result.q - fine.q).max() < 1e-6
    assert np.abs(result.constraint_forces["loop"][-1] - fine.constraint_forces["loop"][-1]).max() < 1e-3


@pytest.mark.parametrize("integrator", ["RK45", "DOP853", "LSODA", "event_driven"])
def test_adaptive_methods_keep_the_energy_of_a_crank_that_goes_round(integrator):
    """What their states are off the loop by is led back: carried along, it grew with every turn of the crank, to 4 %
    of the energy after twenty of them, until the loop could not be met any more.
    """
    model, state = four_bar("point")
    state = ph.assemble(model, model.state(state.q, [3.0, 0.0, 0.0]))
    result = ph.simulate(model, state, 20.0, 0.01, integrator, record_interval=0.1)
    assert np.ptp(result.q[:, 0]) > 100.0  # rad
    total = result.energy[:, 2]
    # 7e-5 J of 41 J by tolerances of 1e-8, over some thousand steps
    assert np.abs(total - total[0]).max() < 5e-4


@pytest.mark.parametrize("order", ["AaBbCcDd", "ABCDabcd", "ADaBdCbc"])
def test_trees_may_come_in_any_order(order):
    """Four arms of two links, closed to a ring at their tips and once between their roots, against the dense system.

    Where bodies of several trees were mixed, only parts of some of them answered to what closes the loops.
    """
    rng = np.random.default_rng(1)
    links = {
        name: {
            "joint": ph.joints.Spherical(),
            "joint_in_parent": random_pose(rng, 1.0),
            "mass": rng.uniform(0.5, 2.0),
            "com": rng.normal(size=3),
            "inertia": random_inertia(rng, 1.0, 0.5),
        }
        for name in "ABCDabcd"
    }
    pins = {name: (*name, rng.normal(size=3), rng.normal(size=3)) for name in ("ab", "bc", "cd", "AC")}
    builder = ph.ModelBuilder()
    for name in order:
        builder.add_body(name, parent=name.upper() if name.islower() else None, **links[name])
    for name, (body, other, point, other_point) in pins.items():
        builder.add_constraint(name, constraints.PointConstraint(body, other, point, other_point))
    model = builder.build()
    turns = dict(zip("ABCDabcd", rng.normal(size=(8, 3))))
    state = model.state(np.concatenate([turns[name] for name in model.body_names]))
    jacobian = np.concatenate([each.jacobian(model, state) for each in model.constraints.values()])
    mass, count = ph.mass_matrix(model, state), model.num_coordinates
    system = np.block([[mass, -jacobian.T], [jacobian, np.zeros((len(jacobian),) * 2)]])
    bias = ph.inverse_dynamics(model, state, np.zeros(count))
    expected = np.linalg.solve(
        system, np.concatenate([-bias, np.zeros(len(jacobian))])
    )  # at rest: no bias of rows
    found = ph.constrained_dynamics(model, state)
    # round-off, against what the closures' forces are
    assert np.abs(found.qdd - expected[:count]).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize(
    "integrator", ["symplectic_euler", "forward_euler", "rk4", "bdf1", "sdirk2", "linearly_implicit_euler"]
)
def test_a_linkage_that_is_led_where_it_cannot_go_is_told_at_once(integrator):
    """Led back to where it closes, two methods ended as if nothing had been; two told of numbers that are not finite,
    and at a later time where the machine was faster.
    """
    model, state = four_bar()
    start = float(state.q[2])
    motion = ph.Motion([0.0, 0.1, 0.5], [start, start, start + 6.0])
    words = r"constraint 'loop' is violated by .* in a step of 0.001 s: prescribed motions contradict it"
    with pytest.raises(ph.DivergedError, match=words) as caught:
        ph.simulate(model, state, 0.5, 1e-3, integrator, motions={"rocker.angle": motion})
    assert caught.value.time == pytest.approx(0.222, abs=0.5e-3)  # crank and coupler are in line then
    assert drift(model, caught.value.result) < 1e-6


def test_a_step_that_is_too_long_for_a_loop_is_told():
    """Nothing contradicts a crank that turns fast: the step leads farther than the way back is found."""
    model, state = four_bar()
    spinning = ph.assemble(model, model.state(state.q, [60.0, 0.0, 0.0]))
    with pytest.raises(ph.DivergedError, match=r"in a step of 0\.01 s: take a smaller step"):
        ph.simulate(model, spinning, 1.0, 0.01)


@pytest.mark.parametrize("directions", ["angles", "displacements"])
def test_a_compliant_joint_gives_way_where_it_blocks_and_turns_where_it_does_not(directions):
    """A door of 2 kg on a hinge: its weight and the moment about its edge bend the hinge; pushed, it swings freely."""
    compliance = np.full(6, 1e-9)
    compliance[slice(0, 2) if directions == "angles" else slice(3, 6)] = 1e-4
    builder, place = ph.ModelBuilder(), pose((0.0, 0.0, 1.0))
    builder.add_body("door", joint=ph.joints.Free(), mass=2.0, com=(0.5, 0, 0), inertia=0.1 * np.eye(3))
    builder.add_loop_joint(
        "hinge",
        "door",
        None,
        joint=ph.joints.Hinge((0, 0, 1)),
        joint_in_parent=place,
        compliance=compliance,
        compliance_damping=[20.0] * 3 + [200.0] * 3,
    )
    model = builder.build()
    assert model.bodies[0].mass + model.bodies[1].mass == pytest.approx(2.0, rel=1e-15)  # round-off
    state = model.state({"door.z": 1.0, "hinge.angle": 0.0})
    result = ph.simulate(model, state, 3.0, 2e-3, "bdf1", record_interval=3.0)
    down = 1.0 - result.poses[-1, 0, 2, 3]
    dip = -result.poses[-1, 0, 2, 0]
    weight = 0.99 * 2.0 * 9.81  # the joint's own part hangs on the rigid hinge
    if directions == "angles":
        assert dip == pytest.approx(1e-4 * weight * 0.5, rel=1e-3) and abs(down) < 1e-6  # angles squared
    else:
        assert down == pytest.approx(1e-4 * weight, rel=1e-3) and abs(dip) < 1e-6
    assert np.abs(result.qd[-1]).max() < 1e-6
    pushed = model.state(result.q[-1], {"door.r_z": 1.0, "hinge.angle": 1.0})
    swung = ph.simulate(model, pushed, 0.5, 1e-3, "sdirk2", record_interval=0.5)
    assert swung.q[-1, model.coordinate_index("hinge.angle")] > 0.3
    with pytest.raises(ph.ModelError, match="compliance of loop joint 'rigid'"):
        builder.add_loop_joint("rigid", "door", None, joint=ph.joints.Hinge(), compliance=np.zeros(6))


def test_a_state_far_off_is_assembled_without_many_turns():
    # arms of four hinges about random axes, their ends up to 1.5 m from where they belong: Newton's whole steps turned
    # 181 of 300 such arms by more than a whole turn and up to 1169 rad; now three of 300 turn by up to 9.2 rad.
    rng, met = np.random.default_rng(4), 0
    for _ in range(20):
        builder, parent = ph.ModelBuilder(), None
        for k in range(4):
            mass, axis = 10.0 ** rng.uniform(-1.5, 1.0), rng.normal(size=3)
            builder.add_body(
                f"b{k}",
                parent,
                joint=ph.joints.Hinge(axis / np.linalg.norm(axis)),
                joint_in_parent=pose((0.0, -0.3 if k else 0.0, 0.0)),
                mass=mass,
                com=(0.0, -0.15, 0.0),
                inertia=mass * np.diag([7.5e-3, 7.5e-4, 7.5e-3]),
            )
            parent = f"b{k}"
        place = rng.normal(size=3)
        place *= rng.uniform(0.2, 0.6) / np.linalg.norm(place)
        end = constraints.PointConstraint(parent, point=(0.0, -0.3, 0.0), other_point=place)
        builder.add_constraint("end", end)
        model, q = builder.build(), rng.uniform(-0.7, 0.7, 4)
        try:
            found = ph.assemble(model, model.state(q))
        except ph.ModelError:  # out of reach
            continue
        met += 1
        assert np.abs(end.value(model, found)).max() < 1e-10 and np.abs(found.q - q).max() < 3.0 * np.pi
    assert met >= 10
