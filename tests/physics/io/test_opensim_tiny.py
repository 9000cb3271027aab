"""Parts of OpenSim models that were refused or misread, each with OpenSim 4.6's value."""

import numpy as np
import pytest

import physics as ph
from physics import joints as j
from tests.physics.io.osim import body, coordinate, joint, offset, write

GROUND = "/ground"
RZ = {"j2": 0.2, "j1": 0.1}
# OpenSim 4.6: place and z axis by Body.getTransformInGround and StationDefinedFrame.findTransformInBaseFrame
ELLIPSOID = [
    -0.019866933080,
    -0.057925895525,
    0.280888009075,
    -0.198669330795,
    -0.289629477626,
    0.936293363584,
]
STATIONS = [0.0, 0.0, 0.2, 0.640184399664, 0.614577023678, -0.460932767758]
AXIS = '<TransformAxis name="{}"><coordinates>{}</coordinates><axis>{}</axis>{}</TransformAxis>'


def custom(name, child, functions, coordinates, parent=GROUND):
    """A CustomJoint; functions: {name of an axis: (coordinates, axis, function)}."""
    axes = "".join(AXIS.format(key, *given) for key, given in functions.items())
    made = "".join(coordinate(each) for each in coordinates)
    rest = f"<SpatialTransform>{axes}</SpatialTransform>"
    return joint("CustomJoint", name, parent, child, made, rest=rest)


def test_a_spline_of_three_knots_is_a_parabola():
    """OpenSim 4.6: SimmSpline.calcValue inside and beyond."""
    spline = j.CubicSpline([-0.436332, 0.0, 0.610865], [-0.163625, 0.0, 0.305433])
    found = [float(spline(x)) for x in (-1.0, -0.2, 0.3, 1.0)]
    given = [-0.345643520085, -0.080642228277, 0.138868236040, 0.528375175146]
    assert found == pytest.approx(given, rel=1e-11)  # figures that are given


@pytest.mark.parametrize("kind", ["SimmSpline", "NaturalCubicSpline", "PiecewiseLinearFunction"])
@pytest.mark.parametrize("knots", [("0 2", "0.1 -0.4"), ("0 2 3", "0.1 -0.4 -0.65")])
def test_collinear_knots_are_a_line(tmp_path, kind, knots):
    """Blender imports couplings by lines, and not those by curves."""
    function = "<{0}><x>{1}</x><y>{2}</y></{0}>".format(kind, *knots)
    drive = custom("j", "a", {"rotation3": ("q", "0 0 1", function)}, ["q"])
    joint = ph.read_opensim(write(tmp_path / "m.osim", body("a"), drive)).build().bodies[0].joint
    lines = [each for _, each, name in joint.rotations if name == "q"]
    # rounding of the slope's quotient
    assert [(type(each), each.slope) for each in lines] == [(j.Linear, pytest.approx(-0.25, rel=1e-15))]


def test_lines_and_kinks_of_tables_move_joints(tmp_path):
    """OpenSim 4.6: two knots and collinear ones are a line, others have kinks; all go on beyond their ends."""
    table = "<PiecewiseLinearFunction><x>{}</x><y>{}</y></PiecewiseLinearFunction>"
    functions = {
        "rotation3": ("q", "0 0 1", table.format("-1 1", "-0.5 0.5")),
        "translation1": ("q", "1 0 0", table.format("-1 0 1", "0.5 0 2")),
        "translation2": ("q", "0 1 0", table.format("0 1 3", "1 3 7")),
    }
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a"), custom("j", "a", functions, ["q"])))
    model = read.build()
    assert not read.warnings
    for q, x in ((-2.0, 1.0), (-0.5, 0.25), (0.5, 1.0), (3.0, 6.0)):  # PiecewiseLinearFunction.calcValue
        pose = ph.body_poses(model, read.state(model, {"q": q}))[0]
        assert np.allclose(pose[:2, 3], [x, 1.0 + 2.0 * q], atol=1e-14)
        assert np.arctan2(pose[1, 0], pose[0, 0]) == pytest.approx(0.5 * q, abs=1e-14)


def test_a_joint_without_functions_and_coordinates(tmp_path):
    """OpenSim 4.6 takes missing axes as still, a missing function as the coordinate, and makes missing coordinates."""
    functions = {"rotation3": ("q", "0 0 1", "")}
    made = custom("j", "a", functions, ["q"]) + joint("PinJoint", "k", "a", "b")
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a") + body("b"), made))
    assert list(read.coordinates) == ["q", "_coord_0"]
    pose = ph.body_poses(read.build(), read.state(read.build(), {"q": 0.3}))[0]
    assert np.arctan2(pose[1, 0], pose[0, 0]) == pytest.approx(0.3, abs=1e-15)


def test_a_custom_joint_that_nothing_moves_stays_where_its_functions_put_it(tmp_path):
    functions = {"translation2": ("", "0 1 0", "<Constant><value>0.25</value></Constant>")}
    made = custom("j", "a", functions, ["q"]) + joint("PinJoint", "k", "a", "b", coordinate("r"))
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a") + body("b"), made))
    assert list(read.coordinates) == ["r"] and len(read.warnings) == 1
    assert ph.body_poses(read.build(), read.build().state())[0][:3, 3].tolist() == [0.0, 0.25, 0.0]


def test_an_ellipsoid_joint(tmp_path):
    """OpenSim 4.6: Body.getTransformInGround at 0.3, -0.2, 0.5; three coordinates, the engine's fourth is held."""
    names = "".join(coordinate(name) for name in "xyz")
    made = joint("EllipsoidJoint", "j", GROUND, "a", names, rest="<radii_x_y_z>0.1 0.2 0.3</radii_x_y_z>")
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a"), made))
    model = read.build()
    assert list(read.coordinates) == ["x", "y", "z"] and model.prescribed.tolist() == [False] * 3 + [True]
    pose = ph.body_poses(model, read.state(model, {"x": 0.3, "y": -0.2, "z": 0.5}))[0]
    assert np.abs(pose[:3, [3, 2]].T.ravel() - ELLIPSOID).max() < 1e-12  # figures that are given


def test_coordinates_of_the_same_name(tmp_path):
    """OpenSim's paths tell them apart; here the second one has its joint's name before its own."""
    made = joint("PinJoint", "j1", GROUND, "a", coordinate("rz"))
    made += joint("PinJoint", "j2", "a", "b", coordinate("rz"))
    points = """<PathPoint name="p"><socket_parent_frame>/ground</socket_parent_frame></PathPoint>
<ConditionalPathPoint name="c"><socket_parent_frame>/bodyset/a</socket_parent_frame><range>0 1</range>
<socket_coordinate>/jointset/{}/rz</socket_coordinate></ConditionalPathPoint>
<PathPoint name="e"><socket_parent_frame>/bodyset/b</socket_parent_frame><location>0.1 0 0</location></PathPoint>"""
    for name, follows in (("j1", "a.angle"), ("j2", "b.angle")):
        force = f"""<ForceSet><objects><PathActuator name="m"><min_control>-Inf</min_control><GeometryPath>
<PathPointSet><objects>{points.format(name)}</objects></PathPointSet></GeometryPath></PathActuator></objects></ForceSet>"""
        read = ph.read_opensim(write(tmp_path / "m.osim", body("a") + body("b"), made, force))
        model = read.build()
        assert list(read.coordinates) == ["rz", "j2/rz"]
        assert model.muscles[0].points[1].condition.coordinate == follows
    table = ph.Storage(
        np.array([0.0, 1.0]), {f"/jointset/{k}/rz/value": np.full(2, x) for k, x in RZ.items()}
    )
    assert ph.motion_samples(read, model, table)[1].tolist() == [[0.1, 0.2]] * 2


def test_bodies_and_joints_among_components(tmp_path):
    """OpenSim 4.6 reads parts outside the sets, at paths without a set's name."""
    inner = body("b") + joint("SliderJoint", "s", "/bodyset/a", "/b", coordinate("x"))
    rest = f"<components>{inner}</components>"
    made = joint("PinJoint", "j", GROUND, "a", coordinate("q"))
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a"), made, rest))
    assert read.build().body_names == ("a", "b") and list(read.coordinates) == ["q", "x"]
    assert read.frames["/b"].body == "b"


def test_a_frame_by_stations(tmp_path):
    """OpenSim 4.6: its y axis along a to b, its -x axis along the normal of a, b and c, its origin at c."""
    station = (
        '<Station name="{}"><socket_parent_frame>..</socket_parent_frame><location>{}</location></Station>'
    )
    places = {"sa": "0.1 0 0", "sb": "0.1 0.3 0.4", "sc": "0 0 0.2"}
    parts = "".join(station.format(*pair) for pair in places.items())
    parts += """<StationDefinedFrame name="f"><ab_axis>+y</ab_axis><ab_x_ac_axis>-x</ab_x_ac_axis>
<socket_point_a>../sa</socket_point_a><socket_point_b>../sb</socket_point_b><socket_point_c>../sc</socket_point_c>
<socket_origin_point>../sc</socket_origin_point></StationDefinedFrame>"""
    made = joint("PinJoint", "j", GROUND, "/bodyset/a/f", coordinate("q"))
    whole = body("a", rest=f"<components>{parts}</components>")
    read = ph.read_opensim(write(tmp_path / "m.osim", whole, made))
    pose = read.frames["/bodyset/a/f"].pose
    assert np.abs(pose[:3, [3, 2]].T.ravel() - STATIONS).max() < 1e-12  # figures that are given


def test_couplers_of_two_coordinates(tmp_path):
    """OpenSim 4.6: a LinearFunction's coefficients in order, those of a polynomial from the last coordinate on."""
    rows = (("j0", GROUND, "a", "q"), ("j1", "a", "b", "r"), ("j2", "b", "c", "s"))
    made = "".join(joint("PinJoint", *row, coordinate(name)) for *row, name in rows)
    coupler = """<ConstraintSet><objects><CoordinateCouplerConstraint name="k"><coupled_coordinates_function>{}
</coupled_coordinates_function><independent_coordinate_names>q r</independent_coordinate_names>
<dependent_coordinate_name>s</dependent_coordinate_name></CoordinateCouplerConstraint></objects></ConstraintSet>"""
    linear = "<LinearFunction><coefficients>0.5 -0.25 0.1</coefficients></LinearFunction>"
    several = """<MultivariatePolynomialFunction><coefficients>0.1 -0.25 0.5</coefficients><dimension>2</dimension>
<order>1</order></MultivariatePolynomialFunction>"""
    for function in (linear, several):
        path = write(tmp_path / "m.osim", body("a") + body("b") + body("c"), made, coupler.format(function))
        read = ph.read_opensim(path)
        state = read.state(read.build(), {"q": 0.4, "r": 0.8})
        assert not read.warnings and state.q[2] == pytest.approx(0.5 * 0.4 - 0.25 * 0.8 + 0.1, abs=1e-15)


def test_a_point_on_a_line(tmp_path):
    """OpenSim 4.6's PointOnLineConstraint keeps two distances at 0, those across the line."""
    rest = """<ConstraintSet><objects><PointOnLineConstraint name="rail"><socket_line_body>/ground</socket_line_body>
<socket_follower_body>/bodyset/a</socket_follower_body><line_direction_vec>1 1 0</line_direction_vec>
<point_on_line>0 0.5 0</point_on_line><point_on_follower>0.1 0 0</point_on_follower></PointOnLineConstraint></objects>
</ConstraintSet>"""
    names = "".join(coordinate(f"c{k}") for k in range(6))
    made = joint("FreeJoint", "j", GROUND, "a", names)
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a"), made, rest))
    model = read.build()

    def away(*place):
        state = read.state(model, {f"c{k + 3}": x for k, x in enumerate(place)}, assembled=False)
        return np.linalg.norm([constraint.value(model, state) for constraint in model.constraints.values()])

    assert len(model.constraints) == 2 and away(0.9, 1.5, 0.0) < 1e-15
    assert away(0.9, 1.5, 0.2) == pytest.approx(0.2, abs=1e-15)
    assert away(0.9, 1.3, 0.0) == pytest.approx(0.2 / np.sqrt(2.0), abs=1e-15)


def test_text_among_numbers_and_marks_in_text(tmp_path):
    """OpenSim 4.6 reads a bare &, -- in a comment, Latin letters, and words among a muscle's numbers."""
    force = """<ForceSet><objects><DeGrooteFregly2016Muscle name="m"><max_isometric_force>100</max_isometric_force>
<tendon_compliance_dynamics_mode>implicit</tendon_compliance_dynamics_mode><GeometryPath><PathPointSet><objects>
<PathPoint name="p"><socket_parent_frame>/ground</socket_parent_frame></PathPoint><PathPoint name="e">
<socket_parent_frame>/bodyset/a</socket_parent_frame></PathPoint></objects></PathPointSet></GeometryPath>
</DeGrooteFregly2016Muscle></objects></ForceSet><!-- a -- b --><credits>Doe & Roe \xe9</credits>"""
    path = tmp_path / "m.osim"
    write(path, body("a"), joint("PinJoint", "j", GROUND, "a", coordinate("q")), force)
    path.write_bytes(path.read_text().encode("latin-1"))
    read = ph.read_opensim(path)
    assert read.muscles["m"].parameters["max_isometric_force"] == 100.0
    assert not read.warnings and read.build().muscles[0].law.type == "degroote"


def test_a_function_that_has_the_name_of_its_property(tmp_path):
    """OpenSim 4.6: SimmSpline.calcValue, where two knots are the same; of a muscle's curve and a ligament's."""
    knots = "<x>0 1 1.15 1.15 1.25 1.75</x><y>0 0 0 0 0.035 2</y>"
    force = f"""<ForceSet><objects><Schutte1993Muscle_Deprecated name="m"><GeometryPath><PathPointSet><objects>
<PathPoint name="p"><socket_parent_frame>/ground</socket_parent_frame></PathPoint><PathPoint name="e">
<socket_parent_frame>/bodyset/a</socket_parent_frame></PathPoint></objects></PathPointSet></GeometryPath>
<SimmSpline name="passive_force_length_curve">{knots}</SimmSpline></Schutte1993Muscle_Deprecated>
</objects></ForceSet>"""
    path, made = tmp_path / "m.osim", joint("PinJoint", "j", GROUND, "a", coordinate("q"))
    read = ph.read_opensim(write(path, body("a"), made, force))
    assert not read.warnings
    curve = read.build().muscles[0].law.curve("passive", [0.5, 1.1, 1.2, 1.5])[0]
    # OpenSim takes the knots as 1e-7 apart in some of its formulas
    assert np.allclose(curve, [-1.1972417e-08, 2.82017e-09, 0.00823611486, 0.55465276608], atol=3e-7)
    numbers = "<resting_length>0.5</resting_length><pcsa_force>10</pcsa_force>"
    old = force.replace("Schutte1993Muscle_Deprecated", "Ligament").replace("passive_", "")
    read = ph.read_opensim(write(path, body("a"), made, old.replace("</Ligament>", f"{numbers}</Ligament>")))
    assert not read.warnings
    assert read.build().muscles[0].law.force(0.75) == pytest.approx(5.5465276608, abs=3e-6)


FORCES = """<ForceSet><objects><CoordinateLimitForce name="l"><coordinate>q</coordinate>
<upper_stiffness>2</upper_stiffness><upper_limit>90</upper_limit><lower_stiffness>3</lower_stiffness><lower_limit>-10</lower_limit><damping>0</damping>
<transition>10</transition></CoordinateLimitForce><SpringGeneralizedForce name="s"><coordinate>r</coordinate>
<stiffness>5</stiffness><rest_length>0.2</rest_length><viscosity>0.5</viscosity></SpringGeneralizedForce>
<PointToPointSpring name="p"><socket_body1>/ground</socket_body1><socket_body2>/bodyset/b</socket_body2>
<point1>0 1 0</point1><point2>0.1 0 0</point2><stiffness>7</stiffness><rest_length>0.3</rest_length>
</PointToPointSpring></objects></ForceSet>"""


def test_forces_on_coordinates_and_between_points(tmp_path):
    """OpenSim 4.6: CoordinateLimitForce.calcLimitForce by angles, SpringGeneralizedForce at -25 degrees and 2 rad/s."""
    made = joint("PinJoint", "j", GROUND, "a", coordinate("q"))
    made += joint("PinJoint", "k", "a", "b", coordinate("r"))
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a") + body("b"), made, FORCES))
    model = read.build()
    assert not read.warnings
    upper, lower = model.bodies
    limits = {50: 0.0, 92: -0.23168, 95: -5.0, 98: -15.07328, 101: -22.0, 110: -40.0, -15: 7.5, -25: 45.0}
    for angle, force in limits.items():
        assert -float(upper.elastic[0](np.radians(angle))) == pytest.approx(force, abs=1e-11)
    spring = -lower.stiffness[0] * (np.radians(-25.0) - lower.rest[0]) - lower.damping[0] * 2.0
    assert spring == pytest.approx(2.181661564992912, rel=1e-14)
    (rope,) = model.springs
    assert rope.body == 1 and rope.other == -1 and (rope.stiffness, rope.rest_length) == (7.0, 0.3)
    assert rope.point.tolist() == [0.1, 0.0, 0.0] and rope.other_point.tolist() == [0.0, 1.0, 0.0]


EXPRESSIONS = {  # of forces, with -OpenSim's values at q = 0.4 and its slopes by the rate there
    "-10*exp(5*(q-0.5))-0.1*qdot": (6.06530659712633, 0.1),
    "-k*(q-0.1)-b*q^2*qdot; b=k/10; k=30": (9.0, 0.48),
    "3-2*max(0,q)^2": (-2.68, 0.0),
    "-2*qdot": (0.0, 2.0),
    "-3*abs(qdot)*qdot": (0.0, 0.0),  # a damper that has no force at rest, to the last bit
    "0": (0.0, 0.0),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_forces_by_expressions(text, tmp_path):
    rest = f"""<ForceSet><objects><ExpressionBasedCoordinateForce name="f"><coordinate>q</coordinate>
<expression>{text}</expression></ExpressionBasedCoordinateForce></objects></ForceSet>"""
    made = joint("PinJoint", "j", GROUND, "a", coordinate("q"))
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a"), made, rest))
    (arm,) = read.build().bodies
    assert not read.warnings
    found = [0.0 if part is None else float(part(0.4)) for part in (arm.elastic[0], arm.viscosity[0])]
    assert found == pytest.approx(EXPRESSIONS[text], rel=1e-11)


HOSTILE = {
    "__import__('os').getpid()": "unknown",
    "q.real": "unknown",
    "(lambda: q)()": "unknown",
    "q*exp(qdot)": "product",
    "9^9^9^9*q": "not finite",
    "(" * 500 + "q" + ")" * 500: "not understood",
    "a*a;" + "".join(f"{x}={y}*{y};" for x, y in zip("abcdefghijklmno", "bcdefghijklmnoq")): "not finite",
    "log(q)": "not finite",
    "q" * 20_000: "characters",
}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_expressions_that_are_no_force_are_told(text, tmp_path):
    """Nothing of a file is evaluated as code."""
    rest = f"""<ForceSet><objects><ExpressionBasedCoordinateForce name="f"><coordinate>q</coordinate>
<expression>{text}</expression></ExpressionBasedCoordinateForce></objects></ForceSet>"""
    made = joint("PinJoint", "j", GROUND, "a", coordinate("q"))
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a"), made, rest))
    (told,) = read.warnings
    assert HOSTILE[text] in told and read.build().bodies[0].elastic == (None,)


def test_couplers_with_functions_of_every_kind(tmp_path):
    """OpenSim 4.6: Function.calcValue at 0.4."""
    made = joint("PinJoint", "j0", GROUND, "a", coordinate("q")) + joint(
        "PinJoint", "j1", "a", "b", coordinate("r")
    )
    coupler = """<ConstraintSet><objects><CoordinateCouplerConstraint name="k"><coupled_coordinates_function>{}
</coupled_coordinates_function><independent_coordinate_names>q</independent_coordinate_names>
<dependent_coordinate_name>r</dependent_coordinate_name></CoordinateCouplerConstraint></objects></ConstraintSet>"""
    functions = {
        "<Sine><amplitude>2</amplitude><omega>3</omega><phase>0.5</phase></Sine>": 2.0 * np.sin(1.7),
        "<StepFunction><transition_start_time>0</transition_start_time><transition_end_time>1"
        "</transition_end_time><start_value>1</start_value><end_value>3</end_value></StepFunction>": 1.63488,
        "<MultivariatePolynomialFunction><coefficients>1 2 3</coefficients><dimension>1</dimension><order>2</order>"
        "</MultivariatePolynomialFunction>": 2.28,
        "<ExpressionBasedFunction><variables>x</variables><expression>exp(x)/2</expression>"
        "</ExpressionBasedFunction>": 0.5 * np.exp(0.4),
    }
    for function, value in functions.items():
        path = write(tmp_path / "m.osim", body("a") + body("b"), made, coupler.format(function))
        read = ph.read_opensim(path)
        assert not read.warnings
        assert read.state(read.build(), {"q": 0.4}).q[1] == pytest.approx(value, rel=1e-12)


TIED = 0.370094752444, 0.411796044550, 0.422647236642
START = "<default_value>0.4</default_value>"


def tied(path, place="0.8 0.2 0", ties=1):
    """Three hinges whose end is tied to the ground."""
    places = {"link1": "0 1 0", "link2": "0 -0.4 0", "link3": "0 -0.4 0"}
    bodies, joints, parent = "", "", GROUND
    for k, (name, at) in enumerate(places.items()):
        bodies += body(name)
        frame = offset(f"{name}_offset", parent, at)
        joints += joint("PinJoint", f"j{k}", f"{name}_offset", name, coordinate(f"q{k}", START), frame)
        parent = f"/bodyset/{name}"
    tie = "".join(
        f"""<PointConstraint name="tie{k}"><socket_body_1>/ground</socket_body_1>
<socket_body_2>/bodyset/link3</socket_body_2><location_body_1>{place}</location_body_1>
<location_body_2>0 -0.4 0</location_body_2></PointConstraint>"""
        for k in range(ties)
    )
    rest = f"<ConstraintSet><objects>{tie}</objects></ConstraintSet>"
    read = ph.read_opensim(write(path, bodies, joints, rest))
    return read, read.build()


@pytest.mark.parametrize("ties", [1, 3])
def test_the_start_is_assembled(tmp_path, ties):
    """OpenSim 4.6: Coordinate.getValue after initSystem; constraints may depend on others."""
    read, model = tied(tmp_path / "m.osim", ties=ties)
    assert np.allclose(read.state(model).q, TIED, atol=1e-6)  # OpenSim's search ends 1e-7 off the least sum
    assert read.state(model, assembled=False).q.tolist() == [0.4, 0.4, 0.4]


def test_values_are_kept_by_the_assembly(tmp_path):
    read, model = tied(tmp_path / "m.osim")
    state = read.state(model, {"q0": 0.42})
    assert state.q[0] == 0.42 and abs(state.q[1] - 0.4) > 1e-3
    assert np.abs(model.constraints["tie0"].value(model, state)).max() < 1e-9


def test_constraints_that_cannot_be_met(tmp_path):
    read, model = tied(tmp_path / "m.osim", place="1.8 0.2 0")
    with pytest.warns(UserWarning, match="the constraints cannot be met"):
        assert read.state(model).q.tolist() == [0.4, 0.4, 0.4]


def test_a_curve_of_an_unknown_kind(tmp_path):
    """An error only for a muscle whose law has it, by the name of the property or of the function."""
    points = """<GeometryPath><PathPointSet><objects><PathPoint name="p"><socket_parent_frame>/ground
</socket_parent_frame></PathPoint><PathPoint name="e"><socket_parent_frame>/bodyset/a</socket_parent_frame></PathPoint>
</objects></PathPointSet></GeometryPath>"""
    name, made = "tendon_force_length_curve", joint("PinJoint", "j", GROUND, "a", coordinate("q"))
    for curve in (f"<{name}><Odd/></{name}>", f'<Odd name="{name}"/>'):
        for kind in ("Schutte1993Muscle_Deprecated", "Thelen2003Muscle"):
            muscle = f"<{kind} name='m'>{points}{curve}</{kind}>"
            path = write(
                tmp_path / "m.osim", body("a"), made, f"<ForceSet><objects>{muscle}</objects></ForceSet>"
            )
            if kind.startswith("Schutte"):
                with pytest.raises(ph.FormatError, match=f"'m': its {name} is not supported"):
                    ph.read_opensim(path)
            else:
                assert ph.read_opensim(path).muscles["m"].law is None
