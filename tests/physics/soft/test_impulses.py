"""Contacts, hard limits and constraints of models with soft bodies, by the response of the step's matrix."""

import dataclasses

import numpy as np
import pytest

import physics as ph
from physics import constraints, contacts
from tests.physics.constraints.mechanisms import bar, four_bar, pose
from tests.physics.soft.blocks import MATERIAL, grid

METHOD = "linearly_implicit_euler"
# mass and stiffness are a millionth of those of bodies and gravity
NOTHING = {"young": 1e-2, "density": 1e-6, "poisson": 0.3}
DAMPED = {**MATERIAL, "damping": 1e-3}


def add_block(builder, body, place, material):
    """A block of two cubes whose first four nodes are attached."""
    nodes, tets = grid(2, 1, 1, 0.05)
    ends = {k: body for k, x in enumerate(nodes) if x[0] < 1e-9}
    builder.add_soft_body("block", nodes + place, tets=tets, attached=ends, **material)


def linkage(material=None):
    """`four_bar`, with a block on its coupler."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    for name, parent, length, start in (
        ("crank", None, 1.0, 0.0),
        ("coupler", "crank", 2.0, 1.0),
        ("rocker", "coupler", 1.5, 2.0),
    ):
        bar(builder, name, parent, length, start)
    frames = {"frame": pose((1.5, 0.0, 0.0)), "other_frame": pose((2.0, 0.0, 0.0))}
    builder.add_constraint("loop", constraints.HingeConstraint("rocker", **frames))
    if material:
        add_block(builder, "coupler", (1.5, 0.0, 0.0), material)
    model = builder.build()
    return model, model.state(four_bar()[1].q)


def pendulums(material=None, **limits):
    """Two in a row, with a block on the first."""
    builder = ph.ModelBuilder()
    for name, parent in (("a", None), ("b", "a")):
        at = pose((0.4 if parent else 0.0, 0.0, 0.0))
        link = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": 0.01 * np.eye(3), **limits}
        builder.add_body(name, parent, joint=ph.joints.Hinge((0, 1, 0)), joint_in_parent=at, **link)
    if material:
        add_block(builder, "a", (0.1, 0.0, 0.0), material)
    return builder


def geared(material=None):
    builder = pendulums(material)
    builder.add_constraint("gear", constraints.CouplingConstraint("b.angle", {"a.angle": -0.25}))
    model = builder.build()
    return model, model.state()


def limited(material=None):
    model = pendulums(material, limits=[(-0.3, 0.8)], limit_restitution=0.0).build()
    return model, model.state()


def stack(material=None):
    """Three boxes of 1 kg that fall onto each other and a floor, with a block on the second."""
    builder = ph.ModelBuilder()
    builder.add_collider("floor", None, contacts.Plane(), friction=0.5)
    for k in range(3):
        builder.add_body(str(k), joint=ph.joints.Free(), mass=1.0, inertia=0.007 * np.eye(3))
        builder.add_collider(str(k), str(k), contacts.Box((0.1, 0.1, 0.1)), friction=0.5)
    if material:
        add_block(builder, "1", (0.1, 0.0, 0.0), material)
    model = builder.build()
    q = np.zeros((3, 6))
    q[:, 2], q[:, 0] = 0.1 + 0.21 * np.arange(3), 0.02 * np.arange(3)
    return model, model.state(q.ravel())


@pytest.mark.parametrize(
    ("case", "near"),
    [
        (stack, 1e-6),  # mass and stiffness of the block over those of the bodies
        (geared, 1e-4),  # the tolerance of impulses
        (linkage, 1e-3),
        (limited, 2e-2),  # without soft bodies a step before a limit is of another order
    ],
)
def test_a_negligible_soft_body_leaves_the_motion(case, near):
    plain, with_block = (
        ph.simulate(*case(material), 1.0, 2e-3, METHOD, record_interval=0.02) for material in (None, NOTHING)
    )
    assert np.abs(plain.q - with_block.q).max() < near
    assert np.ptp(plain.q, axis=0).max() > 0.01


def held(tied, **limit):
    """Two bodies at an angle to each other with a block on the second, held by a coupling or by a fixed joint."""
    builder = ph.ModelBuilder()
    link = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": 0.01 * np.eye(3)}
    builder.add_body("a", joint=ph.joints.Hinge((0, 1, 0)), **link, **limit)
    joint = ph.joints.Hinge((0, 1, 0)) if tied else ph.joints.Fixed()
    builder.add_body("b", "a", joint=joint, joint_in_parent=pose((0.4, 0.0, 0.0), (0.0, 0.7, 0.0)), **link)
    add_block(builder, "b", (0.5, 0.0, -0.1), DAMPED)
    if tied:
        builder.add_constraint("tie", constraints.CouplingConstraint("b.angle", {"a.angle": 0.0}))
    return builder.build()


@pytest.mark.parametrize("step", [5e-3, 2e-3, 5e-4])
@pytest.mark.parametrize(
    ("limit", "near"),
    [({}, 1e-11), ({"limits": [(-1.0, 1.0)], "limit_restitution": 0.0}, 1e-8)],
)
def test_a_coupling_holds_as_a_fixed_joint(limit, near, step):
    # near: `AGREED` and `IN_CONTACT` of what impulses change, 10 rad/s in all
    tied, fixed = (
        ph.simulate(model, model.state({}, {"a.angle": 6.0}), 0.4, step, METHOD)
        for model in (held(True, **limit), held(False, **limit))
    )
    assert np.ptp(fixed.q) > 0.9 and (fixed.q.max() < 1.01) == bool(limit)
    assert np.abs(tied.q[:, 1]).max() < 1e-12  # the tolerance of constraints
    assert np.abs(tied.q[:, 0] - fixed.q[:, 0]).max() < near
    assert np.abs(tied.soft["block"].nodes - fixed.soft["block"].nodes).max() < near


def chain(*gears):
    """Three in a row with a block on the last, with couplings {name: weight of a's angle}."""
    builder = pendulums()
    link = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": 0.02 * np.eye(3)}
    builder.add_body(
        "c", "b", joint=ph.joints.Hinge((0, 1, 0)), joint_in_parent=pose((0.4, 0.0, 0.0)), **link
    )
    add_block(builder, "c", (0.9, 0.0, 0.0), DAMPED)
    for name, weight in gears:
        coupling = constraints.CouplingConstraint(f"{name}.angle", {"a.angle": weight})
        builder.add_constraint(f"gear of {name}", coupling)
    return builder.build()


@pytest.mark.parametrize("step", [5e-3, 2e-3, 5e-4])
def test_impulses_solve_the_equations_of_the_whole_matrix(step):
    """Against J (v + G l) = 0 with the end v of a step without gears, and its change G by torques J^T."""
    free, geared = chain(), chain(("b", 0.5), ("c", -1.5))
    rows = np.array([[-0.5, 1.0, 0.0], [1.5, 0.0, 1.0]])
    start = geared.state([0.3, 0.15, -0.45], [4.0, 2.0, -6.0])
    before = ph.simulate(geared, start, 0.1, step, METHOD)
    state = geared.state(before.q[-1], before.qd[-1])
    state = dataclasses.replace(state, soft_states=before.soft_states[-1])

    def after(model, torques):
        result = ph.simulate(model, state, step, step, METHOD, tau=torques)
        nodes = result.soft_states[-1].reshape(2, -1, 3)[:, 4:]  # attached ones are not linear in the speeds
        return np.concatenate([result.qd[-1], nodes.ravel()]), result.row_forces

    end, _ = after(free, np.zeros(3))
    change = np.array([after(free, row)[0] - end for row in rows]).T
    force = np.linalg.solve(rows @ change[:3], -rows @ end[:3])
    found, forces = after(geared, np.zeros(3))
    most = np.abs(change @ force).max()
    assert most > 1e-3
    # the tolerance of impulses, and round-off of speeds over their change by a torque of 1 N m
    near = 2e-12 + 1e-14 * np.abs(end).max() / np.abs(change[:3]).max()
    assert np.abs(found - end - change @ force).max() < near * most
    assert np.abs(forces[-1] - force).max() < near * np.abs(force).max()


@pytest.mark.parametrize("case", [geared, linkage])
def test_rows_are_met_with_a_heavy_block_and_energy_does_not_grow(case):
    model, state = case(DAMPED)
    result = ph.simulate(model, state, 2.0, 2e-3, METHOD)
    found = result.info["constraints"]
    assert found["drift_left"] < 1e-12 and found["residual"] < 1e-12  # the solver's tolerance, and round-off
    values = model.evaluate_constraints(model.state(result.q[-1]), model.constraints.values())[0]
    assert np.abs(values).max() < 1e-12
    total = result.energy[:, 2]
    assert total.max() < total[0] + 1e-3 * result.energy[:, 0].max()  # the method's order


def test_a_weld_holds_the_weight_of_body_and_nodes():
    builder = ph.ModelBuilder()
    builder.add_body("a", joint=ph.joints.Free(), mass=1.0, inertia=0.01 * np.eye(3))
    builder.add_constraint("weld", constraints.WeldConstraint("a"))
    add_block(builder, "a", (0.0, 0.0, 0.0), {**MATERIAL, "damping": 2e-2})
    model = builder.build()
    result = ph.simulate(model, model.state(), 3.0, 5e-3, METHOD, record_interval=1.0)
    weight = 9.81 * (1.0 + model.soft_mesh.masses.sum())
    assert np.linalg.norm(result.row_forces[-1, :3]) == pytest.approx(
        weight, rel=1e-6
    )  # the block swings out


def box_on_table(restitution=0.0):
    """A box of 1 kg, 2 cm above a table that a motion holds, with a block on top that starts unstrained."""
    builder = ph.ModelBuilder()
    builder.add_body("table", joint=ph.joints.Slider((0, 0, 1)), mass=2.0, inertia=np.eye(3))
    builder.add_body("box", joint=ph.joints.Free(), mass=1.0, inertia=0.007 * np.eye(3))
    builder.add_collider("table", "table", contacts.Box((1.0, 1.0, 0.05)), friction=0.5)
    builder.add_collider("box", "box", contacts.Box((0.1, 0.1, 0.1)), friction=0.5, restitution=restitution)
    nodes, tets = grid(2, 2, 2, 0.05)
    nodes = nodes + [-0.05, -0.05, 0.1]
    ends = {k: "box" for k, x in enumerate(nodes) if x[2] < 0.1 + 1e-9}
    builder.add_soft_body("block", nodes, tets=tets, attached=ends, **{**MATERIAL, "damping": 1e-2})
    return builder.build()


def test_a_box_with_a_block_rests_on_what_holds_its_weight():
    model = box_on_table()
    state, hold = model.state({"box.z": 0.17}), ph.Motion([0.0, 2.0], [0.0, 0.0])
    result = ph.simulate(model, state, 2.0, 2e-3, METHOD, motions={"table": hold})
    found = result.info["constraints"]
    assert found["residual"] < 1e-8 and found["overlap"] < 1e-6  # the solver's tolerance
    assert np.abs(result.q[-1] - model.state({"box.z": 0.15}).q).max() < 1e-6
    weight = 9.81 * (3.0 + model.soft_mesh.masses.sum())
    assert result.efforts[-1, 0] == pytest.approx(weight, rel=1e-6)  # the block sways out


@pytest.mark.parametrize("young", [1e4, 1e7])
def test_tumbling_boxes_with_a_block_between_them_gain_no_energy(young):
    builder = ph.ModelBuilder()
    builder.add_collider("floor", None, contacts.Plane(), friction=0.5)
    for k, name in enumerate(("a", "b")):
        at = pose((0.4 * k, 0.0, 0.1))
        link = {"mass": 1.0, "inertia": 0.004 * np.eye(3), "joint_in_parent": at}
        builder.add_body(name, joint=ph.joints.Free(), **link)
        builder.add_collider(name, name, contacts.Box((0.1, 0.1, 0.1)), friction=0.5)
    nodes, tets = grid(4, 1, 1, 0.05)
    nodes = nodes + [0.1, -0.025, 0.075]
    ends = {k: "a" if x < 0.2 else "b" for k, x in enumerate(nodes[:, 0]) if not 0.11 < x < 0.29}
    material = {**MATERIAL, "young": young, "damping": 1e-3}
    builder.add_soft_body("block", nodes, tets=tets, attached=ends, **material)
    model = builder.build()
    start = {"a.z": 0.3, "b.z": 0.3}, {"a.x": 1.0, "b.x": 1.0, "a.r_x": 0.5, "b.r_x": -0.5}
    result = ph.simulate(model, model.state(*start), 2.0, 5e-3, METHOD)
    total = result.energy[:, 2]
    assert np.diff(total).max() < 1e-12 * total[0]  # round-off
    assert total[-1] < 0.5 * total[0] and result.info["constraints"]["overlap"] < 1e-6


def test_results_do_not_depend_on_the_room_for_rows(monkeypatch):
    import physics.dynamics.workspace as workspace

    model, state = stack(NOTHING)
    expected = ph.simulate(model, state, 0.3, 2e-3, METHOD)
    monkeypatch.setattr(workspace, "FIRST_CONTACTS", 1)
    monkeypatch.setattr(workspace, "FIRST_ISLAND", 3)
    again = ph.simulate(model, state, 0.3, 2e-3, METHOD)
    for name in ("q", "qd", "soft_states"):
        assert np.array_equal(getattr(again, name), getattr(expected, name))


def test_assembling_carries_the_nodes():
    model, state = linkage(DAMPED)
    moved = model.state(state.q + [1e-3, 0.0, 0.0])
    found = ph.assemble(model, moved)
    assert found.soft_states == pytest.approx(model.state(found.q, found.qd).soft_states, abs=1e-12)


@pytest.mark.parametrize("method", ["bdf1", "sdirk2", "rk4", "symplectic_euler"])
@pytest.mark.parametrize("case", [geared, limited, stack])
def test_other_methods_are_refused_by_name(case, method):
    model, state = case(NOTHING)
    with pytest.raises(ph.ModelError, match=rf"{method!r}.*'block'.*{METHOD}"):
        ph.simulate(model, state, 0.01, 1e-3, method)


def test_flexible_surfaces_with_hard_limits_are_refused():
    builder = ph.ModelBuilder()
    values = np.zeros((4, 4, 6))
    values[..., 3], values[..., 4] = np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 4), indexing="ij")
    joint = ph.joints.FlexibleSurface(ph.joints.SplineSurface(values))
    builder.add_body("ball", joint=joint, mass=0.2, inertia=1e-4 * np.eye(3))
    hard = {"limits": [(-1.0, 1.0)], "limit_restitution": 0.0}
    builder.add_body("arm", joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3), **hard)
    builder.add_flexible_surface("sheet", ["ball"], density=1.0, tension=20.0)
    model = builder.build()
    with pytest.raises(ph.ModelError, match=r"hard limits.*'sheet'"):
        ph.simulate(model, model.state({"ball.q_1": 0.4, "ball.q_2": 0.4}), 0.01, 1e-3, METHOD)


def test_a_target_leads_a_body_with_a_block():
    builder = pendulums(DAMPED)
    builder.add_target("tip", "b", point=(0.4, 0.0, 0.0))
    model = builder.build()
    state = model.state({"a.angle": 0.4, "b.angle": -0.8})
    tip = (ph.body_poses(model, state)[1] @ [0.4, 0.0, 0.0, 1.0])[[0, 2]]
    ends = {name: ph.Motion([0.0, 0.5], [x, x - 0.05]) for name, x in zip(("tip.x", "tip.z"), tip)}
    result = ph.simulate(model, state, 0.5, 2e-3, METHOD, motions=ends)
    found = ph.body_poses(model, model.state(result.q[-1]))[1] @ [0.4, 0.0, 0.0, 1.0]
    assert found[[0, 2]] == pytest.approx(tip - 0.05, abs=1e-9)  # the tolerance of constraints
    assert result.q.shape[1] == 2 and result.soft["block"].nodes.shape[1] == 12
