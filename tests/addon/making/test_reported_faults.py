"""What users of other add-ons for secondary motion reported as faults, tried here: Wiggle 2, Jiggle Physics, Rigid Body
Bones, JiggleArmature and Bone Physics, by the names of their trackers.
"""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ..chain_rigs import add_chain, rig_with_tail, tail
from ..keying import set_keys

FRAMES = 30


def swung(part, scene, rig, names):
    """Bake; places (F, bones, 3) of the tips of bones in the armature, and the report."""
    scene.frame_start, scene.frame_end = 1, FRAMES
    bpy.ops.object.mode_set(mode="OBJECT")
    report = part("jobs.bake").bake_now(scene)
    places = []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        places.append([np.array(rig.pose.bones[name].tail) for name in names])
    return np.array(places), report


def shaken(rig, bone="Hips", far=0.3):
    """Keys that move a bone to the side and back, along the world's x."""
    owner = rig.pose.bones[bone]
    axis = int(np.argmax(np.abs(np.array(owner.bone.matrix_local)[0, :3])))
    set_keys(owner, "location", {1: 0.0, 8: far, 15: 0.0}, axis)


def test_equal_chains_move_equally(part, scene, make):
    """Wiggle 2, 107: some of the bones with the same settings fall down, while others spring back."""
    bones = {"Hips": ((0, 0, 1), (0, 0, 1.2), None)}
    for x in range(4):
        bones |= {f"A{x}": ((x, 0, 1), (x, -0.2, 1), "Hips"), f"B{x}": ((x, -0.2, 1), (x, -0.4, 1), f"A{x}")}
    rig = make.armature("Rig", bones)
    add_chain(rig, *(f"{letter}{x}" for x in range(4) for letter in "AB"))
    shaken(rig)
    places, _ = swung(part, scene, rig, [f"B{x}" for x in range(4)])
    apart = places - places[:, :1] - np.arange(4)[:, None] * (1.0, 0.0, 0.0)
    assert np.ptp(places[:, 0], axis=0).max() > 0.05
    assert np.abs(apart).max() < 1e-5  # bones are kept in single precision


def test_a_loop_ends_as_it_begins(part, scene, make):
    """Wiggle 2, 99: baking ignores "loop physics"."""
    rig = rig_with_tail(make)
    add_chain(rig, *tail(rig))
    owner = rig.pose.bones["Hips"]
    for frame in range(1, FRAMES + 1):  # one period of a swing
        owner.location[0] = 0.1 * math.sin(2.0 * math.pi * (frame - 1) / (FRAMES - 1))
        owner.keyframe_insert("location", index=0, frame=frame)
    scene.condyle.start.loop = True
    places, report = swung(part, scene, rig, tail(rig))
    assert np.abs(places[-1] - places[0]).max() < 1e-3
    assert report.result.info["loop"]["cycles"] > 0


@pytest.mark.parametrize("turn", [math.pi, 0.0])
def test_bones_that_point_the_other_way_swing_as_well(part, scene, make, turn):
    """Wiggle 2, 17: a chain of hair whose bones' tails point in the wrong direction freaks out."""
    rig = make.armature(
        "Rig",
        {"Hips": ((0, 0.2, 1), (0, 0, 1), None)}
        | {
            f"Tail.{k}": (
                (0, -0.1 * k, 1),
                (0, -0.1 * k - 0.1 * math.cos(turn), 1),
                f"Tail.{k - 1}" if k else "Hips",
            )
            for k in range(4)
        },
    )
    add_chain(rig, *tail(rig))
    shaken(rig)
    places, _ = swung(part, scene, rig, tail(rig))
    rest = np.array([rig.data.bones[name].head_local for name in tail(rig)])
    assert np.isfinite(places).all() and 0.02 < np.ptp(places[:, -1], axis=0).max() < 2.0
    assert np.linalg.norm(places[-1] - rest, axis=1).max() < 0.5  # it hangs near its rest


def test_a_collider_on_the_chain_does_not_tear_it(part, scene, make):
    """Wiggle 2, 100 and 103: with a collider all bones stick to its surface, stretch and vanish."""
    rig = rig_with_tail(make)
    box = make.box("Box", (0.0, -0.25, 0.6), (1.0, 1.0, 0.5))
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = box
    box.select_set(True)
    assert bpy.ops.condyle.add_collider(shape="BOX") == {"FINISHED"}
    add_chain(rig, *tail(rig), preset="ROPE")
    shaken(rig)
    places, report = swung(part, scene, rig, tail(rig))
    lengths = np.linalg.norm(np.diff(places, axis=1), axis=2)
    assert np.abs(lengths - 0.1).max() < 1e-5
    assert places[..., 2].min() > 0.85 - 1e-3  # the box's top
    assert report.result.info["constraints"]["steps_unmet"] == 0


@pytest.mark.parametrize("links", [1, 2])
def test_short_chains_and_single_bones_swing(part, scene, make, links):
    """Jiggle Physics, 24 and 2: the last of two bones is not simulated, nor are single ones."""
    rig = rig_with_tail(make, links)
    add_chain(rig, *tail(rig))
    shaken(rig)
    places, _ = swung(part, scene, rig, tail(rig))
    scene.frame_set(6)
    bend = [rig.pose.bones[name].matrix_basis.to_quaternion().angle for name in tail(rig)]
    assert min(bend) > 0.01 and np.ptp(places[:, -1], axis=0).max() > 0.02


def test_bones_without_keys_and_soft_springs_do_not_explode(part, scene, make):
    """Jiggle Physics, 33: with Root Elasticity off, or without keys of every frame, the chain explodes."""
    rig = rig_with_tail(make)
    add_chain(rig, *tail(rig))
    rig.pose.bones["Tail.0"].condyle.body.spring.enabled = False
    places, report = swung(part, scene, rig, tail(rig))
    assert np.abs(places - (0.0, 0.0, 1.0)).max() < 0.4 + 1e-5  # as far as the tail is long
    energy = report.energy[:, 2]
    assert energy[-1] <= energy.max() and np.abs(places[-1] - places[-2]).max() < 0.2


def test_children_with_an_offset_to_a_carrier_that_is_animated_swing(part, scene, make):
    """Jiggle Physics, 4: bones kept with an offset are turned only, where their parent is not simulated."""
    bones = {"Hips": ((0, 0.2, 1), (0, 0, 1), None)}
    bones |= {f"Skirt.{k}": ((0.3 * k, -0.1, 0.9), (0.3 * k, -0.1, 0.7), "Hips") for k in range(3)}
    rig = make.armature("Rig", bones)
    add_chain(rig, *(f"Skirt.{k}" for k in range(3)))
    shaken(rig)
    heads = []
    swung(part, scene, rig, ["Skirt.0"])
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        heads.append(rig.pose.bones["Hips"].matrix.inverted() @ rig.pose.bones["Skirt.2"].head)
    assert np.ptp(np.array(heads), axis=0).max() < 1e-5  # it goes with its carrier


def test_drag_holds_back_and_never_pushes_the_other_way(part, scene, make):
    """Jiggle Physics, 22: air drag moves the bone against the motion of its parent."""
    rig = rig_with_tail(make, 1)
    add_chain(rig, *tail(rig))
    body = rig.pose.bones["Tail.0"].condyle.body
    body.drag, body.gravity, body.spring.enabled = 50.0, 0.0, False
    set_keys(rig.pose.bones["Hips"], "location", {1: 0.0, FRAMES: -0.15}, 0)  # to +x of the armature
    places, _ = swung(part, scene, rig, ["Hips", *tail(rig)])
    middle = 0.5 * places.sum(axis=1)[:, 0]
    assert middle[-1] > 0.05 and np.diff(middle).min() > -1e-6


def test_it_starts_in_the_pose_of_its_first_frame(part, scene, make):
    """Rigid Body Bones, 1: simulations begin in the rest pose, whatever pose the character is in."""
    rig = rig_with_tail(make)
    add_chain(rig, *tail(rig))
    hips = rig.pose.bones["Hips"]
    hips.rotation_mode = "XYZ"
    set_keys(hips, "rotation_euler", {1: 0.7}, 0)
    scene.frame_set(1)
    before = np.array(rig.pose.bones["Tail.0"].head)
    places, _ = swung(part, scene, rig, tail(rig))
    scene.frame_set(1)
    assert np.array(rig.pose.bones["Tail.0"].head) == pytest.approx(before, abs=1e-5)
    assert np.abs(places[-1] - places[0]).max() < 1e-2  # settled where springs and gravity hold it


def test_copies_of_a_rig_swing_where_they_stand(part, scene, make):
    """Rigid Body Bones, 11: a duplicate moves one bone only."""
    rig = rig_with_tail(make)
    add_chain(rig, *tail(rig))
    shaken(rig)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.duplicate()
    copy = next(item for item in scene.objects if item.type == "ARMATURE" and item != rig)
    copy.location.x = 3.0
    make.update()
    first, report = swung(part, scene, rig, tail(rig))
    assert len(report.bodies) == 8
    second = []
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        second.append([np.array(copy.pose.bones[name].tail) for name in tail(rig)])
    assert np.abs(np.array(second) - first).max() < 1e-5  # in each armature the same


def test_a_carrier_that_was_scaled_in_pose_mode_keeps_its_chain(part, scene, make):
    """JiggleArmature, 17: where the main bone is scaled down in Pose Mode the tail breaks."""
    rig = rig_with_tail(make)
    add_chain(rig, *tail(rig))
    rig.pose.bones["Hips"].scale = (0.4, 0.4, 0.4)
    shaken(rig)
    make.update()
    places, _ = swung(part, scene, rig, tail(rig))
    lengths = np.linalg.norm(np.diff(places, axis=1), axis=2)
    assert np.abs(lengths - 0.04).max() < 1e-5 and np.ptp(places[:, -1], axis=0).max() > 0.02


def test_a_helix_uncoils_and_a_mirrored_armature_is_refused(part, ph, scene, make):
    """Bone Physics, 9: a coiled rope of 50 bones goes haywire, by a scale of -1 of its armature."""
    turns = np.linspace(0.0, 6.0 * math.pi, 51)
    way = np.column_stack([0.2 * np.cos(turns), 0.2 * np.sin(turns), 2.0 - 0.02 * turns])
    bones = {
        f"Tail.{k:02d}": (tuple(way[k]), tuple(way[k + 1]), f"Tail.{k - 1:02d}" if k else None)
        for k in range(50)
    }
    rig = make.armature("Rig", bones, True)
    add_chain(rig, *tail(rig), preset="ROPE")
    places, _ = swung(part, scene, rig, tail(rig))
    assert np.ptp(places, axis=0).max() < 1e-3  # it begins uncoiled, as gravity holds it
    for item in part("data.references").joints_of(scene):
        item.condyle.joint.start_from = "MOTION"
    places, report = swung(part, scene, rig, tail(rig))
    assert places[0, -1, 2] > 1.5 and places[-1, -1, 2] < 1.0  # it falls and uncoils
    lengths = np.linalg.norm(np.diff(way[1:], axis=0), axis=1)
    assert np.abs(np.linalg.norm(np.diff(places, axis=1), axis=2) - lengths).max() < 1e-5
    assert report.energy[:, 2].max() - report.energy[0, 2] < 1e-3 * report.energy[:, 0].max()
    part("jobs.bake").free_bake(scene)
    rig.matrix_world = Matrix.Scale(-1.0, 4)
    make.update()
    with pytest.raises(ph.ModelError, match="Rig"):
        part("jobs.bake").bake_now(scene)
