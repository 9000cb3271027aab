"""A .blend with a bake plays the same in a Blender that does not have the add-on, with scripts switched off."""

import bpy
import numpy as np
import pytest

from ..keying import key_slider
from ..other_process import answer, run

#: what a Blender without the add-on runs, and this one, too: all that is to be seen of a file, frame by frame
LOOK = """
def look(bpy, numpy, frames):
    scene, found = bpy.context.scene, []
    for frame in frames:
        scene.frame_set(int(frame), subframe=frame - int(frame))
        seen = {}
        graph = bpy.context.evaluated_depsgraph_get()
        for item in scene.objects:
            evaluated = item.evaluated_get(graph)
            seen[item.name] = [x for row in evaluated.matrix_world for x in row]
            for bone in evaluated.pose.bones if evaluated.pose else ():
                world = evaluated.matrix_world @ bone.matrix
                seen[item.name + "/" + bone.name] = [x for row in world for x in row]
            if item.type == "CURVE":
                mesh = evaluated.to_mesh()
                places = numpy.empty(3 * len(mesh.vertices), dtype=numpy.float32)
                mesh.vertices.foreach_get("co", places)
                evaluated.to_mesh_clear()
                seen[item.name + " tube"] = places.tolist()
                for material in item.data.materials:
                    seen[item.name + " colour"] = list(material.evaluated_get(graph).diffuse_color)
        found.append(seen)
    return found
"""
SCRIPT = """
import bpy, json, numpy, os, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.open_mainfile(filepath={path!r}, use_scripts=False)
if hasattr(bpy.types.Object, "condyle"):
    raise SystemExit("the add-on is enabled")
print("FOUND" + json.dumps(look(bpy, numpy, {frames})))
sys.stdout.flush()
os._exit(0)
"""


def seen_here(frames):
    space = {}
    exec(LOOK, space)
    return space["look"](bpy, np, frames)


def seen_without(path, frames, folder):
    """What is seen of a file by a Blender of its own, with a profile of its own."""
    program = LOOK + SCRIPT.format(path=str(path), frames=list(frames))
    return answer(run(program, folder, BLENDER_USER_RESOURCES=str(folder / "user")))


@pytest.fixture
def body_with_everything(part, scene, make, body, authoring):
    """A knee of objects, an elbow of bones in a rig, and a muscle over the knee; six frames."""
    thigh, shank, knee = make.driven_knee(part, scene)
    scene.frame_end = 6
    rig = make.armature("Rig", {"A": ((1, 0, 1), (1, 0, 0.5), None), "B": ((1, 0, 0.5), (1.2, 0, 0), "A")})
    elbow = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    elbow.condyle.joint.axis = (1, 0, 0)
    for joint in (knee, elbow):
        row = joint.condyle.joint.coordinates[0]
        row.start, row.start_speed = 0.3, 3.0
    authoring.drive(scene, elbow, True)
    muscle = part("making.muscles").add_muscle(
        scene, [(body(thigh), (0.06, 0, 0.6)), (body(shank), (0.06, 0, -0.1))], "Biceps"
    )
    muscle.condyle.muscle.law.max_force = 40.0
    for frame, value in ((1, 0.0), (4, 1.0)):
        muscle.condyle.muscle.excitation = value
        muscle.keyframe_insert(part("reading.input_values").EXCITATION, frame=frame)
    return knee, elbow, shank, rig, muscle


def compare(folder, frames):
    path = folder / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    here, there = seen_here(frames), seen_without(path, frames, folder)
    for one, other in zip(here, there):
        assert one.keys() == other.keys()
        for name in one:
            assert np.array_equal(np.float32(one[name]), np.float32(other[name])), name
    return there


@pytest.mark.small
@pytest.mark.parametrize("target", ["NEW", "STRIP"])
def test_baked_objects_bones_and_muscles_play(part, scene, body_with_everything, tmp_path, target):
    scene.condyle.simulation.output.target = target
    report = part("jobs.bake").bake_now(scene)
    frames = np.arange(1.0, 6.01, 0.25).tolist()
    seen = compare(tmp_path, frames)
    for body in ("Shank", "Rig/B"):
        for number, pose in enumerate(report.poses[body]):
            # float32
            assert np.abs(np.reshape(seen[4 * number][body], (4, 4)) - pose).max() < 4e-6
        assert np.abs(report.poses[body][-1] - report.poses[body][0]).max() > 0.02
    tubes = np.array([each["Biceps tube"] for each in seen])
    colours = np.array([each["Biceps colour"] for each in seen])
    assert np.ptp(tubes, axis=0).max() > 0.01 and np.ptp(colours, axis=0).max() > 0.01


@pytest.mark.small
def test_keyed_sliders_play(scene, body_with_everything, tmp_path):
    knee, elbow, *_ = body_with_everything
    for joint in (knee, elbow):
        key_slider(joint, {1: 0.1, 6: 1.1})
    seen = compare(tmp_path, [1.0, 2.5, 4.0, 6.0])
    for name in ("Shank", "Rig/B", "Biceps tube"):
        values = np.array([each[name] for each in seen])
        assert np.ptp(values, axis=0).max() > 0.05, name
