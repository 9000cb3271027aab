"""Bodies that begin inside hard and soft ground are told, by the check of a scene and by a bake."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ..said import culprit, said

pytestmark = pytest.mark.small


@pytest.fixture
def stand(part, scene, make, body):
    """Let a body, 0.4 m high, touch ground at the height 0 of the world, or of another body; its Empty."""
    scene.frame_start, scene.frame_end = 1, 9

    def add(item, contact, other=None):
        make.update()
        pose = np.eye(4) if other is None else np.array(other.matrix_world)
        if other is not None:
            pose[2, 3] += 0.2
        carrier = None if other is None else body(other)
        made = part("making.connections").add_connection(scene, carrier, body(item), "ground", pose, None)
        made.condyle.connection.ground.contact = contact
        for each in (item, other):
            if each is not None and not each.condyle.body.enabled:
                part("making.bodies_and_joints").make_body(scene, body(each), motion="FREE")
        make.update()
        return made

    return add


def told(part, scene):
    return part("jobs.scene_checks").check(scene)


def baked(part, scene):
    """What a bake tells, but that nothing moves."""
    told = part("jobs.bake").bake_now(scene).warnings
    return [each for each in told if not each.code.startswith("no-motion")]


@pytest.mark.parametrize(
    ("height", "depth"), [(0.15, "50 mm"), (0.1, "100 mm"), (-0.1, "300 mm"), (-1.0, "1.2 m")]
)
@pytest.mark.parametrize("contact", ["SOFT", "RIGID"])
def test_what_begins_inside_ground_is_told_with_its_depth(
    part, scene, make, stand, ph, contact, height, depth
):
    stone = make.box("Stone", (0, 0, height))
    stand(stone, contact)
    (finding,) = part("jobs.scene_checks").check(scene)
    code = "deep-soft-start" if contact == "SOFT" else "deep-start"
    assert said([finding]) == [(code, "Stone", depth, "Ground Stone")]
    assert finding.is_error is (contact == "RIGID") and culprit(part, finding).object == stone
    assert bpy.ops.condyle.check_scene() == {"FINISHED"}
    assert bpy.ops.condyle.select_culprit(index=0) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == stone
    if contact == "SOFT":
        assert part("jobs.bake").check_now(scene) == [finding]
        assert finding in part("jobs.bake").bake_now(scene).warnings
        assert culprit(part, part("blender.session").findings[0]).object == stone
        return
    with pytest.raises(ph.ModelError, match=r"Stone begins .* inside the ground"):
        part("jobs.bake").check_now(scene)
    with pytest.raises(ph.CondyleError, match="inside its obstacle: move body 'Stone' out of it"):
        part("jobs.bake").bake_now(scene)


@pytest.mark.parametrize(("contact", "stiffness"), [("SOFT", 2e4), ("SOFT", 1e3), ("RIGID", 0.0)])
def test_what_rests_on_ground_is_not_told(part, scene, make, stand, contact, stiffness):
    """Two boxes, one on the other, where their weight has let them sink."""
    lower, upper = make.box("Lower", (0, 0, 0.2)), make.box("Upper", (0, 0, 0.6))
    first, second = stand(lower, contact), stand(upper, contact, lower)
    for each in (first, second):
        each.condyle.connection.ground.stiffness = max(stiffness, 1.0)
    model = part("reading.scene").read(scene).model
    weight = 9.81 * model.bodies[0].mass
    assert model.num_bodies == 2 and told(part, scene) == []
    if contact == "SOFT":
        below, above = 2.0 * weight / (4.0 * stiffness), weight / (4.0 * stiffness)
        lower.location.z -= below
        upper.location.z -= below + above
        make.update()
        assert told(part, scene) == [] and baked(part, scene) == []


@pytest.mark.parametrize("torque", [0.0, 20.0])
def test_what_rests_under_more_than_its_weight_is_not_told(part, scene, make, authoring, stand, torque):
    """The beam's weight by a lever of three, or a torque too, presses the foot in; with neither it is pushed out."""
    beam = make.box("Beam", (0.1, 0, 0), (0.6, 0.1, 0.1))
    for vertex in beam.data.vertices:
        vertex.co.x += 0.2
    make.update()
    frame = np.eye(4)
    frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    joint = authoring.add_joint(scene, None, part("data.references").Body(beam), "hinge", frame, name="Hinge")
    stand(beam, "SOFT").condyle.connection.ground.points = "ORIGIN"
    row = joint.condyle.joint.coordinates[0]
    row.torque = torque
    scene.frame_end = 97
    angles = part("jobs.bake").bake_now(scene).coordinates["Hinge.angle"]
    part("jobs.bake").free_bake(scene)
    assert abs(angles[-1] - angles[-9]) < 1e-3 and 0.08 < angles[-1] < 0.4
    row.start, scene.frame_end = angles[-1], 5
    beam.matrix_world = (
        Matrix(frame) @ Matrix.Rotation(angles[-1], 4, "Z") @ Matrix(frame).inverted() @ beam.matrix_world
    )
    make.update()
    assert told(part, scene) == [] and baked(part, scene) == []
    part("jobs.bake").free_bake(scene)
    arm, frame[:3, 3] = make.box("Arm", (3, 0, 2)), (3, 0, 2)  # led, but not what the beam hangs on
    apart = authoring.add_joint(scene, None, part("data.references").Body(arm), "hinge", frame, name="Apart")
    apart.condyle.joint.prescribed = True
    assert baked(part, scene) == []
    part("jobs.bake").free_bake(scene)
    scene.condyle.simulation.gravity, row.torque = (0, 0, -1.0), 0.0
    (line,) = told(part, scene)
    assert (line.code, line.values["body"]) == ("deep-soft-start", "Beam")
    assert said([line])[0] in said(part("jobs.bake").bake_now(scene).warnings)


def test_the_start_that_the_animation_gives_is_looked_at(part, scene, make, body, stand):
    """Not where the joint's start values would have the body; and what is led there is not thrown out."""
    ram = make.box("Ram", (0, 0, 1.0))
    joint = part("making.bodies_and_joints").add_joint(scene, None, body(ram), "slider", name="Guide")
    joint.condyle.joint.axis = (0, 0, 1)
    stand(ram, "SOFT")
    assert told(part, scene) == []
    ram.location.z = 0.1
    make.update()
    scene.condyle.start.source = "POSE"
    (line,) = told(part, scene)
    assert said([line])[0][:3] == ("deep-soft-start", "Ram", "100 mm")
    assert line in part("jobs.bake").bake_now(scene).warnings
    part("jobs.bake").free_bake(scene)
    joint.condyle.joint.prescribed = True
    assert told(part, scene) == [] and baked(part, scene) == []


def test_what_is_led_onto_its_constraints_first_is_no_error(part, scene, make, body, stand):
    stone, other = make.box("Stone", (0, 0, 0.1)), make.box("Other", (1, 0, 3))
    stand(stone, "RIGID")
    part("making.bodies_and_joints").make_body(scene, body(other), motion="FREE")
    part("making.connections").add_connection(scene, body(stone), body(other), "distance", np.eye(4), None)
    make.update()
    (finding,) = [each for each in part("jobs.scene_checks").check(scene) if each.code == "deep-start"]
    assert not finding.is_error


def test_the_depth_that_is_refused_is_that_of_physics(part):
    assert (
        part("checking.start_penetration").REFUSED
        == part("blender.physics_access").part("simulation.start").PASSED_AT_START
    )
