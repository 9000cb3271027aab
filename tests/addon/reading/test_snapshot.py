"""A snapshot reads like the scene it was taken of."""

import bpy
import pytest

from tests.addon.walking import tied_tail

from ..tracer import seeing


@pytest.fixture
def stage(part, scene, make, body):
    """A tail with springs on a rig, a cord, a rod, a collider, and a driven arm."""
    post = tied_tail(part, scene, make, "distance")
    part("making.colliders").add(scene, [body(post)])
    make.driven_arm(part, scene)
    scene.frame_set(1)
    return scene


def test_a_model_is_read_from_a_snapshot_as_from_the_scene(part, condyle, stage):
    reading, view = part("reading.scene"), part("reading.snapshot").take(stage)
    read = reading.read(stage)
    with seeing(condyle.__name__) as found:
        again = reading.read(view)
    assert again.model.to_dict() == read.model.to_dict()
    assert (again.state.q == read.state.q).all() and again.bodies == read.bodies
    assert found <= {f"{condyle.__name__}.{name}" for name in ("reading.meshes", "data.references")}, sorted(
        found
    )


def test_a_snapshot_keeps_what_it_was_taken_of(part, stage):
    view = part("reading.snapshot").take(stage)
    joint = stage.objects["Shoulder"]
    joint.condyle.joint.coordinates[0].rest = 0.5
    assert view.objects["Shoulder"].condyle.joint.coordinates[0].rest == 0.0
    assert part("data.references").live(view.objects["Shoulder"]) == joint
    with pytest.raises(AttributeError, match="hide_viewport"):
        view.objects["Shoulder"].hide_viewport = True


def test_of_objects_that_nothing_reads_only_the_names_are_copied(part, scene, make, body):
    """A file may have thousands of them, and whether a bake is up to date is looked at after each change."""
    target, plain = make.box("Target"), make.box("Plain")
    make.empty("Guide").constraints.new("COPY_LOCATION").target = target
    view = part("reading.snapshot").take(scene)
    assert view.objects["Guide"].constraints[0].target is view.objects["Target"]
    assert view.objects["Target"].matrix_world == target.matrix_world
    assert not hasattr(view.objects["Plain"], "matrix_world") and view.objects["Plain"].type == plain.type
    assert not view.objects["Plain"].condyle.body.enabled


def test_control_points_that_another_joint_uses_are_read(part, scene, make):
    """A part of a composite joint may take the control points of an Empty that is no joint."""
    owner = make.empty("Curve")
    owner.condyle.joint.frames.add().object = make.empty("Point")
    (frame,) = part("reading.snapshot").take(scene).objects["Curve"].condyle.joint.frames
    assert not owner.condyle.joint.enabled and frame.object.name == "Point"


def declared(group):
    return [each for each in group.bl_rna.properties if each.identifier != "rna_type"]


def groups_in(group):
    """A group of properties and those beneath it, with a row in each collection."""
    yield group
    for each in declared(group):
        value = getattr(group, each.identifier)
        if each.type == "COLLECTION":
            yield from groups_in(value[0] if len(value) else value.add())
        elif isinstance(value, bpy.types.PropertyGroup):
            yield from groups_in(value)


@pytest.mark.small
@pytest.mark.parametrize("is_debugged", [True, False], ids=["stored", "declared"])
def test_what_is_not_named_in_a_group_reads_as_its_default(part, scene, make, monkeypatch, is_debugged):
    """In each kind of group; one has a property named as Blender's own method `keys`."""
    compat, snapshot = part("blender.compat"), part("reading.snapshot")
    if not is_debugged:  # Blender may drop the call
        monkeypatch.setattr(compat, "hasattr", lambda *_: False, raising=False)
    rig = make.armature("Rig", {"Bone": ((0, 0, 0), (0, 0, 1), None)})
    kinds = set()
    for owner in (scene, rig, rig.pose.bones[0]):
        for group in groups_in(owner.condyle):
            kinds.add(type(group).__name__)
            for each in declared(group)[::2]:
                if each.type not in {"POINTER", "COLLECTION"} and not each.is_readonly:
                    setattr(group, each.identifier, getattr(group, each.identifier))
            named, fields = compat.names_set(group), snapshot._usual(type(group)).declared.rows
            stored = {
                field.name for field in fields
            }  # but for views, which have getters and are always "set"
            assert named & stored == {name for name in stored if group.is_property_set(name)}
            for field in fields:
                if field.name not in named and field.how in {"PLAIN", "ARRAY"}:
                    value = getattr(group, field.name)
                    assert (snapshot._tuple(value) if field.how == "ARRAY" else value) == field.plain
    assert {"SceneData", "ObjectData", "BoneData", "JointProperties", "FitProperties"} <= kinds


def test_a_curve_that_is_removed_after_a_snapshot_is_named(part, scene, make, ph):
    box = make.box("Box")
    box.keyframe_insert("location", frame=1)
    curves = (
        part("reading.snapshot").take(scene, [box.session_uid]).objects["Box"].animation_data.action.fcurves
    )
    assert [curve.evaluate(3.0) for curve in curves] == [0.0, 0.0, 0.0]
    compat, action = part("blender.compat"), box.animation_data.action
    live = compat.curves(action, compat.slot_of(box.animation_data))
    live.remove(live[2])
    with pytest.raises(ph.ModelError, match="location was removed"):
        curves[2].evaluate(3.0)
    bpy.data.actions.remove(action)
    with pytest.raises(ph.ModelError, match="location was removed"):
        curves[0].evaluate(3.0)


def test_settings_alone_look_at_no_objects(part, scene, make, monkeypatch):
    """They are read before each bake, also of a scene of thousands of objects."""
    make.box("Box")
    snapshot = part("reading.snapshot")
    monkeypatch.setattr(snapshot._Reader, "_scenes", property(lambda _: 1 / 0))
    monkeypatch.setattr(snapshot._Reader, "_evaluated", property(lambda _: 1 / 0))
    assert snapshot.settings(scene).condyle.simulation.integrator and not snapshot.settings(scene).objects
