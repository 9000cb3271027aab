"""Baked muscles stay on what they are stuck to, whatever carries them, and keep their end shapes outside of a bake."""

from types import SimpleNamespace

import numpy as np
import pytest

from ..bake_digests import file_digest
from ..frames_shown import over_frames
from ..keying import key_slider, make_keys, set_keys
from ..tubes import seen

pytestmark = pytest.mark.small


def write(part, scene, begin, end, speed=0.05):
    """Bake a motion in which all bodies go along x, with muscles straight from origin to insertion."""
    frames = np.arange(float(begin), end + 1.0)
    hold, units, references = part("baked.temporarily"), part("blender.units"), part("data.references")
    bakes, muscle_points = part("baking.muscles"), part("reading.muscle_points")
    share = np.linspace(0.0, 1.0, bakes.COUNT)[:, None]
    away = speed * np.arange(len(frames))
    with hold.without_bake(scene), hold.at_frame(scene, begin):
        read = part("reading.scene").read(scene)
        poses, paths = [], []
        for entry in read.bodies:
            body = references.find_body(entry.handle, entry.name)
            pose = units.to_metres(units.split_scale(body.matrix, body.name)[0], scene)
            poses.append(np.repeat(pose[None], len(frames), 0))
            poses[-1][:, 0, 3] += away
        moved = {entry.name for entry in read.bodies}
        for entry in read.muscles:
            ends = []
            for point in muscle_points.points_of(
                part("data.references").object_by_session_uid(entry.session_uid)
            ):
                ends.append(np.repeat(point.place[None], len(frames), 0))
                ends[-1][:, 0] += away * (point.target.name in moved)
            paths.append((1.0 - share) * ends[0][:, None] + share * ends[-1][:, None])
    points = np.array(paths).swapaxes(0, 1)
    lengths = np.linalg.norm(np.diff(points, axis=2), axis=3).sum(axis=2)
    activation = np.linspace(0.3, 1.0, len(frames))[:, None] * np.ones(len(paths))
    drawn = bakes.Drawn(points, lengths, activation)
    result = SimpleNamespace(poses=np.array(poses).swapaxes(0, 1))
    return part("baking.write").write(scene, frames, read, result, drawn)


def torn(part, scene, muscle, frames):
    """How far the ends of a muscle that is seen are from where it is stuck to, at most."""
    worst = 0.0
    for frame in frames:
        scene.frame_set(frame)
        places = [point.place for point in part("reading.muscle_points").points_of(muscle)]
        world = np.array(muscle.matrix_world)
        middles = seen(muscle)[0] @ world[:3, :3].T + world[:3, 3]
        worst = max(worst, np.abs(middles[[0, -1]] - [places[0], places[-1]]).max())
    return worst


def key_along(item, places):
    """Key an object's place along x at frames."""
    for frame, x in places.items():
        item.location.x = x
        item.keyframe_insert("location", index=0, frame=frame)


@pytest.mark.parametrize("reduce", (False, True))
def test_a_muscle_that_is_carried_is_where_it_was_simulated(part, scene, arm, make, reduce):
    """By one of its bodies, with keys that are thinned out where it bends in that body's space alone."""
    _, lower, joint, muscle = arm
    muscle.parent, muscle.scale = lower, (2.0, 2.0, 2.0)
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, {1: 0.0, 14: 1.2})
    make.update()
    scene.condyle.simulation.output.reduce = reduce
    write(part, scene, 8, 16)
    assert torn(part, scene, muscle, range(8, 17)) < (1.1e-3 if reduce else 2e-5)
    own = over_frames((1, 8, 16, 21), lambda: seen(muscle)[0])
    assert np.array_equal(own[0], own[1]) and np.array_equal(own[2], own[3])
    assert np.abs(own[1] - own[2]).max() > 0.01


def test_a_muscle_that_is_carried_while_its_points_stand_stays_on_them(part, scene, arm, make):
    """Its shapes are kept in its own space, where the points move then."""
    *_, muscle = arm
    carrier = make.empty("Carrier")
    make.update()
    muscle.parent, muscle.location = carrier, (0.5, 0.0, 0.0)
    set_keys(carrier, "rotation_euler", {1: 0.0, 12: 0.0, 20: 3.0}, axis=2)
    make.update()
    scene.frame_set(5)
    write(part, scene, 5, 10)
    assert torn(part, scene, muscle, range(5, 11)) < 2e-5


def test_a_muscle_under_a_rig_that_stays_is_not_looked_at(part, scene, make, body, monkeypatch):
    """The rig's bones move, but not what hangs on it as a whole."""
    stepper = part("reading.stepper")
    rig = make.armature("Rig")
    part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    muscle = part("making.muscles").add_muscle(
        scene, [(body(rig, "A"), (0.1, 0, 0.8)), (body(rig, "B"), (0.1, 0, 0.2))], "Biceps"
    )
    muscle.parent = rig
    make.update()
    looked, sample = [], stepper.sample_matrices

    def counted(scene, objects, frames, bones=None, baked=False):
        looked.extend(item.name for item in objects)
        return sample(scene, objects, frames, bones, baked)

    monkeypatch.setattr(stepper, "sample_matrices", counted)
    write(part, scene, 1, 9)
    assert "Biceps" not in looked
    muscle.parent_type, muscle.parent_bone = "BONE", "B"
    write(part, scene, 1, 9)
    assert "Biceps" in looked
    assert torn(part, scene, muscle, range(1, 10)) < 2e-5


def test_a_muscle_whose_carrier_pops_in_before_a_bake_keeps_its_shape_there(part, scene, arm, make):
    """Where the carrier's scale is zero nothing is to be seen, and nothing can be kept in its space."""
    _, lower, _, muscle = arm
    root = pops_in(part, make, muscle, 8)
    key_along(lower, {1: 0.0, 30: 0.1})
    scene.frame_set(12)
    write(part, scene, 12, 20)
    assert part("baking.muscles").is_baked(muscle)
    assert torn(part, scene, muscle, range(12, 21)) < 2e-5
    scene.frame_set(3)
    assert root.scale.x == 0.0 and np.isfinite(seen(muscle)[0]).all()


def test_a_muscle_that_is_flat_within_a_bake_is_refused_before_anything_changes(part, scene, arm, make):
    _, lower, _, muscle = arm
    pops_in(part, make, muscle, 14)
    key_along(lower, {1: 0.0, 30: 0.1})
    scene.frame_set(12)
    state = file_digest()
    with pytest.raises(
        part("blender.physics_access").physics().ModelError, match=r"'Biceps': its scale.*zero.*frame 12"
    ):
        write(part, scene, 12, 20)
    assert file_digest() == state


def pops_in(part, make, muscle, frame):
    """Something that carries a muscle, of scale zero up to this frame."""
    root = make.empty("Root")
    make.update()
    muscle.parent = root
    for at, size in ((1, 0.0), (frame, 1.0)):
        root.scale = (size, size, size)
        root.keyframe_insert("scale", frame=at)
    make_keys(root, "CONSTANT")
    return root
