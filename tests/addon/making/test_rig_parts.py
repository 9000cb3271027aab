"""A rig brings its joints, control frames and muscles wherever Blender takes it."""

import bpy
import pytest
from mathutils import Matrix

from ..copying import in_window, view
from ..selecting import select

pytestmark = pytest.mark.small


PARTS = ["Elbow", *(f"Elbow Frame 0{k}" for k in range(4)), "Shoulder", "Spring A - B", "Spring A - B End"]
BONES = {
    "Root": ((0, 0, 1.5), (0, 0, 1), None),
    "A": ((0, 0, 1), (0, 0, 0.5), "Root"),
    "B": ((0, 0, 0.5), (0, 0, 0), "A"),
}


@pytest.fixture
def rig(part, scene, make, body, authoring):
    """An armature in a collection of its own, with a hinge, a spline joint and a spring, saved: it and its file."""
    rig = make.armature("Rig", BONES)
    home = bpy.data.collections.new("Character")
    scene.collection.children.link(home)
    scene.collection.objects.unlink(rig)
    home.objects.link(rig)
    root, upper, lower = (body(rig, name) for name in ("Root", "A", "B"))
    authoring.add_joint(scene, root, upper, "hinge", name="Shoulder").condyle.joint.axis = (0, 1, 0)
    elbow = authoring.add_joint(scene, upper, lower, name="Elbow")
    for angle in (0.0, 0.4, 0.8, 1.2):
        authoring.add_control_frame(scene, elbow, lower.matrix @ Matrix.Rotation(angle, 4, "Y"))
    authoring.take_rest_pose(elbow)
    part("making.connections").add_connection(
        scene, upper, lower, "spring", end=(0, 0, 0), name="Spring A - B"
    )
    return rig


def names(scene):
    return sorted(item.name for item in scene.objects if item.type == "EMPTY")


@pytest.fixture
def path(rig, tmp_path):
    found = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=found, copy=True)
    return found


def fresh():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.frame_end = 3


def bakes(part, bodies=("Rig/A", "Rig/B")):
    """The names of the parts in the scene, after a bake of the bodies."""
    part("making.duplicates").mend()
    bpy.context.view_layer.update()
    assert sorted(part("jobs.bake").bake_now(bpy.context.scene).poses) == sorted(bodies)
    return names(bpy.context.scene)


def test_parts_are_beneath_the_collection_of_their_rig(part, rig, scene):
    home = bpy.data.collections["Character"]
    assert sorted(item.name for item in home.children["Condyle"].objects) == PARTS
    assert list(scene.collection.children) == [home] and not list(part("making.rig_parts").apart(scene))


@pytest.mark.parametrize(("kind", "name"), [("Object", "Rig"), ("Collection", "Character")])
def test_an_appended_rig_bakes_at_once(part, path, kind, name):
    fresh()
    with in_window():
        bpy.ops.wm.append(filepath=f"{path}/{kind}/{name}", directory=f"{path}/{kind}/", filename=name)
    assert bakes(part) == PARTS


@pytest.mark.parametrize(("kind", "name"), [("Object", "Rig"), ("Collection", "Character")])
def test_an_override_of_a_linked_rig_bakes_and_lasts(part, path, tmp_path, ph, kind, name):
    fresh()
    with in_window():
        bpy.ops.wm.link(filepath=f"{path}/{kind}/{name}", directory=f"{path}/{kind}/", filename=name)
    (item,) = bpy.context.scene.objects
    with pytest.raises(ph.ModelError, match="make a library override of"):
        part("jobs.bake").bake_now(bpy.context.scene)
    select(item)
    assert view(bpy.ops.object.make_override_library) == {"FINISHED"}
    assert bakes(part) == PARTS
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot, copy=True)
    bpy.ops.wm.open_mainfile(filepath=shot)
    assert part("jobs.bake").free_bake(bpy.context.scene) == 1 and bakes(part) == PARTS


def test_a_rig_pasted_into_another_file_bakes_at_once(part, path):
    bpy.ops.wm.open_mainfile(filepath=path)
    select(bpy.data.objects["Rig"])
    view(bpy.ops.view3d.copybuffer)
    fresh()
    view(bpy.ops.view3d.pastebuffer)
    assert bakes(part) == PARTS


def test_a_copy_of_a_rig_alone_names_what_it_lacks_and_one_of_all_bakes(part, rig, scene):
    scene.frame_end = 3
    part("making.duplicates").mend()
    select(rig)
    bpy.ops.object.duplicate()
    assert (
        bakes(part) == PARTS
        and "Rig.001 is a copy without Elbow, Shoulder" in part("blender.session").message
    )
    assert not len(bpy.data.objects["Rig.001"].condyle.parts)
    bpy.data.objects.remove(bpy.data.objects["Rig.001"])
    select(*scene.objects)
    bpy.ops.object.duplicate()
    assert len(bakes(part, [f"{name}/{bone}" for name in ("Rig", "Rig.001") for bone in "AB"])) == 16
    listed = {row.object.name for row in bpy.data.objects["Rig.001"].condyle.parts}
    assert listed == {"Elbow.001", "Shoulder.001", "Spring A - B.001"}


def test_a_deleted_joint_does_not_come_back_with_its_rig(part, rig, tmp_path):
    select(bpy.data.objects["Spring A - B"], bpy.data.objects["Spring A - B End"])
    bpy.ops.object.delete()
    path = str(tmp_path / "less.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    fresh()
    with in_window():
        bpy.ops.wm.append(filepath=f"{path}/Object/Rig", directory=f"{path}/Object/", filename="Rig")
    assert bakes(part) == PARTS[:6]


def test_an_undo_leaves_no_row_that_points_at_what_it_frees(part, rig, scene):
    """The copy of a joint is a part of the same rig, which does not change between the steps."""
    with in_window():
        bpy.ops.ed.undo_push(message="before")
        select(bpy.data.objects["Shoulder"])
        bpy.ops.object.duplicate()
        bpy.ops.ed.undo_push(message="copied")
        part("making.duplicates").mend()
        assert "Shoulder.001" in [row.object.name for row in rig.condyle.parts]
        assert bpy.ops.ed.undo() == {"FINISHED"}
    scene = bpy.context.scene
    part("making.duplicates").mend()
    assert names(scene) == PARTS
    assert [row.object.name for row in bpy.data.objects["Rig"].condyle.parts] == [
        "Elbow",
        "Shoulder",
        "Spring A - B",
    ]
