"""The panel's last line: an error stays until something of ours ends well, or tells something else."""

import bpy
import pytest

pytestmark = pytest.mark.small


@pytest.fixture
def session(part):
    """What lasts as long as Blender runs, with nothing told."""
    session = part("blender.session")
    session.tell("")
    yield session
    session.tell("")
    session.findings = []


@pytest.fixture
def knee(part, scene, make, body):
    """A hinge of bodies whose names tell a side; the other side is not there: its Empty, the active object."""
    thigh, shin = make.box("Thigh.L", (0.2, 0, 1)), make.box("Shin.L", (0.2, 0, 0.5))
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shin), "hinge", name="Knee.L")
    bpy.context.view_layer.objects.active = joint
    return joint


def test_an_error_goes_when_an_operator_ends_well(part, session, knee, make):
    with pytest.raises(RuntimeError, match=r"(Shin|Thigh)\.R"):
        bpy.ops.condyle.mirror_joint()
    assert session.message_icon == "ERROR" and ".R" in session.message
    with pytest.raises(RuntimeError):  # what is refused as well leaves it
        bpy.ops.condyle.mirror_joint()
    assert session.message
    for name, height in (("Thigh.R", 1), ("Shin.R", 0.5)):
        make.box(name, (-0.2, 0, height))
    make.update()
    bpy.context.view_layer.objects.active = knee
    assert bpy.ops.condyle.mirror_joint() == {"FINISHED"}
    assert session.message_icon == "CHECKMARK"  # what was done, in the place of that


def test_what_an_operator_tells_itself_stays_and_so_does_what_is_no_error(part, session, knee):
    session.tell("Done", "CHECKMARK")
    knee.condyle.joint.child.object.condyle.body.mass_source = "MANUAL"
    knee.condyle.joint.child.object.condyle.body.mass = 0.0
    assert bpy.ops.condyle.set_rest_pose() == {"FINISHED"}
    assert session.message == "Done"
    for _ in range(2):  # the same line told again is told
        assert bpy.ops.condyle.check_scene() == {"FINISHED"}
        assert session.message_icon == "ERROR" and session.message.startswith("1 error")
    assert "no warnings" not in session.message  # none were looked for: that takes the whole model
    index = next(index for index, each in enumerate(session.findings) if each.session_uid)
    assert bpy.ops.condyle.select_culprit(index=index) == {"FINISHED"}
    assert session.message.startswith("1 error")
    assert bpy.ops.condyle.clear_findings() == {"FINISHED"}
    assert session.message == ""


def test_every_operator_of_ours_takes_part_and_none_is_wrapped_twice(part):
    registration = part("registration")
    common = part("data.property_options")
    for each in registration.CLASSES:
        if issubclass(each, bpy.types.Operator):
            method = each.execute
            assert getattr(method, "reports", False) is not getattr(each, "keeps_errors", False)
            assert common.reporting(each).execute is method


@pytest.mark.parametrize(
    ("integrator", "code", "method"),
    [
        ("symplectic_euler", "diverged", "Implicit, 2nd Order"),
        ("sdirk2", "diverged", "Implicit Euler"),
        ("RK45", "diverged-adaptive", "Implicit, 2nd Order"),
    ],
)
def test_a_run_that_went_wrong_is_told_with_what_to_try(part, scene, ph, integrator, code, method):
    failure, settings = part("baking.solver_statistics").failure, scene.condyle.simulation
    settings.integrator, settings.time_step = integrator, 0.002
    found = failure(scene, ph.DivergedError(0.088, "Forearm", "a coordinate is no longer finite"))
    assert found.text.startswith("diverged at t = 0.088 s in body 'Forearm'") and method in found.text
    assert (found.code, found.values["method"]) == (code, method) and found.is_error
    assert failure(scene, ph.ModelError("no mass")).text == "no mass"


def test_lines_about_a_bake_go_with_it(part, session, scene, knee):
    part("jobs.bake").bake_now(scene)
    findings = part("data.findings")
    session.findings = [
        findings.Finding("no-motion", source=findings.BAKE),
        findings.Finding("nothing-holds", source=findings.CHECK),
    ]
    assert bpy.ops.condyle.free_bake() == {"FINISHED"}
    assert [each.code for each in session.findings] == ["nothing-holds"]


def test_a_warning_of_a_bake_stands_once_in_the_sidebar(part, session, scene, knee):
    scene.frame_end = 3
    part("making.bodies_and_joints").drive(scene, knee, True)
    knee["coordinate"] = 0.5
    knee.condyle.joint.coordinates[0].start_speed = 1.0
    assert bpy.ops.condyle.bake() == {"FINISHED"}
    (finding,) = session.findings
    assert finding.code == "start-not-slider" and finding.text not in session.message
    assert session.message.endswith("; 1 warning")
