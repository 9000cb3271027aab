"""Beads on wires with sharp corners: the impulse there against smooth fillets in the limit, energy, refusals."""

import itertools

import numpy as np
import pytest

import physics as ph
from physics.dynamics.cusps import cusps_of, pass_cusp
from physics.geometry.splines import averaged_knots

LEG, END = 0.3, 0.45  # m, s: the bead passes the corner on the way


def frames_at(points):
    frames = np.tile(np.eye(4), (len(points), 1, 1))
    frames[:, :3, 3] = points
    return frames


def bent(restitution=1.0, turn=np.pi / 2):
    """A wire along x to the origin, then turned about -y: a cusp at q = 0."""
    along = np.linspace(0.0, LEG, 7)[1:, None] * [np.cos(turn), 0.0, np.sin(turn)]
    points = np.concatenate([np.linspace(-LEG, 0.0, 7)[:, None] * [1.0, 0.0, 0.0], along])
    leg = averaged_knots(np.linspace(0.0, LEG, 7), 4)
    knots = np.concatenate([leg[:-1] - LEG, leg[4:]])  # three at 0
    return ph.joints.SplineCurve(frames_at(points), knots=knots, cusp_restitution=restitution)


def fillet(radius, turn=np.pi / 2):
    """The same wire with a round corner: an arc that touches both legs. Round it, all radii look alike."""
    cut, angles = radius * np.tan(0.5 * turn), np.linspace(0.0, turn, 9)
    arc = [[-cut + radius * np.sin(a), 0.0, radius * (1.0 - np.cos(a))] for a in angles]
    leg = np.concatenate([cut + radius * np.linspace(0.2, 1.6, 8), np.linspace(0.1, LEG, 14)])[:, None]
    first, last = -leg[::-1] * [1.0, 0.0, 0.0], leg * [np.cos(turn), 0.0, np.sin(turn)]
    return ph.joints.SplineCurve(frames_at(np.concatenate([first, arc, last])))


def cart(builder, rates):
    builder.add_body("carrier", joint=ph.joints.Slider((1, 0, 0)), mass=1.0, inertia=0.01 * np.eye(3))
    rates["carrier"] = [-0.4]


def wheel(builder, rates):
    builder.add_body("carrier", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, inertia=0.02 * np.eye(3))
    rates["carrier"] = [0.7]


def swing(builder, rates):
    """The coupler of a four-bar; the third link closes the loop."""
    down, across = frames_at([[0.0, 0.0, -0.5]])[0], frames_at([[0.4, 0.0, 0.0]])[0]
    bar = {"mass": 0.3, "com": (0, 0, -0.25), "inertia": 0.01 * np.eye(3)}
    builder.add_body("left", joint=ph.joints.Hinge((0, 1, 0)), **bar)
    hinge = ph.joints.Hinge((0, 1, 0))
    builder.add_body("carrier", "left", joint=hinge, joint_in_parent=down, mass=1.0, inertia=0.02 * np.eye(3))
    builder.add_body("right", joint=ph.joints.Hinge((0, 1, 0)), joint_in_parent=across, **bar)
    builder.add_constraint(
        "pin", ph.constraints.PointConstraint("carrier", "right", (0.4, 0, 0), (0, 0, -0.5))
    )
    rates.update(left=[0.8], carrier=[-0.8], right=[0.8])


def run(carrier, joint, method):
    """Velocities of the carrier and of the bead along its wire at the end."""
    builder, rates = ph.ModelBuilder(gravity=(0, 0, 0)), {}
    carrier(builder, rates)
    aside = frames_at([[0.1, 0.0, 0.05]])[0]
    builder.add_body(
        "bead", "carrier", joint=joint, joint_in_parent=aside, mass=0.5, inertia=1e-5 * np.eye(3)
    )
    model, start = builder.build(), joint.domain[0]
    model, start = builder.build(), joint.domain[:1]
    rates["bead"] = [1.0 / np.linalg.norm(joint.evaluate(start)[1])]
    state = model.state(q={"bead": start}, qd=rates)
    result = ph.simulate(model, state, END, 1e-3, method, record_interval=0.05, rtol=1e-11, atol=1e-13)
    end = model.coordinate_slice("bead").start
    speed = np.linalg.norm(joint.evaluate(result.q[-1, [end]])[1]) * result.qd[-1, end]
    return np.append(result.qd[-1, :end], speed), result


@pytest.mark.parametrize("carrier", [cart, wheel, swing])
@pytest.mark.parametrize("turn", [np.pi / 2, 1.9])
def test_a_cusp_is_the_limit_of_fillets(carrier, turn):
    """Fillets of 8, 4 and 2 mm, extrapolated twice, which leaves the third order in the radius: 1e-5."""
    sharp, result = run(carrier, bent(turn=turn), "event_driven")
    assert result.info["impacts"] == 1
    assert np.ptp(result.energy[:, 2]) < 1e-9  # of the methods' tolerance
    found = [run(carrier, fillet(radius, turn), "DOP853")[0] for radius in (8e-3, 4e-3, 2e-3)]
    once = [2.0 * b - a for a, b in itertools.pairwise(found)]
    np.testing.assert_allclose((4.0 * once[1] - once[0]) / 3.0, sharp, atol=1e-5)


def at_corner(joint, before, carrier=cart, muscle=False):
    """A model with its bead at the corner, by the velocities before it."""
    builder, rates = ph.ModelBuilder(gravity=(0, 0, 0)), {}
    carrier(builder, rates)
    builder.add_body("bead", "carrier", joint=joint, mass=0.5, inertia=1e-5 * np.eye(3))
    if muscle:
        path = [ph.muscles.PathPoint(None, (0, 0.3, 0.2)), ph.muscles.PathPoint("bead", (0.02, 0, 0.01))]
        builder.add_muscle("cord", path, mass=0.2)
    model = builder.build()
    (cusps,) = cusps_of(model)
    return model, cusps, model.state(q=cusps.sides(np.zeros(2), 0)[0 if before[1] > 0 else 1], qd=before)


@pytest.mark.parametrize("muscle", [False, True])
@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_the_impulse_keeps_energy_and_the_carriers_momentum(muscle, speed):
    model, cusps, state = at_corner(bent(), [-0.4, speed], muscle=muscle)
    q, qd = pass_cusp(model, state, cusps, 0, np.zeros(2, bool))
    after = model.state(q=q, qd=qd)
    kinetic = [ph.energy(model, each).kinetic for each in (state, after)]
    momenta = [(ph.mass_matrix(model, each) @ each.qd)[0] for each in (state, after)]
    assert np.isclose(*kinetic, rtol=1e-12) and np.isclose(*momenta, rtol=1e-12)
    assert np.sign(qd[1]) == speed and cusps.branch(q) == (speed > 0.0)


@pytest.mark.parametrize(("turn", "expected"), [(np.pi / 3, 0.5), (np.pi / 2, 0.0), (1.9, 0.0)])
def test_without_restitution_the_part_along_the_new_direction_is_left(turn, expected):
    """On a carrier that is held; at a right angle and beyond the bead stays in the corner."""
    model, cusps, state = at_corner(bent(0.0, turn), [0.3, 1.0])
    _, qd = pass_cusp(model, state, cusps, 0, np.array([True, False]))
    speeds = [np.linalg.norm(bent(turn=turn).evaluate(each)[1]) for each in ([-1e-14], [0.0])]
    assert np.isclose(qd[1] * speeds[1], expected * speeds[0], atol=1e-12) and qd[0] == 0.3


def test_a_bead_that_comes_to_rest_in_a_valley_is_told():
    builder = ph.ModelBuilder()
    turned = np.eye(4)
    turned[:3, :3] = ph.lie.so3_exp(np.array([0.0, np.pi / 4, 0.0]))
    builder.add_body("bead", joint=bent(0.5), joint_in_parent=turned, mass=0.5, inertia=1e-5 * np.eye(3))
    model = builder.build()
    with pytest.raises(ph.DivergedError, match="rest in a cusp") as caught:
        ph.simulate(model, model.state(q=[-0.2]), 3.0, 1e-3, "event_driven")
    assert abs(caught.value.result.q[-1, 0]) < 1e-3


def test_cusps_are_for_methods_that_have_their_impulses_and_are_saved(tmp_path):
    builder = ph.ModelBuilder()
    builder.add_body("bead", joint=bent(0.5), mass=0.5, inertia=1e-5 * np.eye(3))
    model = builder.build()
    for method in ("symplectic_euler", "rk4", "sdirk2", "DOP853"):
        with pytest.raises(ph.ModelError, match="cusps of the joint of body 'bead'"):
            ph.simulate(model, model.state(), 0.1, 1e-3, method)
    ph.save_model(model, tmp_path / "bead.json")
    ((column, places, restitution),) = ph.load_model(tmp_path / "bead.json").model.joints[0].cusps
    assert (column, places.tolist(), restitution) == (0, [0.0], 0.5)


@pytest.mark.parametrize(("copies", "refused"), [(2, "kinematics only"), (4, "more than 3 times")])
def test_knots_repeat_once_or_as_a_cusp(copies, refused):
    knots = np.concatenate([[-0.3] * 4, [-0.1], [0.0] * copies, [0.3] * 4])
    points = np.linspace(-LEG, LEG, len(knots) - 4)[:, None] * [1.0, 0.0, 0.0]
    builder = ph.ModelBuilder()
    with pytest.raises(ph.ModelError, match=refused):
        builder.add_body(
            "bead", joint=ph.joints.SplineCurve(frames_at(points), knots=knots), mass=1.0, inertia=np.eye(3)
        )
        model = builder.build()
        ph.simulate(model, model.state(), 0.1, 1e-3)
