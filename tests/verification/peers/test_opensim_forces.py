"""Forces of OpenSim models other than muscles: initial accelerations against OpenSim's (Delp et al. 2007)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)
from tests.physics.io.osim import GROUND, body, coordinate, joint, write  # noqa: E402

from . import quiet_opensim  # noqa: E402

pytestmark = pytest.mark.peers

CLOSE = 1e-8  # of the largest acceleration: round-off of forces, and tables within 1e-12
AXES = (
    '<TransformAxis name="{}"><coordinates>{}</coordinates><axis>{}</axis><LinearFunction/></TransformAxis>'
)
SIX = ("rx", "ry", "rz", "tx", "ty", "tz")
UNITS = ("1 0 0", "0 1 0", "0 0 1")
PLACES = (
    (("rotation1", 0), ("rotation2", 1), ("rotation3", 2)),
    (
        ("translation1", 0),
        ("translation2", 1),
        ("translation3", 2),
    ),
)


def two_bodies(path: Path, forces: str, rest: str = "") -> Path:
    """A pendulum that carries a body with six coordinates, and forces."""
    axes = "".join(
        AXES.format(name, SIX[k], UNITS[k % 3])
        for k, (name, _) in enumerate(place for group in PLACES for place in group)
    )
    made = joint("PinJoint", "hinge", GROUND, "a", coordinate("q"))
    six = "".join(map(coordinate, SIX))
    made += joint("CustomJoint", "six", "a", "b", six, rest=f"<SpatialTransform>{axes}</SpatialTransform>")
    bodies = body("a", mass=2.0) + body("b", mass=1.5)
    return write(path, bodies, made, f"<ForceSet><objects>{forces}</objects></ForceSet>{rest}")


def compared(
    file: Path,
    states: list[tuple[dict[str, float], dict[str, float]]],
    controls: dict[str, float] | None = None,
) -> float:
    """The largest difference of accelerations, as a share of the largest one, over states (values, speeds)."""
    quiet_opensim()
    peer = opensim.Model(str(file))
    system = peer.initSystem()
    read = ph.read_opensim(file, limits=False)
    model = read.build()
    assert not read.warnings
    names = {name: model.coordinate_index(each.coordinate) for name, each in read.coordinates.items()}
    worst = 0.0
    for values, speeds in states:
        qd = np.zeros(len(names))
        for name, k in names.items():
            theirs = peer.getCoordinateSet().get(name)
            theirs.setValue(system, values[name], False)
            theirs.setSpeedValue(system, speeds[name])
            qd[k] = speeds[name]
        peer.realizeVelocity(system)
        if controls:
            given = peer.updDefaultControls()
            for name, value in controls.items():
                actuator = opensim.ScalarActuator.safeDownCast(peer.getForceSet().get(name))
                actuator.setControls(opensim.Vector(1, value), given)
            peer.setControls(system, given)
        peer.realizeAcceleration(system)
        wanted = {name: peer.getCoordinateSet().get(name).getAccelerationValue(system) for name in names}
        state = model.state(q=read.state(model, values).q, qd=qd)
        found = ph.forward_dynamics(model, state, read.controls(model, controls) if controls else None)
        most = max(map(abs, wanted.values()))
        worst = max(worst, max(abs(found[k] - wanted[name]) for name, k in names.items()) / most)
    return worst


def random_states(seed: int, size: float = 0.6, count: int = 12) -> list[tuple[Any, Any]]:
    """Values and speeds of all coordinates of `two_bodies`."""
    rng = np.random.default_rng(seed)
    names = ("q", *SIX)
    return [
        tuple(dict(zip(names, map(float, rng.normal(size=7) * scale))) for scale in (size, 1.0))
        for _ in range(count)
    ]


LIMIT = """<CoordinateLimitForce name="{}"><coordinate>{}</coordinate><upper_stiffness>{}</upper_stiffness>
<upper_limit>{}</upper_limit><lower_stiffness>3</lower_stiffness><lower_limit>{}</lower_limit>
<damping>0.07</damping><transition>{}</transition></CoordinateLimitForce>"""
EXPRESSION = """<ExpressionBasedCoordinateForce name="{0}_force"><coordinate>{0}</coordinate>
<expression>{1}</expression></ExpressionBasedCoordinateForce>"""
EXPRESSIONS = {
    "q": "-10*exp(5*(q-0.5))+8*exp(-4*(q+0.7))-0.1*qdot",
    "rx": "-25*q^3-2*(1+q^2)*qdot",
    "ry": "-3*sin(q)*cos(q/2)-tanh(4*qdot)",
    "tx": "-k*(q-0.1)-b*abs(qdot)*qdot;b=k/10;k=30",
    "tz": "2*max(0,q)^2-step(q-0.3)/(1+q^2)",
}


def test_limits(tmp_path: Path) -> None:
    """With their damping, which OpenSim fades in with the stiffness."""
    limits = (("l1", "q", 2.0, 15.0, -20.0, 8.0), ("l2", "q", 1.0, 5.0, -3.0, 20.0))
    limits += (("l3", "tx", 900.0, 0.2, -0.1, 0.3), ("l4", "ry", 2.0, 0.0, 0.0, 30.0))
    file = two_bodies(tmp_path / "m.osim", "".join(LIMIT.format(*each) for each in limits))
    assert compared(file, random_states(1)) < CLOSE


def test_expressions_of_coordinates(tmp_path: Path) -> None:
    forces = "".join(EXPRESSION.format(*each) for each in EXPRESSIONS.items())
    assert compared(two_bodies(tmp_path / "m.osim", forces), random_states(2)) < CLOSE


PATH = """<GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>0.1 0.4 -0.1</location></PathPoint>
<PathPoint name="p2"><socket_parent_frame>/bodyset/a</socket_parent_frame><location>0 0.1 0.1</location></PathPoint>
<PathPoint name="p3"><socket_parent_frame>/bodyset/b</socket_parent_frame><location>0.2 0 0.1</location></PathPoint>
</objects></PathPointSet></GeometryPath>"""
CORDS: dict[str, dict[str, Any]] = {
    "PathSpring": {"resting_length": 0.9, "stiffness": 300.0, "dissipation": 0.2},
    "Ligament": {"resting_length": 0.8, "pcsa_force": 70.0},
    "Blankevoort1991Ligament": {
        "slack_length": 0.9,
        "linear_stiffness": 200.0,
        "transition_strain": 0.2,
        "damping_coefficient": 4.0,
    },
    "ExpressionBasedPathForce": {
        "resting_length": 0.7,
        "expression": "50*s^3-0.4*exp(-s)*ldot+exp(-ldot)",
    },
}
BETWEEN = """<ExpressionBasedPointToPointForce name="f"><body1>a</body1><body2>b</body2><point1>0.1 0.2 0</point1>
<point2>0 0 0.3</point2><expression>-8*exp(-3*d)+20*(d-0.4)-2*ddot</expression></ExpressionBasedPointToPointForce>"""


@pytest.mark.parametrize("kind", CORDS)
def test_cords(kind: str, tmp_path: Path) -> None:
    """Ligaments and springs along paths, slack and taut."""
    numbers = CORDS[kind]
    parts = "".join(f"<{name}>{value}</{name}>" for name, value in numbers.items())
    force = f'<{kind} name="f">{PATH}{parts}</{kind}>'
    assert compared(two_bodies(tmp_path / "m.osim", force), random_states(3)) < CLOSE


def test_a_force_between_points(tmp_path: Path) -> None:
    assert compared(two_bodies(tmp_path / "m.osim", BETWEEN), random_states(4)) < CLOSE


ACTUATORS = """<CoordinateActuator name="c1"><coordinate>q</coordinate>
<optimal_force>5</optimal_force></CoordinateActuator>
<CoordinateActuator name="c2"><coordinate>tx</coordinate></CoordinateActuator>
<PointActuator name="p1"><body>b</body><point>0.1 0.2 0</point><direction>1 2 0</direction>
<force_is_global>true</force_is_global><optimal_force>3</optimal_force></PointActuator>
<PointActuator name="p2"><body>a</body><point>0 0.2 0.1</point><direction>0 1 1</direction></PointActuator>
<TorqueActuator name="t1"><bodyA>b</bodyA><bodyB>a</bodyB><axis>1 1 0</axis>
<optimal_force>4</optimal_force></TorqueActuator>
<TorqueActuator name="t2"><bodyA>b</bodyA><bodyB>ground</bodyB><torque_is_global>false</torque_is_global>
<axis>0 1 2</axis></TorqueActuator>
<TorqueActuator name="t3"><bodyA>ground</bodyA><bodyB>a</bodyB>
<torque_is_global>false</torque_is_global></TorqueActuator>
<TorqueActuator name="t4"><bodyA>a</bodyA><bodyB>b</bodyB><torque_is_global>false</torque_is_global>
<axis>2 1 2</axis></TorqueActuator>"""
CONTROLS = {"c1": 0.7, "c2": -2.0, "p1": 1.5, "p2": -0.4, "t1": 2.0, "t2": 0.9, "t3": -1.1, "t4": 1.3}


def test_actuators(tmp_path: Path) -> None:
    assert compared(two_bodies(tmp_path / "m.osim", ACTUATORS), random_states(5), CONTROLS) < CLOSE


FRAMES = """<frames><PhysicalOffsetFrame name="one"><socket_parent>/bodyset/{}</socket_parent>
<translation>0.1 0 0.2</translation><orientation>0.1 -0.3 0.2</orientation></PhysicalOffsetFrame>
<PhysicalOffsetFrame name="two"><socket_parent>{}</socket_parent><translation>0 0.1 0</translation>
<orientation>-0.2 0.1 0.4</orientation></PhysicalOffsetFrame></frames><socket_frame1>one</socket_frame1>
<socket_frame2>two</socket_frame2><rotational_damping>0.1 0.2 0.3</rotational_damping>
<translational_damping>3 4 5</translational_damping>"""
BUSHINGS = {
    "BushingForce": "<rotational_stiffness>5 6 7</rotational_stiffness>"
    "<translational_stiffness>50 60 70</translational_stiffness>",
    "FunctionBasedBushingForce": "<m_y_theta_y_function><PolynomialFunction><coefficients>3 0 2 0</coefficients>"
    "</PolynomialFunction></m_y_theta_y_function><f_z_delta_z_function><SimmSpline><x>-1 0 0.5 1</x><y>-20 0 3 30</y>"
    "</SimmSpline></f_z_delta_z_function>",
    "ExpressionBasedBushingForce": "<Mx_expression>4*sinh(theta_x)</Mx_expression>"
    "<Fy_expression>20*delta_y^3+delta_y</Fy_expression>",
}


@pytest.mark.parametrize("ends", [("a", "/bodyset/b"), ("b", "/ground")])
@pytest.mark.parametrize("kind", BUSHINGS)
def test_bushings(kind: str, ends: tuple[str, str], tmp_path: Path) -> None:
    force = f'<{kind} name="f">{FRAMES.format(*ends)}{BUSHINGS[kind]}</{kind}>'
    assert compared(two_bodies(tmp_path / "m.osim", force), random_states(6, 0.4)) < CLOSE


GEOMETRY = """<ContactGeometrySet name="contactgeometryset"><objects><ContactHalfSpace name="floor">
<socket_frame>/bodyset/a</socket_frame><location>0 -0.2 0.1</location><orientation>0.1 0.2 -1.5708</orientation>
</ContactHalfSpace><ContactSphere name="ball"><socket_frame>/bodyset/b</socket_frame><location>0.1 0.05 0</location>
<radius>0.5</radius></ContactSphere></objects></ContactGeometrySet>"""
NUMBERS = """<{0}stiffness>{1}</{0}stiffness><dissipation>{2}</dissipation><static_friction>0.8</static_friction>
<dynamic_friction>{3}</dynamic_friction><viscous_friction>0.3</viscous_friction>"""
SMOOTH = f"""<SmoothSphereHalfSpaceForce name="f"><socket_sphere>/contactgeometryset/ball</socket_sphere>
<socket_half_space>/contactgeometryset/floor</socket_half_space>{NUMBERS.format("", 3e4, 0.4, 0.5)}
<transition_velocity>0.3</transition_velocity></SmoothSphereHalfSpaceForce>"""
PART = (
    "<HuntCrossleyForce::ContactParameters><geometry>{}</geometry>{}</HuntCrossleyForce::ContactParameters>"
)
HUNT = f"""<HuntCrossleyForce name="f"><HuntCrossleyForce::ContactParametersSet name="contact_parameters"><objects>
{PART.format("ball", NUMBERS.format("", 3e4, 0.2, 0.5))}{PART.format("floor", NUMBERS.format("", 9e3, 0.1, 0.3))}
</objects></HuntCrossleyForce::ContactParametersSet><transition_velocity>0.3</transition_velocity></HuntCrossleyForce>"""


@pytest.mark.parametrize("force", [SMOOTH, HUNT], ids=["smooth", "sharp"])
def test_contact_of_a_sphere(force: str, tmp_path: Path) -> None:
    """Above and below the transition speed, where the force does not pull: OpenSim's friction then hastens sliding."""
    states = [
        (values | {"ty": 0.2 - 0.05 * k}, {name: 0.2 * speed for name, speed in speeds.items()})
        for k, (values, speeds) in enumerate(random_states(7, 0.2))
    ]
    assert compared(two_bodies(tmp_path / "m.osim", force, GEOMETRY), states) < CLOSE
