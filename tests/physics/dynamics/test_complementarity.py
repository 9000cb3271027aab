"""Accelerations where limits, ropes and contacts push or part: those of short steps, and of all bodies."""

import numpy as np
import pytest

import physics as ph
from tests.physics.constraints.mechanisms import bar
from tests.physics.simulation.test_contact_motion import on_slope

SHORT = 1e-4  # s: round-off of gaps, over its square, is 1e-8 m/s2; accelerations change by about 1e-4 of themselves


def stepped(model, state, tau=None):
    """Mean accelerations of a step."""
    result = ph.simulate(model, state, SHORT, SHORT, tau=tau)
    return (result.qd[-1] - result.qd[0]) / SHORT


def leaning(pull):
    """Two bars, the first against its stop, and a rope from the second's end that is just taut."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    inertia = np.diag([1e-3, 1e-3, 1e-3])
    limited = {"limits": [(-0.2, 3.0)], "limit_restitution": 0.0}
    builder.add_body("first", joint=ph.joints.Hinge(), mass=0.3, com=(0.1, 0, 0), inertia=inertia, **limited)
    bar(builder, "second", "first", 0.3, 0.2, mass=0.5)
    state_q = np.array([-0.2, 0.4])
    poses = ph.body_poses(builder.build(), builder.build().state(state_q))
    end = (poses[1] @ [0.3, 0.0, 0.0, 1.0])[:3]
    anchor = np.array([0.1, 0.5, 0.0])
    rope = ph.constraints.DistanceConstraint(
        "second", point=(0.3, 0.0, 0.0), other_point=anchor, length=np.linalg.norm(end - anchor), sense="rope"
    )
    builder.add_constraint("rope", rope)
    model = builder.build()
    return model, model.state(state_q), np.array(pull)


@pytest.mark.parametrize("pull", [(0.0, 0.0), (5.0, 0.0), (-2.0, 3.0), (4.0, 3.0)])
def test_limits_and_ropes_push_or_part(pull):
    model, state, tau = leaning(pull)
    found = ph.constrained_dynamics(model, state, tau)
    assert np.abs(found.qdd - stepped(model, state, tau)).max() < 2e-3 * max(1.0, np.abs(found.qdd).max())
    assert found.limits[0] >= 0.0 and found.forces["rope"][0] >= 0.0
    assert found.qdd[0] >= -1e-9 and abs(found.qdd[0] * found.limits[0]) < 1e-9
    whole = ph.constrained_bodies(model, state, tau)
    assert np.abs(whole.qdd - found.qdd).max() < 1e-9 * max(1.0, np.abs(found.qdd).max())


def test_what_is_being_hit_has_no_acceleration():
    model, state, _ = leaning((0.0, 0.0))
    with pytest.raises(ph.ModelError, match="has an impact at 0"):
        ph.constrained_dynamics(model, model.state(state.q, [-0.5, 0.0]))


@pytest.mark.parametrize(("angle", "friction"), [(0.3, 0.5), (0.5, 0.4), (0.5, 0.0)])
def test_a_block_sticks_or_begins_to_slide(angle, friction):
    model, state = on_slope(angle, 0.3, friction)
    found = ph.constrained_dynamics(model, state)
    assert np.abs(found.qdd - stepped(model, state)).max() < 1e-6
    total = sum(contact.force for contact in found.contacts)
    weight = model.bodies[0].mass * 9.81
    slides = np.tan(angle) > friction
    expected = 9.81 * (np.sin(angle) - friction * np.cos(angle)) if slides else 0.0
    assert abs(np.linalg.norm(found.qdd[:3]) - expected) < 1e-8
    if not slides:
        assert np.abs(total - [0.0, 0.0, weight]).max() < 1e-8


def test_a_block_that_slides_is_slowed_along_its_way():
    model, state = on_slope(0.2, 0.3, 0.4)
    rest = ph.constrained_dynamics(model, state)
    normal = sum(
        contact.force for contact in ph.constrained_dynamics(on_slope(0.2, 0.3, 0.0)[0], state).contacts
    )
    normal /= np.linalg.norm(normal)
    across = np.cross(normal, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across)
    qd = np.array(state.qd)
    qd[:3] = 0.7 * across
    found = ph.constrained_dynamics(model, model.state(state.q, qd))
    assert np.abs(rest.qdd).max() < 1e-8
    down = np.array([0.0, 0.0, -9.81]) + 9.81 * np.cos(0.2) * normal
    expected = down - 0.4 * 9.81 * np.cos(0.2) * across
    assert np.abs(found.qdd[:3] - expected).max() < 1e-7


def test_joints_carry_what_contacts_bring():
    """A rod on a hinge that leans with its end on the floor: the hinge carries what the floor does not."""
    builder = ph.ModelBuilder()
    inertial = {"mass": 2.0, "com": (0.5, 0, 0), "inertia": np.diag([0.01, 0.2, 0.2])}
    builder.add_body("rod", joint=ph.joints.Hinge(axis=(0, 1, 0)), **inertial)
    floor = np.eye(4)
    floor[2, 3] = -np.sin(0.5)
    builder.add_contact("floor", "rod", [(1.0, 0, 0)], ph.contacts.Plane(), pose=floor, friction=0.6)
    model = builder.build()
    state = model.state([0.5])
    found = ph.constrained_dynamics(model, state)
    assert np.abs(found.qdd).max() < 1e-9
    carried = ph.joint_reactions(model, state)[0, 3:]
    pose = ph.body_poses(model, state)[0]
    total = pose[:3, :3] @ carried + found.contacts[0].force
    assert np.abs(total - [0.0, 0.0, 2.0 * 9.81]).max() < 1e-8


@pytest.mark.parametrize("turn", [(0.0, 1.0), (1.0, 0.0)])
def test_what_sticks_to_a_turning_plate_goes_round_with_it(turn):
    """At the instant at which the plate lies level, where the axis by which tangents are laid may change."""
    builder = ph.ModelBuilder()
    axis = np.array([*turn, 0.0])
    builder.add_body("plate", joint=ph.joints.Hinge(axis=axis), mass=1.0, inertia=np.eye(3) * 1e9)
    builder.add_body("block", joint=ph.joints.Free(), mass=2.0, inertia=np.eye(3) * 0.01)
    builder.add_contact("rest", "block", [(0, 0, 0)], ph.contacts.Plane(), other="plate", friction=0.9)
    model = builder.build()
    speed, place = 1.5, np.array([0.3, 0.2, 0.0])
    q, qd = np.zeros(7), np.zeros(7)
    q[1:4], qd[0], qd[1:4] = place, speed, speed * np.cross(axis, place)
    found = ph.constrained_dynamics(model, model.state(q, qd))
    inward = np.cross(axis, np.cross(axis, speed**2 * place))
    assert np.abs(found.qdd[1:4] - inward).max() < 1e-6  # the heavy plate gives way by 1e-8


@pytest.mark.parametrize("pinned", [False, True])
def test_what_cannot_move_has_no_accelerations(pinned):
    """A model without coordinates, with a contact: its rows had no shape."""
    builder = ph.ModelBuilder()
    builder.add_body("stone", joint=ph.joints.Fixed(), mass=1.0, inertia=np.eye(3))
    builder.add_contact("table", "stone", [(0, 0, 0.5)], ph.contacts.Plane())
    if pinned:
        builder.add_constraint("pin", ph.constraints.PointConstraint("stone"))
    model = builder.build()
    assert ph.constrained_dynamics(model, model.state()).qdd.shape == (0,)
