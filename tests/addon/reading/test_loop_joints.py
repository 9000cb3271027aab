"""Joints that close loops, and surfaces that roll without slipping: read, baked, refused."""

import bpy
import numpy as np
import pytest

from ..said import culprit
from ..selecting import select


@pytest.fixture
def bodies(scene, make, body, authoring):
    """Two boxes on hinges about x side by side, 13 frames, the left one with a push."""
    scene.frame_start, scene.frame_end = 1, 13
    found = [make.box("Left", (0.0, 0, 0)), make.box("Right", (0.5, 0, 0))]
    turned = np.array([[0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0.3], [0, 0, 0, 1.0]])
    for item in found:
        turned[0, 3] = item.location.x
        joint = authoring.add_joint(
            scene, None, body(item), "hinge", matrix=turned, name=f"{item.name} Hinge"
        )
        joint.condyle.joint.coordinates[0].start_speed = 0.6 if item.name == "Left" else 0.0
    return found


@pytest.fixture
def close(part, scene, authoring, bodies):
    def made(kind="slider", **options):
        left, right = (part("data.references").Body(item) for item in bodies)
        return authoring.add_joint(scene, left, right, kind, name="Link", closes_loop=True, **options)

    return made


def angle(item):
    return float(item.matrix_world.to_euler().x)


@pytest.mark.small
def test_a_slider_between_two_pendulums_lets_them_swing_as_one(part, scene, bodies, close):
    item = close()
    read = part("reading.scene").read(scene)
    assert [body.name for body in read.model.bodies] == ["Left", "Right", "Link"]
    assert [entry.name for entry in read.bodies] == ["Left", "Right"]
    part("jobs.bake").bake_now(scene)
    scene.frame_set(13)
    # alone, the right one would hang still
    assert abs(angle(bodies[0])) > 0.02
    # keys are float32, and constraints hold to their drift
    assert abs(angle(bodies[0]) - angle(bodies[1])) < 1e-6
    assert scene.condyle.simulation.statistics.largest == item.name


def test_switched_off_it_is_a_second_joint_and_refused(part, ph, scene, bodies, close):
    item = close()
    item.condyle.joint.closes_loop = False
    with pytest.raises(ph.ModelError, match="both move Right; remove one, or let it close a loop"):
        part("reading.scene").read(scene)


def test_what_cannot_be_closed_is_refused_by_name(part, ph, scene, authoring, bodies, close):
    item = close()
    references = part("data.references")
    with pytest.raises(ph.ModelError, match="'Link' closes a loop: its child is moved by another"):
        authoring.drive(scene, item)
    authoring.remove_joint(scene, next(j for j in references.joints_of(scene) if "Right" in j.name))
    with pytest.raises(ph.ModelError, match="'Link' closes a loop, but its child Right is fixed"):
        part("reading.scene").read(scene)


def test_a_driven_joint_that_comes_to_close_a_loop_lets_its_child_go(part, scene, bodies, close):
    hinge = next(j for j in part("data.references").joints_of(scene) if "Right" in j.name)
    part("making.bodies_and_joints").drive(scene, hinge)
    hinge.condyle.joint.closes_loop = True
    assert not hinge.condyle.joint.driven
    assert not bodies[1].constraints


def test_the_button_makes_one_and_puts_it_at_hand(part, scene, bodies):
    select(*reversed(bodies))
    assert bpy.ops.condyle.add_joint(kind="hinge", closes_loop=True) == {"FINISHED"}
    item = bpy.context.view_layer.objects.active
    assert item.condyle.joint.closes_loop and item.condyle.joint.child.object == bodies[1]
    assert not bpy.ops.condyle.drive.poll()


def test_a_surface_that_rolls_is_a_constraint_of_the_model(part, ph, scene, make, authoring):
    """The joint is a surface and a hinge about its normal; without a surface there is nothing to roll on."""
    ground, box = make.box("Ground", (0, 0, -1.0)), make.box("Ball", (0.0, 0, 0))
    reference = part("data.references").Body
    shape = authoring.add_joint(scene, None, reference(ground), "spline_surface", name="Shape")
    joint = authoring.add_joint(scene, None, reference(box), "composite", name="Contact")
    settings = joint.condyle.joint
    bpy.context.view_layer.objects.active = shape
    bpy.ops.condyle.make_grid()
    bpy.context.view_layer.objects.active = joint
    bpy.ops.condyle.add_part(kind="spline_surface")
    bpy.ops.condyle.add_part(kind="hinge")
    settings.parts[0].frames_of = shape
    settings.no_slip = True
    read = part("reading.scene").read(scene)
    (constraint,) = read.model.constraints.values()
    assert constraint.type == "rolling" and constraint.body == "Ball"
    assert part("ui.joints.panels").may_roll(settings)
    settings.parts[0].type = "hinge"
    assert not part("ui.joints.panels").may_roll(settings)


@pytest.mark.small
def test_a_start_that_does_not_close_the_loop_is_told_by_its_coordinate(part, scene, bodies, close):
    """That a joint starts 120 mm off where it was said nothing of which of its starts to mend."""
    item = close()
    along = item.condyle.joint.coordinates[0]
    along.start = 0.12
    warnings = part("jobs.bake").bake_now(scene).warnings
    told = next(each.values for each in warnings if each.code == "coordinates-by-constraints")
    assert (told["body"], told["joint"], told["apart"]) == ("Link", "Link", "120 mm")
    assert "distance from 0.12 m to 0 m" in told["changes"]
    along.start = 0.0
    again = [each for each in part("jobs.bake").bake_now(scene).warnings if "by-constraints" in each.code]
    # the left one has to take the right one along
    (told,) = again
    assert (told.code, told.values["coordinate"]) == ("velocities-by-constraints", "Left.angle")
    assert told.values["before"] == "34.38°/s" and culprit(part, told).name == "Left"
