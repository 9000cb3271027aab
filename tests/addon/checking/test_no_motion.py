"""A bake in which nothing moves is told, with the reasons that are true of its scene and no others."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ..keying import key_slider
from ..said import culprit, said
from .test_scene import leg as hanging  # noqa: F401

pytestmark = pytest.mark.small


@pytest.fixture
def leg(hanging):
    """Two hinges, about x, that hang straight down from a held pelvis."""
    for joint in (hanging["hip"], hanging["knee"]):
        joint.condyle.joint.axis = (1, 0, 0)
    return hanging


def coordinate(joint):
    return joint.condyle.joint.coordinates[0]


def told(part, scene):
    """What a bake of the scene says of nothing that moves; it is freed again."""
    report = part("jobs.bake").bake_now(scene)
    part("jobs.bake").free_bake(scene)
    longest = part("ui.checks.panels").LONGEST
    assert all(len(each.text) <= longest for each in report.warnings)
    return [each for each in said(report.warnings) if each[0].startswith("no-motion")]


def test_a_bake_in_which_something_moves_does_not_say_so(part, scene, leg):
    coordinate(leg["knee"]).start = 0.1
    assert told(part, scene) == []


def test_forces_that_balance_are_the_reason_and_the_line_selects_the_joint(part, scene, leg):
    assert told(part, scene) == [("no-motion-balance", "Hip, Knee")]
    assert bpy.ops.condyle.bake() == {"FINISHED"}
    (finding,) = part("blender.session").findings
    assert finding.code == "no-motion-balance" and finding.source == part("data.findings").BAKE
    assert culprit(part, finding).object == leg["hip"] and not finding.is_error
    assert part("blender.session").message.endswith("1 warning")


def test_no_gravity_is_the_reason_where_no_other_force_is_left_over(part, scene, leg):
    scene.condyle.simulation.gravity = (0, 0, 0)
    coordinate(leg["knee"]).start = 0.1
    assert told(part, scene) == [("no-motion-at-rest", "Hip, Knee")]
    coordinate(leg["knee"]).start_speed = 1.0
    assert told(part, scene) == []


def test_muscles_that_are_not_excited_change_no_reason(part, scene, body, leg):
    ends = [(body(leg["thigh"]), (0, 0.06, 1)), (body(leg["shank"]), (0, 0.06, 0.5))]
    part("making.muscles").add_muscle(scene, ends, "Hamstrings").condyle.muscle.law.max_force = 60.0
    assert told(part, scene) == [("no-motion-balance", "Hip, Knee")]
    scene.condyle.simulation.gravity = (0, 0, 0)
    assert told(part, scene) == [("no-motion-at-rest", "Hip, Knee")]


@pytest.mark.parametrize("way", ["prescribed", "follow", "sliders"])
def test_joints_that_follow_an_animation_that_stands_still(part, scene, leg, way):
    scene.condyle.simulation.gravity = (0, 0, 0)  # not the reason: nothing is simulated
    for joint in (leg["hip"], leg["knee"]):
        settings = joint.condyle.joint
        settings.prescribed, settings.follow = way != "follow", 1.0 if way == "follow" else 0.0
        if way == "sliders":
            part("making.bodies_and_joints").drive(scene, joint, True)
    assert told(part, scene) == [("no-motion-animation", "Hip, Knee")]
    leg["knee"].condyle.joint.prescribed, leg["knee"].condyle.joint.follow = False, 0.0
    assert told(part, scene) == [("no-motion-animation", "Hip"), ("no-motion-at-rest", "Knee")]
    coordinate(leg["knee"]).start_speed = 1.0
    assert told(part, scene) == []


def test_joints_that_are_all_fixed(part, scene, leg):
    for joint in (leg["hip"], leg["knee"]):
        joint.condyle.joint.type = "fixed"
    assert told(part, scene) == [("no-motion-fixed", "Hip, Knee")]


def test_constraints_that_leave_no_way_to_move(part, scene, body, leg):
    add = part("making.connections").add_connection
    coordinate(leg["knee"]).start = 0.0
    add(scene, body(leg["pelvis"]), body(leg["shank"]), "weld", Matrix.Translation((0, 0, 0.5)), None, "Bolt")
    bpy.context.view_layer.update()
    assert told(part, scene) == [("no-motion-locked", "Hip, Knee")]


def test_a_joint_at_a_hard_limit_is_told_of_it(part, scene, leg):
    leg["knee"].condyle.joint.type = "fixed"
    bent = Matrix.Translation((0, 0, 1.25)) @ Matrix.Rotation(0.5, 4, "X") @ Matrix.Translation((0, 0, -1.25))
    for name in ("thigh", "shank"):
        leg[name].matrix_world = bent @ leg[name].matrix_world
    bpy.context.view_layer.update()
    settings, row = leg["hip"].condyle.joint, coordinate(leg["hip"])
    row.start, row.limits, row.lower, row.upper = 0.5, "CUSTOM", 0.5, 1.0
    settings.hard_limits, settings.restitution = True, 0.0
    assert told(part, scene) == [("no-motion-limit", "Hip")]
    row.lower = 0.4
    assert told(part, scene) == []


def test_a_pre_roll_that_moves_is_not_what_is_looked_at(part, scene, leg):
    """A joint that is led to its place before the first frame, and stays there."""
    hip, knee = leg["hip"], leg["knee"]
    knee.condyle.joint.type = "fixed"
    part("making.bodies_and_joints").drive(scene, hip, True)
    key_slider(hip, {-3: 0.5, 1: 0.0})
    hip.condyle.joint.prescribed = True
    scene.condyle.start.preroll = 4
    assert told(part, scene) == [("no-motion-animation", "Hip")]
    scene.frame_start = 0
    assert told(part, scene) == []
    assert np.isfinite(hip["coordinate"])
