"""What acts in an OpenSim model acts in the scene: both have the same accelerations at the start."""

import bpy
import numpy as np
import pytest

from .levers import SMALL

START, END = SMALL.index("<Thelen"), SMALL.index("</objects></ForceSet>")
THELEN = SMALL[START:END]
CURVE = """<passive_force_length_curve><SimmSpline><x>0.5 1 1.5 2</x><y>0 0.1 0.5 2</y></SimmSpline>
</passive_force_length_curve>"""


def _muscle(kind, rest=""):
    return THELEN.replace("</Thelen2003Muscle>", f"{rest}</Thelen2003Muscle>").replace(
        "Thelen2003Muscle", kind
    )


PATH = THELEN[THELEN.index("<GeometryPath") : THELEN.index("<max_isometric_force>")]
REST = "<resting_length>0.7</resting_length>"
BUSHING = (
    "<rotational_stiffness>3 4 5</rotational_stiffness><translational_stiffness>90 9 9</translational_stiffness>"
    "<rotational_damping>0.1 0.2 0.3</rotational_damping>"
    "<translational_damping>0.1 0.2 0.3</translational_damping>"
)
ENDS = "<point1>0.5 -0.5 0</point1><point2>0 -0.6 0</point2>"


def _cord(kind, rest):
    return f'<{kind} name="f">{PATH}{rest}</{kind}>'


def _moving(x):
    """The path spring with an origin on the ground, or on an offset frame that is turned, that moves by x(swing)."""
    follows = "<socket_{0}_coordinate>/jointset/hinge/swing</socket_{0}_coordinate>"
    y = "<y_location><Constant><value>0.4</value></Constant></y_location>"
    z = "<z_location><LinearFunction><coefficients>0.1 0.02</coefficients></LinearFunction></z_location>"
    own = f"<x_location>{x}</x_location>{y}{z}{follows.format('x')}{follows.format('z')}"
    path = PATH.replace("<location>0.03 0.4 0.0</location></PathPoint>", f"{own}</MovingPathPoint>")
    return path.replace('PathPoint name="a"', 'MovingPathPoint name="a"')


SPRING = f"{REST}<stiffness>900</stiffness><dissipation>0</dissipation>"
FORCES = {
    "point that moves on the ground": _cord("PathSpring", SPRING).replace(
        PATH, _moving("<SimmSpline><x>-1 0 0.5 1</x><y>0.1 0.05 0 0.1</y></SimmSpline>")
    ),
    "Thelen": THELEN,
    "Millard": _muscle("Millard2012EquilibriumMuscle", "<fiber_damping>0.05</fiber_damping>"),
    "De Groote": _muscle(
        "DeGrooteFregly2016Muscle", "<active_force_width_scale>1.2</active_force_width_scale>"
    ),
    # the search for its fibre's length begins with a tendon 40 times its slack length, where exp overflows
    "De Groote, short tendon": _muscle("DeGrooteFregly2016Muscle")
    .replace("length>0.4</tendon", "length>0.02</tendon")
    .replace("length>0.4</opt", "length>0.7</opt"),
    "Schutte": _muscle("Schutte1993Muscle_Deprecated", CURVE),
    "path spring": _cord("PathSpring", f"{REST}<stiffness>900</stiffness><dissipation>0.2</dissipation>"),
    "slack path spring": _cord(
        "PathSpring",
        "<resting_length>2</resting_length><stiffness>900</stiffness><dissipation>0</dissipation>",
    ),
    "ligament": _cord("Ligament", f"{REST}<pcsa_force>400</pcsa_force>"),
    "Blankevoort's ligament": _cord(
        "Blankevoort1991Ligament", "<slack_length>0.7</slack_length><linear_stiffness>3000</linear_stiffness>"
    ),
    "path expression": _cord("ExpressionBasedPathForce", f"{REST}<expression>300*s^2+2*ldot*s</expression>"),
    "expression between points": '<ExpressionBasedPointToPointForce name="f"><body1>/ground</body1>'
    f"<body2>/bodyset/rod</body2>{ENDS}<expression>5*d^2-ddot</expression></ExpressionBasedPointToPointForce>",
    "spring between points": '<PointToPointSpring name="f"><socket_body1>/ground</socket_body1>'
    f"<socket_body2>/bodyset/rod</socket_body2>{ENDS}<stiffness>70</stiffness><rest_length>0.4</rest_length>"
    "</PointToPointSpring>",
    "bushing": '<BushingForce name="f"><socket_frame1>/ground</socket_frame1>'
    f"<socket_frame2>/bodyset/rod</socket_frame2>{BUSHING}</BushingForce>",
    "bushing in the body": '<BushingForce name="f"><socket_frame1>/bodyset/rod</socket_frame1>'
    f"<socket_frame2>/ground</socket_frame2>{BUSHING}</BushingForce>",
    "smooth contact": '<SmoothSphereHalfSpaceForce name="f"><socket_sphere>ball</socket_sphere>'
    "<socket_half_space>floor</socket_half_space><stiffness>1e6</stiffness><dissipation>2</dissipation>"
    "<static_friction>0.8</static_friction><dynamic_friction>0.6</dynamic_friction></SmoothSphereHalfSpaceForce>",
    "contact of a sphere": """<HuntCrossleyForce name="f"><HuntCrossleyForce::ContactParametersSet><objects>
<HuntCrossleyForce::ContactParameters><geometry>ball floor</geometry><stiffness>1e6</stiffness>
<dissipation>1.5</dissipation><static_friction>0.9</static_friction><dynamic_friction>0.4</dynamic_friction>
<viscous_friction>0.2</viscous_friction></HuntCrossleyForce::ContactParameters></objects>
</HuntCrossleyForce::ContactParametersSet><transition_velocity>0.2</transition_velocity></HuntCrossleyForce>""",
    "limit of a coordinate": '<CoordinateLimitForce name="f"><coordinate>swing</coordinate>'
    "<upper_limit>10</upper_limit><lower_limit>-50</lower_limit><upper_stiffness>2</upper_stiffness><lower_stiffness>3</lower_stiffness>"
    "<damping>0.02</damping><transition>4</transition></CoordinateLimitForce>",
    "expression of a coordinate": '<ExpressionBasedCoordinateForce name="f"><coordinate>swing</coordinate>'
    "<expression>-4*q^3-2*qdot-sin(q)</expression></ExpressionBasedCoordinateForce>",
    "spring of a coordinate": '<SpringGeneralizedForce name="f"><coordinate>swing</coordinate><stiffness>8</stiffness>'
    "<rest_length>0.1</rest_length><viscosity>0.3</viscosity></SpringGeneralizedForce>",
}

TOUCHING = """<ContactGeometrySet><objects><ContactSphere name="ball"><socket_frame>/bodyset/rod</socket_frame>
<location>0.02 -1 0</location><radius>0.1</radius></ContactSphere>
<ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame><location>0 -1.01 0</location>
<orientation>0 0 -1.5</orientation></ContactHalfSpace></objects></ContactGeometrySet><ForceSet>"""


@pytest.mark.parametrize("kind", FORCES)
def test_forces_of_the_file_act_in_the_scene(part, scene, ph, tmp_path, kind):
    path = tmp_path / "forced.osim"
    speed = "<default_speed_value>0.4</default_speed_value><default_value>"
    text = (SMALL[:START] + FORCES[kind] + SMALL[END:]).replace("<default_value>", speed)
    path.write_text(text.replace("<ForceSet>", TOUCHING) if "contact" in kind else text, "utf-8")
    scene.unit_settings.scale_length = 0.5
    made = part("making.opensim_import").import_model(scene, str(path))
    model = (file := ph.read_opensim(path)).build()
    for muscle in made.muscles.values():
        muscle.condyle.muscle.excitation = 0.05  # from which the activation starts; the file's default
    read = part("reading.scene").read(scene)
    wanted = ph.forward_dynamics(model, file.state(model))
    # Blender stores places and figures in single precision
    np.testing.assert_allclose(ph.forward_dynamics(read.model, read.state), wanted, rtol=1e-6)
    assert [each.code for each in made.warnings] == ["import-note"]  # of the meshes that are not there


def _write(tmp_path, forces, end=SMALL[END:]):
    path = tmp_path / "forced.osim"
    path.write_text(SMALL[:START] + forces + end, "utf-8")
    return str(path)


def test_a_ligament_of_the_scene_pulls_and_is_baked(part, scene, tmp_path):
    """Its panel's settings are those of Blankevoort's law; nothing excites it."""
    made = part("making.opensim_import").import_model(scene, _write(tmp_path, FORCES["ligament"]))
    (item,) = made.muscles.values()
    law = item.condyle.muscle.law
    assert (law.kind, law.slack_length, law.cord_stiffness) == ("cord", pytest.approx(0.7), 400.0)
    law.details, law.slack_length = "", 0.5
    read = part("reading.scene").read(scene)
    (ligament,) = read.model.muscles
    for length, force in ((0.4, 0.0), (0.5 * 1.06, 0.03 * 400.0), (0.55, 0.07 * 400.0)):
        assert ligament.law.force(length) == pytest.approx(
            force, abs=1e-4
        )  # figures of the scene are float32
    item.condyle.muscle.excited_by = "CONTROLLER"  # as it may have been before it became a ligament
    assert read.muscles[0].excitation is None and not read.model.num_inputs
    part("blender.compute_process").run(part("live.run_mode").live(scene, 0.1), seconds=120.0)
    assert "MUSCLE" not in [slider.group for slider in bpy.context.window_manager.condyle_live.sliders]
    scene.frame_end = 3
    swung = [part("jobs.bake").bake_now(scene).result.q[-1, 0]]
    law.slack_length = 2.0
    assert [each.code for each in part("handlers.staleness").changes(scene)] == ["changed-since-bake"]
    swung.append(part("jobs.bake").bake_now(scene).result.q[-1, 0])
    assert item.data.shape_keys is not None and abs(np.ptp(swung)) > 1e-3


def test_forces_that_are_left_out_are_named(part, scene, tmp_path):
    actuators = "".join(
        f'<TorqueActuator name="{name}"><bodyA>rod</bodyA><bodyB>ground</bodyB></TorqueActuator>'
        for name in "ab"
    )
    function = "<SimmSpline><x>-1 0 1</x><y>-1 0 2</y></SimmSpline>"
    bushing = FORCES["bushing"].replace("BushingForce", "FunctionBasedBushingForce")
    bushing = bushing.replace("<rot", f"<m_x_theta_x_function>{function}</m_x_theta_x_function><rot", 1)
    path = _write(tmp_path, actuators + bushing)
    found = {each.code: each for each in part("making.opensim_import").import_model(scene, path).warnings}
    assert found["import-actuator"].values["name"] == "a, b" and found["import-actuator"].is_hint
    assert found["import-force"].values == {"name": "f", "type": "bushing"}
    assert not found["import-force"].is_hint


def test_a_muscle_whose_path_has_no_length_is_imported(part, scene, tmp_path):
    """As one that hangs a body at its origin, where the file starts."""
    thelen = THELEN.replace("<location>0.03 0.4 0.0<", "<location>0 0 0<").replace("0.02 -0.4 0<", "0 0 0<")
    thelen = thelen[: thelen.index("<PathWrapSet>")] + thelen[thelen.index("</PathWrapSet>") + 14 :]
    (item,) = part("making.opensim_import").import_model(scene, _write(tmp_path, thelen)).muscles.values()
    assert 0.0 < item.condyle.muscle.radius < 0.1
