"""Bakes of muscles: what moves and is seen, what is freed, and what drives them in time."""

import subprocess
import sys

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ..keying import set_keys
from ..tubes import seen

TURN = Matrix.Rotation(np.pi / 2, 4, "X")


@pytest.mark.small
def test_a_bake_moves_bulges_colours_and_is_freed(part, scene, arm, tmp_path):
    _, lower, _, muscle = arm
    settings = muscle.condyle.muscle
    set_keys(settings, "excitation", {1: 0.0, 11: 1.0})
    own, action = muscle.data, muscle.animation_data.action
    report = part("jobs.bake").bake_now(scene)
    assert report.coordinates["Elbow.angle"][-1] < -0.1
    assert muscle.data != own and muscle.animation_data.action == action
    lengths, volumes = [], []
    for frame in (1, 11, 21):
        scene.frame_set(frame)
        middles, radii = seen(muscle)
        expected = [(0.06, 0, 0.65), lower.matrix_world @ Matrix.Translation((0.06, 0, 0.05)).translation]
        assert np.allclose(middles[[0, -1]], expected, atol=2e-5)
        steps = np.linalg.norm(np.diff(middles, axis=0), axis=1)
        square = radii**2
        lengths.append(steps.sum())
        volumes.append(np.pi * (0.5 * steps * (square[1:] + square[:-1])).sum())
        if frame == 1:
            assert np.isclose(radii.max(), settings.radius, rtol=0.01)
    assert lengths[2] < 0.97 * lengths[0]
    assert np.allclose(volumes[:2], volumes[0], rtol=2e-3)  # of a tube of 48 points
    # it is so short that it would have to swell beyond all measure
    assert 0.98 < volumes[2] / volumes[0] < 1.0
    material = muscle.data.materials[0]
    node = material.node_tree.nodes["Activation"]
    assert node.outputs[0].default_value == 1.0 and material.diffuse_color[0] > 0.99
    scene.frame_set(1)
    assert node.outputs[0].default_value == 0.0
    path = str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    assert part("jobs.bake").free_bake(scene) == 2
    assert muscle.data == own and all(each.show_viewport for each in muscle.modifiers)
    assert [each.name for each in bpy.data.curves] == [own.name]
    assert not [each for each in bpy.data.actions if "Condyle" in each.name]
    code = (
        "import bpy, sys\n"
        "bpy.ops.wm.open_mainfile(filepath=sys.argv[1])\n"
        "item = bpy.data.objects['Biceps']\n"
        "for frame in (1, 21):\n"
        "    bpy.context.scene.frame_set(frame)\n"
        "    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()\n"
        "    print('AT', *mesh.vertices[len(mesh.vertices) // 2].co)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    found = [line.split()[1:] for line in run.stdout.splitlines() if line.startswith("AT")]
    first, last = np.array(found, dtype=float)
    assert np.abs(first - last).max() > 0.005, run.stderr


def test_keys_that_are_set_on_a_baked_muscle_count_in_the_next_bake(part, scene, arm):
    muscle = arm[3]
    part("jobs.bake").bake_now(scene)
    muscle.condyle.muscle.excitation = 1.0
    muscle.condyle.muscle.keyframe_insert("excitation", frame=1)
    report = part("jobs.bake").bake_now(scene)
    assert report.coordinates["Elbow.angle"][-1] < -0.1
    assert len([each for each in bpy.data.curves if "Condyle" in each.name]) == 1
    part("jobs.bake").free_bake(scene)
    assert muscle.data.name == "Biceps"


def test_a_hill_muscle_is_activated_in_time(part, scene, arm):
    muscle = arm[3]
    settings = muscle.condyle.muscle
    settings.law.kind, settings.law.details = "thelen", '{"passive_strain": 0.5}'
    settings.law.fibre_length, settings.law.tendon_length = 0.25, 0.3
    settings.law.rise_time = 0.1
    set_keys(settings, "excitation", {1: 0.2, 2: 1.0})
    scene.frame_set(1)
    read = part("reading.scene").read(scene)
    law = read.model.muscles[0].law
    assert law.type == "thelen" and law.passive_strain == 0.5 and np.isclose(law.optimal_fibre_length, 0.25)
    assert np.isclose(read.state.muscle_states[0], 0.2)
    report = part("jobs.bake").bake_now(scene)
    activation = report.result.muscle_states[:, 0]
    node = muscle.data.materials[0].node_tree.nodes["Activation"]
    for frame in (1, 4, 21):
        scene.frame_set(frame)
        assert np.isclose(node.outputs[0].default_value, activation[frame - 1], atol=1e-6)
    assert activation[3] < 0.9 < activation[-1]


def test_shape_keys_of_the_users_are_not_baked_over(part, scene, arm, ph):
    muscle = arm[3]
    muscle.shape_key_add(name="Mine")
    read, bakes = part("reading.scene").read(scene), part("baking.muscles")
    with pytest.raises(ph.ModelError, match="'Biceps' has shape keys of its own"):
        given = bakes.Drawn(np.zeros((2, 1, 3, 3)), np.full((2, 1), 0.5), np.zeros((2, 1)))
        bakes.shown(part("reading.snapshot").take(scene), read, given)


@pytest.mark.small
def test_what_a_bake_writes_plays_and_goes(part, scene, arm):
    """Written without a simulation: a path that bends more and more."""
    muscle = arm[3]
    muscle.location = (0.1, 0.0, 0.2)
    bpy.context.view_layer.update()
    bakes = part("baking.muscles")
    read = part("reading.scene").read(scene)
    frames = np.arange(1.0, 11.0)
    share = np.linspace(0.0, 1.0, bakes.COUNT)
    points = np.zeros((10, 1, bakes.COUNT, 3))
    points[:, 0, :, 2] = 0.65 - 0.55 * share
    points[:, 0, :, 0] = 0.02 * (frames - 1)[:, None] * np.sin(np.pi * share)
    lengths = np.linalg.norm(np.diff(points, axis=2), axis=3).sum(axis=2)
    activation = np.linspace(0.0, 1.0, 10)[:, None]
    hook = next(each for each in muscle.modifiers if each.type == "HOOK")
    hook.show_render = False
    view = part("reading.snapshot").take(scene)
    shown = bakes.shown(view, read, bakes.Drawn(points, lengths, activation))
    spaces = bakes.spaces(view, frames, shown, [])
    bakes.write(frames, shown, spaces, part("baking.keys").Output(), 1.0)
    assert not hook.show_viewport
    for frame in (1, 4, 10):
        scene.frame_set(frame)
        middles, radii = seen(muscle)
        assert np.allclose(middles + np.array(muscle.location), points[frame - 1, 0], atol=2e-5)
        assert np.isclose(
            muscle.data.materials[0].diffuse_color[1], 0.06 + 0.10 * activation[frame - 1, 0], atol=1e-6
        )
    assert radii.max() < 0.99 * muscle.condyle.muscle.radius
    # sticking points would turn on hooks under the shapes of the bake
    bpy.context.view_layer.objects.active = muscle
    assert not bpy.ops.condyle.stick_points.poll() and not bpy.ops.condyle.remove_muscle.poll()
    assert bakes.is_baked(muscle) and bakes.free(scene) == 1
    assert bpy.ops.condyle.stick_points.poll()
    assert hook.show_viewport and not hook.show_render
    assert not bakes.is_baked(muscle) and muscle.data.name == "Biceps" and muscle.data.shape_keys is None


def test_a_controller_brings_the_joint_to_its_target(part, scene, arm, ph):
    _, _, joint, muscle = arm
    settings = muscle.condyle.muscle
    settings.excited_by, settings.law.max_force = "CONTROLLER", 300.0
    with pytest.raises(ph.ModelError, match=r"'Biceps'.*its controller's joint is missing; choose one"):
        part("jobs.bake").bake_now(scene)
    control = settings.control
    control.joint, control.gain, control.damping, control.rest = joint, -4.0, -0.6, 0.0
    set_keys(control, "target", {1: -0.3, 11: -0.3, 12: 0.5})
    scene.frame_set(1)
    joint.condyle.joint.coordinates[0].damping = 0.5
    report = part("jobs.bake").bake_now(scene)
    angles = report.coordinates["Elbow.angle"]
    assert angles[10] < -0.1  # it pulls as long as the target lies before it
    node = muscle.data.materials[0].node_tree.nodes["Activation"]
    wanted = np.clip(-4.0 * (-0.3 - angles[:11]) + 0.6 * report.result.qd[:11, 0], 0.0, 1.0)
    assert ((wanted > 0.0) & (wanted < 1.0)).any()
    for frame in range(1, 12):
        scene.frame_set(frame)
        assert np.isclose(node.outputs[0].default_value, wanted[frame - 1], atol=1e-6)
    scene.frame_set(15)
    assert node.outputs[0].default_value == 0.0
