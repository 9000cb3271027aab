"""What is not simulated stands in a simulation where Blender evaluates it, frame by frame: rigs of all kinds."""

import bpy
import numpy as np
import pytest

from tests.addon.said import codes
from tests.addon.walking import WAYS, add_tail, apart, walked, walker

pytestmark = pytest.mark.slow

#: of the figure of 1.2 m that walks by 0.6 m, and single precision of Blender's matrices
SIZE, SINGLE = 2.0, 1e-6
TORN = 1e-4  # m between frames: a tenth of a millimetre
CONSTRAINTS = (
    "COPY_LOCATION",
    "COPY_ROTATION",
    "COPY_TRANSFORMS",
    "CHILD_OF",
    "TRANSFORM",
    "DAMPED_TRACK",
    "TRACK_TO",
    "LOCKED_TRACK",
    "PIVOT",
    "ARMATURE",
    "FLOOR",
    "LIMIT_LOCATION",
    "LIMIT_ROTATION",
    "LIMIT_DISTANCE",
    "SHRINKWRAP",
    "FOLLOW_PATH",
    "CLAMP_TO",
    "ACTION",
    "MAINTAIN_VOLUME",
    "LIMIT_SCALE",
    "COPY_SCALE",
    "STRETCH_TO",
)


def guide_of(make):
    """An Empty that moves and turns."""
    guide = make.empty("Guide")
    for frame in range(1, 14, 3):
        guide.location = (0.3 * np.sin(frame), 0.05 * frame, 1.0 + 0.05 * np.cos(2 * frame))
        guide.rotation_euler = (0.2 * np.sin(frame), 0.1 * np.cos(frame), 0.3 * np.sin(2 * frame))
        for path in ("location", "rotation_euler"):
            guide.keyframe_insert(path, frame=frame)
    return guide


def path_of(scene):
    """A curve of 3 m along y."""
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions = "3D"
    points = curve.splines.new("BEZIER").bezier_points
    points.add(1)
    for point, y in zip(points, (0.0, 3.0)):
        point.co, point.handle_left_type, point.handle_right_type = (0.0, y, 1.0), "AUTO", "AUTO"
    item = bpy.data.objects.new("Path", curve)
    scene.collection.objects.link(item)
    return item


def constrain(scene, make, rig, kind):
    constraint = rig.pose.bones["Hips"].constraints.new(kind)
    if kind == "ARMATURE":
        other = make.armature("Other", {"Bone": ((0, 0, 0), (0, 0, 1), None)})
        other.parent = guide_of(make)
        target = constraint.targets.new()
        target.target, target.subtarget = other, "Bone"
    elif kind == "SHRINKWRAP":
        constraint.target, constraint.influence = make.box("Box", (0, 0, 0.5)), 0.5
    elif kind in ("FOLLOW_PATH", "CLAMP_TO"):
        constraint.target, constraint.influence = path_of(scene), 0.5
        if kind == "FOLLOW_PATH":
            constraint.use_fixed_location = True
            for frame, share in ((1, 0.0), (13, 0.5)):
                constraint.offset_factor = share
                constraint.keyframe_insert("offset_factor", frame=frame)
    elif hasattr(constraint, "target"):
        constraint.target = guide_of(make)
    if kind == "STRETCH_TO":
        constraint.target.delta_location.z = 2.0  # near the head of what stretches it would turn wildly
    elif kind == "LIMIT_LOCATION":
        constraint.use_max_y, constraint.max_y = True, 0.3
    elif kind == "LIMIT_ROTATION":
        constraint.use_limit_z, constraint.max_z = True, 0.05
    elif kind == "TRANSFORM":
        constraint.from_max_y, constraint.to_max_x = 1.0, 0.5


def check(part, scene, make, rig):
    """The hips of the simulation are Blender's at all frames, and the tail stays on them between."""
    make.update()
    scene.frame_set(1)
    add_tail(part, scene, rig)
    report = part("jobs.bake").bake_now(scene)
    assert codes(report.warnings) == []
    result, hips = report.result, rig.pose.bones["Hips"]
    leader = next(
        (name for name in result.model.body_names if name.startswith("Rig") and "Hips" in name), None
    )
    for row, frame in enumerate(report.frames):
        scene.frame_set(int(frame))
        world = np.array(rig.matrix_world @ hips.matrix)
        left, _, right = np.linalg.svd(world[:3, :3])
        world[:3, :3] = left @ right
        if leader is not None:
            np.testing.assert_allclose(
                result.poses[row][result.model.index(leader)], world, atol=SIZE * SINGLE
            )
    assert apart(scene, rig, step=0.25) < TORN and walked(scene, rig, "Tail.1") > 0.2
    return leader


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_constraints(part, scene, make, kind):
    rig = walker(make, scene)
    constrain(scene, make, rig, kind)
    assert check(part, scene, make, rig)


@pytest.mark.parametrize("scale", [(2.0, 1.0, 0.2), (-1.0, 1.0, 1.0), (0.5, 0.5, 0.5)], ids=str)
@pytest.mark.parametrize("way", WAYS)
def test_ways_to_walk_below_scaled_parents(part, scene, make, way, scale):
    rig = walker(make, scene, way)
    below = rig.parent or rig
    stage = make.empty("Stage")
    stage.scale = scale
    make.update()
    below.parent = stage
    below.matrix_parent_inverse = stage.matrix_world.inverted()  # as Keep Transform does
    check(part, scene, make, rig)


def test_below_a_bone_that_stretches_all_keep_their_shape(part, scene, make):
    """And stand where the simulation has them; with Blender's default, to inherit its stretch, the root does."""
    rig = walker(make, scene)
    constrain(scene, make, rig, "STRETCH_TO")
    for inherit in ("AVERAGE", "FULL"):
        if inherit == "AVERAGE":
            check(part, scene, make, rig)
        assert rig.data.bones["Tail.1"].inherit_scale == "AVERAGE"
        rig.data.bones["Tail.1"].inherit_scale = inherit
        report, off = part("jobs.bake").bake_now(scene), {}
        for row, frame in enumerate(report.frames):
            scene.frame_set(int(frame))
            for name in ("Tail.1", "Tail.2", "Tail.3"):
                place = report.poses[f"Rig/{name}"][row][:3, 3]
                far = np.linalg.norm(np.array(rig.matrix_world @ rig.pose.bones[name].head) - place)
                off[name] = max(off.get(name, 0.0), float(far))
        assert off["Tail.1"] < SIZE * SINGLE
        assert (max(off.values()) < 20.0 * SIZE * SINGLE) == (inherit == "AVERAGE")
