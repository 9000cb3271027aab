"""What a bake writes beside the motion, as its output settings say: figures for the Graph Editor, fewer keys."""

import bpy
import numpy as np
import pytest

from ..bake_digests import file_digest
from ..baked.test_targets import TARGETS


@pytest.mark.small
@pytest.mark.parametrize("target", TARGETS)
def test_figures_are_keyed_and_go_with_the_bake(part, scene, swing, target):
    _, _, joint = swing
    joint["mine"] = 3.0
    joint.condyle.joint.coordinates[0].damping = 0.5
    joint.keyframe_insert('["mine"]', frame=2)
    before = file_digest()
    output = scene.condyle.simulation.output
    output.target, output.extras = target, {"COORDINATES", "TORQUES", "ENERGY"}
    report = part("jobs.bake").bake_now(scene)
    speeds = report.result.qd[:, 0]
    for row, frame in enumerate(report.frames):
        scene.frame_set(int(frame))
        assert np.isclose(joint["Baked Angle [rad]"], report.coordinates["Hip.angle"][row], atol=1e-6)
        assert np.isclose(joint["Baked torque of Angle [N·m]"], -0.5 * speeds[row], atol=1e-6)
        assert np.isclose(scene["Baked total energy [J]"], report.energy[row, 2], rtol=1e-6)
    assert part("jobs.bake").free_bake(scene) >= 1
    scene.frame_set(5)
    assert file_digest() == before and joint["mine"] == 3.0


@pytest.mark.small
@pytest.mark.parametrize("target", TARGETS)
def test_figures_of_muscles_are_on_their_curves(part, scene, make, body, target):
    """Written without a simulation."""
    ends = [(body(make.box("Upper", (0, 0, 1))), (0, 0.1, 1)), (body(make.box("Lower")), (0, 0.1, 0))]
    make.update()
    muscle = part("making.muscles").add_muscle(scene, ends, "Biceps")
    muscle.condyle.muscle.excitation = 0.5
    muscle.keyframe_insert("condyle.muscle.excitation", frame=2)
    before = file_digest()
    bakes, figures, keys = part("baking.muscles"), part("baking.figures"), part("baking.keys")
    frames, lengths = np.arange(1.0, 6.0), np.linspace(1.0, 0.8, 5)
    points = np.zeros((5, 9, 3))
    points[:, :, 2] = np.linspace(0, 1, 9)
    shown = bakes.Shown(
        muscle.session_uid, "Biceps", points, np.ones((5, 9)), 0.01, np.linspace(0, 1, 5), lengths
    )
    scene.condyle.simulation.output.target = target
    output = keys.Output(target=target, extras=frozenset({"MUSCLES"}))
    write, found = part("baking.write"), figures.figures(scene, None, None, [shown], output, None)
    entries, names = write.keyed_figures(scene, frames, found, output)
    write.put(scene, frames, [], None, entries)
    write.add_properties(names)
    spaces = bakes.spaces(part("reading.snapshot").take(scene), frames, [shown], [])
    bakes.write(frames, [shown], spaces, output, 1.0)
    scene.frame_set(3)
    assert np.isclose(muscle["Baked length [m]"], 0.9) and np.isclose(muscle["Baked activation"], 0.5)
    assert np.isclose(muscle.condyle.muscle.excitation, 0.5)
    part("baking.restoring").free(scene)
    scene.frame_set(1)
    assert file_digest() == before


@pytest.mark.small
def test_a_key_every_few_frames_and_the_last(part, scene, swing):
    _, bob, joint = swing
    scene.frame_end, scene.condyle.simulation.output.every = 12, 3
    joint.condyle.joint.coordinates[0].start_speed = 1.0
    assert bpy.ops.condyle.bake() == {"FINISHED"}
    curve = next(each for each in part("blender.compat").curves_in_use(bob) if each.data_path == "location")
    assert [key.co[0] for key in curve.keyframe_points] == [5.0, 8.0, 11.0, 12.0]
    session = part("blender.session")  # it was asked for: no warning
    assert "keys kept, off by at most" in session.message and not session.findings
    assert "keys kept" in part("jobs.bake").bake_now(scene).note


@pytest.mark.small
@pytest.mark.parametrize("mode", ("QUATERNION", "XYZ", "AXIS_ANGLE"))
def test_fewer_keys_stay_within_the_tolerances(part, scene, make, mode):
    actions, transforms, references = (
        part("baking.channels"),
        part("baking.local_matrices"),
        part("data.references"),
    )
    item, parent = make.box("Shank"), make.empty("Parent")
    parent.scale, item.parent, item.rotation_mode = (2.0, 2.0, 2.0), parent, mode
    scene.unit_settings.scale_length = 0.1
    make.update()
    frames = np.arange(1.0, 121.0)
    poses = make.smooth_poses(120, seed=3, turn=1.0)
    poses[:, :3, :3] *= 2.0
    body = references.Body(item)
    local = transforms.LocalPoses(scene, frames, {references.key_of(body): poses})
    output = scene.condyle.simulation.output
    output.reduce, output.tolerance_distance, output.tolerance_angle = True, 0.2, 0.002
    kept = part("baking.keys").Kept()
    channels = actions.of_bodies([body], np.broadcast_to(local.basis(body), (1, 120, 4, 4)), scene)
    part("baking.write").put(scene, frames, channels, kept)
    assert kept.keys < 0.5 * kept.samples and kept.distance <= 2e-4 and kept.angle <= 0.002
    far = turn = 0.0
    for frame, pose in zip(frames, poses):
        scene.frame_set(int(frame))
        matrix = np.array(item.matrix_world)
        far = max(far, 0.1 * np.linalg.norm(matrix[:3, 3] - pose[:3, 3]))
        between = (matrix[:3, :3] / 2.0).T @ (pose[:3, :3] / 2.0)
        turn = max(
            turn,
            np.linalg.norm(
                [between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]]
            )
            / 2,
        )
    # float32 of places of size 1 and of angles; the measured error is of float64
    assert far <= kept.distance + 1e-6 and turn <= kept.angle + 2e-6
    assert far > 0.2 * kept.distance  # what is told is not far from what is seen


def test_reduction_keeps_ends_and_meets_the_tolerance(part):
    reduction = part("curves.reduction")
    frames = np.arange(0.0, 101.0)
    values = np.column_stack([np.sin(0.1 * frames), np.where(frames > 60, 0.2 * (frames - 60), 0.0)])
    ((slopes,),) = reduction.slopes_of(frames, [[values]])
    at = reduction.samples(frames)
    exact = reduction.cubic(frames, values, slopes, at)

    def error(keys):
        near = reduction.cubic(frames[keys], values[keys], slopes.chosen(keys), at)
        return np.linalg.norm(near - exact, axis=1)

    for tolerance in (1e-1, 1e-3, 1e-6):
        keys = reduction.reduced(np.arange(101), error, tolerance)
        assert keys[0] == 0 and keys[-1] == 100 and error(keys).max() <= tolerance
    assert list(reduction.thinned(np.arange(5.0, 16.0), 4)) == [0, 4, 8, 10]
    assert list(reduction.thinned(np.arange(3.0), 1)) == [0, 1, 2]
    assert list(reduction.thinned(np.arange(1.0, 4.1, 0.25), 2)) == [0, 8, 12]
    sparse = reduction.reduced(reduction.thinned(frames, 10), error, 1e-6)
    assert set(sparse) <= set(range(0, 101, 10))
    still = reduction.reduced(np.arange(101), lambda keys: np.zeros(201), 1e-9)
    assert list(still) == [0, 100]
