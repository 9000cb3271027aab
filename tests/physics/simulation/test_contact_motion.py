"""Bodies that slide, rest, bounce and stack on rigid obstacles."""

import numpy as np
import pytest

import physics as ph
from physics.contacts import Box, Plane, Sphere
from tests.physics.constraints.mechanisms import pose
from tests.physics.small_models import alone

HALF = 0.1
CORNERS = HALF * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def cube(builder, name, mass=1.0):
    inertia = mass * (2.0 * HALF) ** 2 / 6.0 * np.eye(3)
    return builder.add_body(name, joint=ph.joints.Free(), mass=mass, inertia=inertia)


def on_slope(angle, azimuth, friction):
    """A cube on a slope that falls along the direction of the azimuth; contact along all of the cube's edges below."""
    tilt = np.eye(4)
    turn = ph.lie.so3_exp(np.array([0.0, 0.0, azimuth]))
    tilt[:3, :3] = turn @ ph.lie.so3_exp(np.array([0.0, angle, 0.0])) @ turn.T
    builder = ph.ModelBuilder()
    cube(builder, "cube")
    builder.add_contact("slope", "cube", CORNERS[CORNERS[:, 2] < 0.0], Plane(), pose=tilt, friction=friction)
    model = builder.build()
    start = np.concatenate([HALF * tilt[:3, 2], ph.lie.so3_log(tilt[:3, :3])])
    return model, model.state(start)


@pytest.mark.filterwarnings("ignore::physics.errors.SimulationWarning")
@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2", "event_driven"])
def test_what_a_given_motion_leads_into_an_obstacle_is_told(integrator):
    """No impulse stops it; how deep it went, and in which contact, is among the figures."""
    builder = alone("ram", ph.joints.Slider((0, 0, 1)))
    builder.add_contact("floor", "ram", [(0.0, 0.0, 0.0)], Plane())
    model = builder.build()
    motion = ph.Motion([0.0, 0.1], [0.02, -0.03])
    result = ph.simulate(model, model.state(q=[0.02]), 0.1, 1e-3, integrator, motions={"ram": motion})
    found = result.info["constraints"]
    # the last look is at the beginning of the last step
    assert found["deepest"] == "floor" and 0.03 - 0.5e-3 - 1e-6 <= found["overlap"] <= 0.03 + 1e-6
    fallen = ph.simulate(model, model.state(q=[0.02]), 0.2, 1e-3, integrator)
    assert fallen.info["constraints"]["overlap"] < 1e-6  # and none where nothing leads it


def test_a_high_pile_rests_from_its_first_step():
    """However many bodies lie on one another, none falls for a step before the contact under it comes in."""
    builder = ph.ModelBuilder()
    count = 14
    for k in range(count):
        builder.add_body(f"ball{k}", joint=ph.joints.Slider(), mass=1.0, inertia=1e-3 * np.eye(3))
        if k == 0:
            builder.add_contact("floor", "ball0", [[0, 0, 0]], Plane(), radius=HALF)
        else:
            lower = f"ball{k - 1}"
            builder.add_contact(f"pile{k}", f"ball{k}", [[0, 0, 0]], Sphere(HALF), other=lower, radius=HALF)
    model = builder.build()
    q = HALF * (1.0 + 2.0 * np.arange(count))
    result = ph.simulate(model, model.state(q), 0.01)
    assert np.abs(result.q - q).max() < 1e-14


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_ball_bounces_with_its_restitution(restitution):
    builder = alone("ball", ph.joints.Free(), mass=0.3, inertia=1e-3 * np.eye(3))
    builder.add_contact(
        "floor", "ball", [[0, 0, 0]], Plane(), radius=0.05, friction=0.3, restitution=restitution
    )
    model = builder.build()
    result = ph.simulate(model, model.state([0, 0, 0.55, 0, 0, 0]), 0.6, dt=1e-4)
    heights = result.q[:, 2] - 0.05
    # it falls half a metre in 0.319 s; the height it comes back to goes with the square of the restitution
    again = heights[result.t > 0.33].max()
    reached = 0.5 * restitution**2
    assert heights.min() > -1e-3
    if restitution < 1.0:  # an elastic ball is not back yet
        assert abs(again - reached) < 2e-3
    assert result.energy[:, 2].max() < result.energy[0, 2] + 2e-3  # Euler's own error in free fall


def test_energy_never_grows_in_random_impacts():
    """Cubes thrown onto a rough floor with restitution: each step may only lose, but for the method's own error."""
    rng = np.random.default_rng(5)
    for restitution in (0.0, 0.6, 1.0):
        builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
        cube(builder, "cube")
        builder.add_contact("floor", "cube", CORNERS, Plane(), friction=0.6, restitution=restitution)
        model = builder.build()
        for _ in range(4):
            q = np.concatenate([[0.0, 0.0, 0.3], rng.normal(size=3)])
            qd = np.concatenate([[1.0, 0.5, -3.0], 3.0 * rng.normal(size=3)])
            result = ph.simulate(model, model.state(q, qd), 0.2, dt=2e-4)
            kinetic = result.energy[:, 0]
            # turning cubes keep their energy to first order of the step: 1e-3 of it over the run
            assert (np.diff(kinetic) < 1e-4 * kinetic[0]).all()


@pytest.mark.parametrize("integrator", ["rk4", "sdirk2"])
def test_methods_of_higher_order_rest_and_slide_as_symplectic_euler_does(integrator):
    for angle, moves in ((0.3, False), (0.5, True)):
        model, state = on_slope(angle, 0.3, 0.4)
        first, other = (
            ph.simulate(model, state, 0.1, integrator=name).q[-1] for name in ("symplectic_euler", integrator)
        )
        assert (np.abs(first - state.q).max() > 1e-3) == moves
        # while something is touched they are symplectic Euler's steps, but for what SDIRK2's Newton leaves, and for
        # the first one, which Runge-Kutta cuts into parts: g dt^2 / 2 on the slope
        assert np.abs(first - other).max() < (5e-6 if integrator == "rk4" else 1e-9)


def test_adaptive_methods_refuse():
    model, state = on_slope(0.1, 0.0, 0.4)
    for integrator in ("DOP853", "Radau"):
        with pytest.raises(ph.ModelError, match="contacts"):
            ph.simulate(model, state, 0.1, integrator=integrator)


def test_names_and_files(tmp_path):
    model, state = on_slope(0.1, 0.2, 0.4)
    ph.save_model(model, tmp_path / "m.json", state)
    again = ph.load_model(tmp_path / "m.json")
    assert again.model == model and again.model.contacts[0].friction == 0.4
    builder = ph.ModelBuilder()
    cube(builder, "cube")
    builder.add_contact("floor", "cube", CORNERS, Plane())
    with pytest.raises(ph.ModelError, match="contact named 'floor' already"):
        builder.add_contact("floor", "cube", CORNERS, Plane())


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2", "linearly_implicit_euler"])
def test_what_hangs_on_a_constraint_hangs_on_it_while_another_body_touches(integrator):
    builder = alone("ball", ph.joints.Translational())
    inertial = {"mass": 1.0, "inertia": np.eye(3)}
    builder.add_body("stop", joint=ph.joints.Slider(), limits=(0.0, 1.0), limit_restitution=0.0, **inertial)
    builder.add_constraint("nail", ph.constraints.PointConstraint("ball"))
    model = builder.build()
    result = ph.simulate(model, model.state(), 0.05, dt=1e-2, integrator=integrator)
    assert np.abs(result.constraint_forces["nail"][-1] - [0.0, 0.0, 9.81]).max() < 1e-6


@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4"])
def test_feet_of_a_figure_that_falls_do_not_sink_in(integrator):
    """Two legs on a pelvis that falls free: what a step's curvature lets in adds up with no method."""
    builder = alone("pelvis", ph.joints.Free(), mass=5.0, inertia=0.1 * np.eye(3))
    link = {"joint": ph.joints.Hinge((0, 1, 0)), "com": (0, 0, -0.2), "inertia": np.diag([0.02, 0.02, 0.004])}
    ends = [(0.0, 0.0, -0.4), (0.12, 0.0, -0.4)]
    for side, y in (("left", 0.1), ("right", -0.1)):
        thigh, shank = f"{side} thigh", f"{side} shank"
        builder.add_body(thigh, "pelvis", joint_in_parent=pose((0.0, y, 0.0)), mass=3.0, **link)
        builder.add_body(shank, thigh, joint_in_parent=pose((0.0, 0.0, -0.4)), mass=2.0, **link)
        builder.add_contact(f"{side} foot", shank, ends, Plane(), friction=0.6)
    model = builder.build()
    q = np.zeros(model.num_coordinates)
    place = model.coordinate_slice("pelvis")
    free = q[place]
    free[-1 if model.joints[0].rotation_first else 2] = 0.9
    q[place] = free
    q[model.coordinate_slice("left shank")], q[model.coordinate_slice("right thigh")] = 0.3, -0.2
    result = ph.simulate(model, model.state(q=q), 1.5, 1e-3, integrator, record_interval=5e-3)
    feet = [model.index(name) for name in ("left shank", "right shank")]
    poses = result.poses[:, feet]
    low = [(poses[..., :3, :3] @ end + poses[..., :3, 3])[..., 2] for end in ends]
    assert np.min(low) < 0.01
    # a step's curvature at 10 rad/s lets in 2e-5 m; as long as it rolls over its edge they add up to some
    assert np.min(low) > -1.5e-3


@pytest.mark.parametrize("wider", [0.0, 1e-12, 1e-9])
@pytest.mark.parametrize(
    ("integrator", "height"),
    [(name, 0.0) for name in ("symplectic_euler", "rk4", "sdirk2", "event_driven")]
    + [(name, 0.05) for name in ("symplectic_euler", "rk4", "sdirk2", "event_driven")],
)
def test_boxes_of_one_width_stand_on_each_other(integrator, height, wider):
    """Corners that are flush with faces beside them are as near to those as to the one under them, and after a step
    that enters nearer; they must not be pushed aside, and the box falls through.
    """
    half = 0.1
    corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    builder = ph.ModelBuilder()
    for name in ("lower", "upper"):
        builder.add_body(name, joint=ph.joints.Free(), mass=1.0, inertia=np.eye(3) / 150.0)
    builder.add_contact("floor", "lower", corners, Plane(), friction=0.5)
    shape = corners * [1.0 + wider, 1.0 + wider, 1.0]
    builder.add_contact("stack", "upper", shape, Box((half, half, half)), other="lower", friction=0.5)
    model, q = builder.build(), np.zeros(12)
    q[2], q[8] = half, 3 * half + height
    result = ph.simulate(model, model.state(q=q), dt=1e-3, duration=0.5, integrator=integrator)
    # round-off, and where it fell what a step of 1 ms at 1 m/s enters, which is brought out again
    assert np.abs(result.q[-1] - [0, 0, half, 0, 0, 0, 0, 0, 3 * half, 0, 0, 0]).max() < 1e-6
    assert result.q[:, 8].min() > 3 * half - 2e-3


@pytest.mark.parametrize(
    ("integrator", "off"), [("symplectic_euler", 0.004), ("rk4", 1e-6), ("sdirk2", 1e-6)]
)
def test_samples_within_an_impact_s_step_are_no_faster_than_its_ends(integrator, off):
    """A cubic through places and speeds of both ends of a step that turns a speed round overshoots both by half, and
    straight lines between them pass rest; without the bounce they were off by 0.3 %.
    """
    builder = alone("ball", ph.joints.Translational(), inertia=0.01 * np.eye(3))
    builder.add_contact("floor", "ball", [(0, 0, 0)], Plane(), radius=0.05, restitution=1.0)
    model = builder.build()
    result = ph.simulate(model, model.state([0, 0, 0.5]), 3.0, 1e-3, integrator, record_interval=3.7e-4)
    # at the ends of steps symplectic Euler's is off by 0.3 %, as its speeds are half a step aside; that of the others
    # is of third order of the short part, in which 3 m/s turn round
    assert np.abs(result.energy[:, 2] - result.energy[0, 2]).max() < off * result.energy[0, 2]
    assert result.q[:, 2].min() > 0.05


@pytest.mark.parametrize("integrator", ["rk4", "sdirk2"])
def test_an_impact_at_the_very_end_of_a_step_keeps_the_energy(integrator):
    """Where the way to it would take a hair more than the step, its speeds still lead up to it: with those behind it
    all the way the ball was a step's way too high, which is 1 % of the energy.
    """
    builder = alone("ball", ph.joints.Translational(), inertia=0.01 * np.eye(3))
    builder.add_contact("floor", "ball", [(0, 0, 0)], Plane(), restitution=1.0)
    model = builder.build()
    part = 1e-3 if integrator == "sdirk2" else 1e-3 / 32.0  # of a step of RK4 that is cut
    # it comes to the end of a step of 1 ms at 2 m/s, 0 to g dt^2 / 2 above the floor
    for gap in np.linspace(0.1, 0.9, 5) * 0.5 * 9.81 * part**2:
        start = model.state(
            [0.0, 0.0, gap + 2.0 * 4e-3 - 0.5 * 9.81 * 4e-3**2], [0.0, 0.0, -2.0 + 9.81 * 4e-3]
        )
        result = ph.simulate(model, start, 0.02, 1e-3, integrator)
        assert abs(result.energy[-1, 2] - result.energy[0, 2]) < 1e-4 * result.energy[0, 2]


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2", "event_driven"])
def test_what_slides_does_not_know_how_it_landed(integrator):
    """Of the loads that its corners may carry the least ones: those that an impact left would turn it otherwise, and a
    run that goes on from a sample would not know them.
    """
    builder = ph.ModelBuilder()
    cube(builder, "cube")
    builder.add_contact("floor", "cube", CORNERS, Plane(), friction=0.2)
    model = builder.build()
    start = model.state([0, 0, 0.16, 0.1, 0.2, 0.3], [2, 0.3, 0, 1, 2, 3])
    whole = ph.simulate(model, start, 0.8, 1e-3, integrator)
    assert np.abs(whole.qd[400, :2]).max() > 0.5 and abs(whole.qd[400, 5]) > 0.5  # it glides and turns
    rest = ph.simulate(model, model.state(whole.q[400], whole.qd[400]), 0.4, 1e-3, integrator)
    # its first step begins without loads of a step before; with what the landing left it was 0.02 rad and more
    assert np.abs(rest.q[-1] - whole.q[-1]).max() < 1e-5
