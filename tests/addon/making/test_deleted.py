"""What is deleted is named, and what it led is let go of."""

import bpy
import numpy as np
import pytest

from ..copying import frames_of, in_window, moved_by, simulated
from ..selecting import select


@pytest.mark.small
@pytest.mark.parametrize("role", ["parent", "child"])
def test_a_deleted_body_is_named_and_another_can_take_its_place(part, scene, make, knee, ph, role):
    thigh, shank, joint = knee
    gone = {"parent": thigh, "child": shank}[role]
    select(gone)
    bpy.ops.object.delete()
    part("making.duplicates").mend()
    with pytest.raises(ph.ModelError, match=f"joint 'Knee': its {role} {gone.name} is in no scene: undo"):
        simulated(part, scene)
    new = make.box("New", (0, 0, 0.1))
    body = part("data.references").Body(new)
    part("making.bodies_and_joints").make_body(scene, body)
    part("data.references").point_at(getattr(joint.condyle.joint, role), body)
    assert simulated(part, scene) == ["New" if role == "child" else "Shank"]


@pytest.mark.small
def test_a_deleted_control_frame_is_named(part, scene, knee, ph):
    joint = knee[2]
    select(frames_of(joint)[1])
    bpy.ops.object.delete()
    with pytest.raises(ph.ModelError, match=r"control point 1 was deleted: undo that, or remove it"):
        simulated(part, scene)
    part("making.bodies_and_joints").remove_control_frame(joint, 1)
    joint.condyle.joint.order = 3
    assert simulated(part, scene) == ["Shank"]


@pytest.mark.small
def test_a_deleted_joint_lets_go_of_its_child(part, scene, knee):
    _, shank, joint = knee
    select(joint)
    bpy.ops.object.delete()
    assert part("making.duplicates").mend() == 1 and part("making.duplicates").mend() == 0
    assert not shank.constraints and not [item for item in scene.objects if "Follower" in item.name]
    assert shank.condyle.body.enabled


@pytest.mark.small
def test_a_window_sees_that_a_joint_was_deleted(part, scene, knee, monkeypatch):
    """Its control frames mean it, so that it stays in the file: the number of objects there does not tell."""
    copies, looks = part("handlers.duplicates"), []
    monkeypatch.setattr(copies, "look", lambda: looks.append(1))

    def updated():
        looks.clear()
        bpy.context.view_layer.update()
        copies.on_update(scene, Updated(bpy.context.view_layer))
        return bool(looks)

    updated()
    assert not updated()
    joint, count = knee[2], len(bpy.data.objects)
    select(joint)
    bpy.ops.object.delete()
    assert len(bpy.data.objects) == count
    assert updated() and not updated()


class Updated:
    """What a handler gets of a view layer in which no armature changed."""

    mode = "VIEWPORT"

    def __init__(self, view_layer):
        self.view_layer = view_layer

    def id_type_updated(self, name):
        return False


@pytest.mark.small
def test_a_deleted_follower_comes_back(part, scene, knee):
    _, shank, joint = knee
    bpy.data.objects.remove(joint.condyle.joint.follower)
    assert part("making.duplicates").mend() == 1 and moved_by(joint, shank) > 0.05


def left(part):
    return [finding for finding in part("blender.session").findings if finding.remedy]


def test_what_a_deleted_joint_leaves_is_told_and_can_be_removed(part, scene, make, knee):
    """Its control frames stayed in the scene without a word: to be found and selected one by one."""
    joint = knee[2]
    with in_window():
        bpy.ops.ed.undo_push(message="a knee")
        select(joint)
        bpy.ops.object.delete()
        bpy.ops.ed.undo_push(message="delete")
        part("making.duplicates").mend()
        (line,) = left(part)
        assert (line.code, dict(line.values)) == ("left-over", {"owner": "Knee", "count": 4})
        # not the same twice: the list stands beneath the panel's line
        assert part("blender.session").message == "Deleted: Knee; see the list beside Check Scene"
        assert part("data.finding_list").shown(scene)
        part("blender.session").tell("")
        part("making.duplicates").mend()
        assert not part("blender.session").message and left(part) == [line]  # told once, and listed on
        bpy.ops.ed.undo()
        part("making.duplicates").mend()
        assert not left(part) and not bpy.ops.condyle.remove_left_over.poll()
        bpy.ops.ed.redo()
        part("making.duplicates").mend()
        scene = bpy.context.scene
        assert left(part) == [line]
        kept = next(item for item in scene.objects if item.condyle.frame_of is not None)
        make.empty("Hung", kept)
        assert bpy.ops.condyle.remove_left_over() == {"FINISHED"}
        assert not left(part) and part("blender.session").message == "3 Empties removed"
        # what something hangs on is not taken away from under it
        assert [item for item in scene.objects if item.condyle.frame_of is not None] == [kept]


def test_a_bake_tells_of_what_a_deleted_joint_leaves_in_the_line_that_removes_it(
    part, scene, authoring, knee
):
    """Told by the bake as well it stood twice, and went on standing there when it was removed."""
    _, shank, joint = knee
    select(joint)
    bpy.ops.object.delete()
    part("making.duplicates").mend()
    authoring.add_joint(scene, None, part("data.references").Body(shank), "hinge", np.eye(4), name="New")
    part("jobs.bake").bake_now(scene)
    lines = [each for each in part("blender.session").findings if each.code == "left-over"]
    assert len(lines) == 1 and lines[0].remedy == part("making.orphans").REMEDY
    assert bpy.ops.condyle.remove_left_over() == {"FINISHED"}
    assert not [each for each in part("blender.session").findings if each.code == "left-over"]


@pytest.mark.small
@pytest.mark.parametrize("step", ["delete", "exclude", "bake", "origin", "elsewhere"])
def test_what_a_check_told_goes_with_an_undo_of_what_it_told_of(part, scene, make, knee, step):
    """But not with an undo of anything else."""
    _, shank, _ = knee
    stone = make.box("Stone", (3, 0, 0))
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(stone), motion="FREE")
    home = bpy.data.collections.new("Leg")
    scene.collection.children.link(home)
    home.objects.link(shank)
    scene.collection.objects.unlink(shank)
    if step == "bake":
        part("jobs.bake").bake_now(scene)
    if step != "origin":  # with an error nothing else is looked for
        stone.condyle.body.mass_source, stone.condyle.body.mass = "MANUAL", 0.0
    else:
        stone.condyle.body.density = 1e-3
        shank.condyle.body.mass_source = "MANUAL"
    bpy.context.view_layer.update()

    def told():
        return {each.text for each in part("blender.session").findings if "Stone" not in each.text}

    with in_window():
        bpy.ops.ed.undo_push(message="a knee")
        if step == "delete":
            select(shank)
            bpy.ops.object.delete()
        elif step == "exclude":
            layer = bpy.context.view_layer.layer_collection.children["Leg"]
            layer.exclude = True
        elif step == "bake":
            bpy.data.actions.remove(shank.condyle.bake.action)
        elif step == "origin":
            for vertex in shank.data.vertices:
                vertex.co.z -= 0.1
        else:
            scene.objects["Thigh"].color[0] = 0.5
        bpy.ops.ed.undo_push(message=step)
        bpy.ops.condyle.check_scene()
        before = told()
        stones = len(part("blender.session").findings) - len(before)
        assert before if step != "elsewhere" else not before
        assert stones
        bpy.ops.ed.undo()
        assert not told() and len(part("blender.session").findings) == stones
