"""Data that lasts: the stored properties by path, their schema, their overrides, and files of released versions."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.addon.walking import add_tail, walker

HERE = Path(__file__).parents[1]
GOLDEN = HERE / "stored_properties.txt"
RELEASED = sorted((HERE / "released").glob("*.blend"))


def paths_of(rna, prefix):
    """One line a property: path, type, and size of arrays; groups and collections of groups are followed."""
    lines = []
    for item in rna.properties:
        if item.identifier in {"rna_type", "name"}:  # what every group has
            continue
        path = f"{prefix}.{item.identifier}"
        if item.type in {"POINTER", "COLLECTION"} and item.fixed_type.base.identifier == "PropertyGroup":
            lines.append(f"{path} {item.type}")
            lines += paths_of(item.fixed_type, path + ("[]" if item.type == "COLLECTION" else ""))
        else:
            size = f"[{item.array_length}]" if getattr(item, "is_array", False) else ""
            target = f" -> {item.fixed_type.identifier}" if item.type == "POINTER" else ""
            values = (
                f" {{{','.join(f'{entry.identifier}={entry.value}' for entry in item.enum_items)}}}"
                if item.type == "ENUM"
                else ""
            )
            lines.append(f"{path} {item.type}{size}{target}{values}")
    return lines


@pytest.mark.small
def test_stored_properties_are_those_of_the_golden_list(part):
    """A changed or missing line breaks files that users have: add a migration and a new schema version first."""
    lines = []
    for owner, group in part("data.roots").ROOTS:
        lines += paths_of(group.bl_rna, f"{owner.__name__}.condyle")
    assert lines == GOLDEN.read_text("utf-8").splitlines()


@pytest.mark.small
def test_every_property_can_be_overridden_and_is_described(part):
    for group in part("registration").CLASSES:
        if not issubclass(group, bpy.types.PropertyGroup):
            continue
        for name, item in group.bl_rna.properties.items():
            if name in {"rna_type", "name"}:  # what every group has
                continue
            assert item.is_overridable, f"{group.__name__}.{name}"
            assert item.name, f"{group.__name__}.{name}"
            if item.type not in {"POINTER", "COLLECTION"}:
                assert item.description, f"{group.__name__}.{name}"


@pytest.mark.small
def test_a_fresh_file_stores_nothing_and_the_first_data_is_stamped(part, scene, make):
    item = make.box("Thigh")
    assert all(root.schema_version == 0 for _, root in part("data.schema").roots())
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(item))
    version = part("data.schema").SCHEMA_VERSION
    assert item.condyle.schema_version == version and scene.condyle.schema_version == version


def test_old_data_goes_through_every_step_of_the_chain(part, scene, make, monkeypatch):
    migrations, migrate = part("data.schema"), part("handlers.file_load").migrate
    item = make.box("Thigh")
    item.condyle.schema_version = 1
    seen = []
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", 3)
    steps = {1: lambda root: seen.append(("1", root)), 2: lambda root: seen.append(("2", root))}
    monkeypatch.setattr(migrations, "STEPS", steps)
    assert migrate() == ""
    assert [number for number, _ in seen] == ["1", "2"] and item.condyle.schema_version == 3


def test_parts_of_old_composite_joints_keep_their_pitch(part, scene, make):
    item = make.empty("Joint")
    for kind in ("helical", "helical"):
        item.condyle.joint.parts.add().type = kind
    item.condyle.joint.parts[1].pitch = 0.25
    item.condyle.schema_version = 1
    assert part("handlers.file_load").migrate() == ""
    assert [each.pitch for each in item.condyle.joint.parts] == [0.0, 0.25]


def test_what_the_last_version_brought_is_not_read_by_the_one_before(part, scene, make, monkeypatch):
    """An add-on without colliders lets chains swing through the head, and tells nothing."""
    migrations, migrate = part("data.schema"), part("handlers.file_load").migrate
    item = make.empty("Joint")
    item.condyle.collider.enabled = True
    migrations.stamp(item.condyle)
    assert migrate() == "" and not part("blender.session").read_only
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", 7)
    version = max(migrations.STEPS) + 1
    assert f"'Joint' was saved by a newer version (data version {version}, supported 7)" in migrate()
    assert part("blender.session").read_only
    monkeypatch.setattr(part("blender.session"), "read_only", False)


@pytest.mark.parametrize(("version", "keyed"), [(6, True), (6, False), (9, True)])
def test_an_old_file_names_animated_bodies_that_stood_still(part, scene, make, version, keyed):
    rig = walker(make, scene, "root" if keyed else "object")
    if not keyed:
        rig.animation_data_clear()
    add_tail(part, scene, rig)
    for _, root in part("data.schema").roots():
        root.schema_version = min(root.schema_version, version)
    part("handlers.file_load").on_load()
    message = part("blender.session").message
    assert ("Rig/Hips" in message) == (version == 6 and keyed)


def test_play_of_old_scenes_plays_their_keys_alone(part, scene):
    scene.condyle.schema_version = 8
    assert scene.condyle.play_live
    assert part("handlers.file_load").migrate() == ""
    assert not scene.condyle.play_live


def test_every_version_but_the_last_has_a_step(part):
    migrations = part("data.schema")
    assert sorted(migrations.STEPS) == list(range(1, migrations.SCHEMA_VERSION))


@pytest.mark.small
@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_files_of_released_versions_load(part, condyle, path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    assert not part("blender.session").read_only
    (joint,) = part("data.references").joints_of(scene)
    settings = joint.condyle.joint
    assert settings.type == "spline_curve" and len(settings.frames) == 8 and len(settings.knots) == 12
    assert settings.driven and settings.follower is not None
    assert settings.coordinates[0].limits == "CUSTOM" and np.isclose(settings.coordinates[0].damping, 0.05)
    assert [entry.name for entry in part("reading.scene").read(scene).bodies] == ["Shank"]
    shank = bpy.data.objects["Shank"]
    assert part("baked.temporarily").is_baked(shank)
    assert part("jobs.bake").free_bake(scene) == 1
    assert shank.animation_data.action.name == "ShankAction"
    assert len(part("reading.keyed_poses").keyed_frames(part("data.references").Body(shank))) == 13
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.mark.small
def test_references_survive_renaming_saving_and_loading(part, scene, make, tmp_path):
    references, authoring = part("data.references"), part("making.bodies_and_joints")
    rig = make.armature("Rig")
    joint = authoring.add_joint(
        scene, references.Body(rig, "A"), references.Body(rig, "B"), "hinge", name="Elbow"
    )
    rig.name, rig.pose.bones["B"].name = "Arm", "Forearm"
    path = str(tmp_path / "renamed.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    joint = bpy.data.objects["Elbow"]
    assert joint.condyle.joint.child.bone_name == "Forearm"
    assert references.resolve(joint.condyle.joint.child).name == "Arm/Forearm"


def test_duplicates_point_at_duplicates(part, scene, make):
    """Duplicated together, bodies and joint make a second mechanism; a copied bone is not its original."""
    references, authoring = part("data.references"), part("making.bodies_and_joints")
    thigh, shank = make.box("Thigh", (0, 0, 0.4)), make.box("Shank")
    joint = authoring.add_joint(scene, references.Body(thigh), references.Body(shank), "hinge", name="Knee")
    for item in scene.objects:
        item.select_set(item in (thigh, shank, joint))
    bpy.ops.object.duplicate()
    copies = [item for item in references.joints_of(scene) if item != joint]
    assert len(copies) == 1
    assert references.resolve(copies[0].condyle.joint.child).object not in (thigh, shank)
    assert len(part("reading.scene").read(scene).bodies) == 2


@pytest.mark.small
def test_a_linked_leg_is_refused_and_its_override_baked_saved_and_freed(
    part, scene, make, body, tmp_path, ph
):
    thigh, shank = make.keyed_knee()
    tasks = part("jobs.bake")
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    tasks.fit_now(scene, joint)
    part("making.bodies_and_joints").drive(scene, joint, True)
    collection = bpy.data.collections.new("Leg")
    scene.collection.children.link(collection)
    for item in list(scene.objects):
        for user in list(item.users_collection):
            user.objects.unlink(item)
        collection.objects.link(item)
    library, path = str(tmp_path / "library.blend"), str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library, copy=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_end = 13
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.collections = ["Leg"]
    linked = bpy.data.collections["Leg"]
    scene.collection.children.link(linked)
    make.update()
    with pytest.raises(ph.ModelError, match=r"Shank is linked from .*; make a library override first"):
        tasks.bake_now(scene)
    linked.override_hierarchy_create(scene, bpy.context.view_layer)
    for child in [child for child in scene.collection.children if child.library is not None]:
        scene.collection.children.unlink(child)
    make.update()
    report = tasks.bake_now(scene)
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    shank = next(item for item in scene.objects if item.name == "Shank")
    for frame, pose in zip(report.frames, report.poses["Shank"]):
        scene.frame_set(int(frame))
        assert np.abs(np.array(shank.matrix_world) - pose).max() < 4e-6
    assert tasks.free_bake(scene) == 1
    assert shank.animation_data.action.name == "ShankAction" and not any(
        each.mute for each in shank.constraints
    )
