"""Baked muscles before a bake's first frame and behind its last: they stay on what they are stuck to."""

from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")
from mathutils import Matrix  # noqa: E402

from ..animation.test_start_states import key_slider  # noqa: E402
from ..bake_digests import file_digest  # noqa: E402
from ..tubes import seen  # noqa: E402

TARGETS = ("NEW", "CURRENT", "OVERWRITE", "STRIP")


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
            for point in muscle_points.points_of(muscle_points.find_muscle(entry.session_uid, entry.name)):
                ends.append(np.repeat(point.place[None], len(frames), 0))
                ends[-1][:, 0] += away * (point.target.name in moved)
            paths.append((1.0 - share) * ends[0][:, None] + share * ends[-1][:, None])
    points = np.array(paths).swapaxes(0, 1)
    lengths = np.linalg.norm(np.diff(points, axis=2), axis=3).sum(axis=2)
    activation = np.linspace(0.3, 1.0, len(frames))[:, None] * np.ones(len(paths))
    drawn = bakes.shown(scene, read, points, lengths, activation)
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


def frames_looked_at(part, scene, monkeypatch):
    """The frames at which paths of muscles are asked for from now on."""
    looked, ways = [], part("baking.muscle_paths").Ways
    path = ways.path

    def counted(self, item):
        looked.append(scene.frame_current)
        return path(self, item)

    monkeypatch.setattr(ways, "path", counted)
    return looked


def key_along(item, places):
    """Key an object's place along x at frames."""
    for frame, x in places.items():
        item.location.x = x
        item.keyframe_insert("location", index=0, frame=frame)


@pytest.mark.small
@pytest.mark.parametrize("target", TARGETS)
def test_a_muscle_follows_what_sliders_showed_before_a_bake(part, scene, arm, target):
    """Its thickness and colour stay those of the bake's first frame, and freeing brings back what was."""
    _, lower, joint, muscle = arm
    muscle.location = (0.1, 0.0, 0.2)
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, {1: 0.0, 14: 1.2})
    scene.condyle.simulation.output.target = target
    scene.frame_set(12)
    state = file_digest()
    write(part, scene, 12, 21)
    assert torn(part, scene, muscle, range(1, 22)) < 2e-5
    scene.frame_set(4)
    begun = np.array(lower.matrix_world)
    material = muscle.data.materials[0]
    early = material.diffuse_color[0], seen(muscle)[1].max()
    scene.frame_set(12)
    assert np.abs(np.array(lower.matrix_world) - begun).max() > 0.1
    assert material.diffuse_color[0] == early[0] and early[1] < 1.1 * seen(muscle)[1].max()
    part("jobs.bake").free_bake(scene)
    scene.frame_set(12)
    assert file_digest() == state


@pytest.mark.small
@pytest.mark.parametrize("target", TARGETS)
def test_a_muscle_follows_keys_that_a_bake_leaves_on_either_side(part, scene, arm, target):
    """Of the body that it moves, and of one that is held."""
    upper, lower, _, muscle = arm
    scene.frame_preview_start, scene.frame_preview_end, scene.use_preview_range = 3, 25, True
    key_along(lower, {1: -0.2, 4: 0.1, 24: 0.7})
    key_along(upper, {1: 0.3, 10: 0.0, 14: 0.0, 17: -0.2})
    scene.condyle.simulation.output.target = target
    scene.frame_set(10)
    state = file_digest()
    write(part, scene, 10, 14)
    assert torn(part, scene, muscle, range(1, 26)) < 2e-5
    part("jobs.bake").free_bake(scene)
    scene.frame_set(10)
    assert file_digest() == state


@pytest.mark.small
def test_frames_beside_a_bake_are_looked_at_only_where_something_moves(part, scene, arm, monkeypatch):
    upper, lower, joint, muscle = arm
    looked = frames_looked_at(part, scene, monkeypatch)
    muscle.condyle.muscle.keyframe_insert("excitation", frame=2)
    muscle.condyle.muscle.excitation = 0.5
    muscle.condyle.muscle.keyframe_insert("excitation", frame=20)
    key_along(lower, {2: -0.2, 20: 0.7})
    key_along(upper, {9: 0.0, 15: 0.1})
    write(part, scene, 9, 15)
    assert not looked and len(muscle.data.shape_keys.key_blocks) == 7
    part("jobs.bake").free_bake(scene)
    # a slider that nothing moves: two frames tell what is seen before the bake
    lower.animation_data_clear()
    part("making.bodies_and_joints").drive(scene, joint, True)
    joint["coordinate"] = 0.8
    joint.update_tag()
    bpy.context.view_layer.update()
    write(part, scene, 9, 15)
    assert looked == [1, 8]
    assert torn(part, scene, muscle, range(1, 10)) < 2e-5


@pytest.mark.small
def test_a_muscle_runs_over_its_obstacles_before_a_bake(part, scene, body, arm):
    upper, _, joint, muscle = arm
    ball = part("making.obstacles").add_obstacle(
        scene, body(upper), "sphere", Matrix.Translation((0.03, 0, 0.4)), radius=0.05
    )
    part("making.muscles").wrap_over(muscle, ball)
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, {1: 0.0, 14: 0.4})
    write(part, scene, 10, 21)
    for frame in (1, 5, 9):
        scene.frame_set(frame)
        away = np.linalg.norm(seen(muscle)[0] - np.array(ball.matrix_world.translation), axis=1)
        assert away.min() > 0.0485  # chords of a path on the ball
    assert torn(part, scene, muscle, range(1, 22)) < 2e-5


@pytest.mark.small
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
    assert torn(part, scene, muscle, range(1, 22)) < (1.1e-3 if reduce else 2e-5)


@pytest.mark.small
def test_a_muscle_that_is_carried_while_its_points_stand_stays_on_them(part, scene, arm, make):
    """Its shapes are kept in its own space, where the points move then."""
    *_, muscle = arm
    carrier = make.empty("Carrier")
    make.update()
    muscle.parent, muscle.location = carrier, (0.5, 0.0, 0.0)
    for frame, angle in ((1, 0.0), (12, 0.0), (20, 3.0)):
        carrier.rotation_euler.z = angle
        carrier.keyframe_insert("rotation_euler", frame=frame)
    make.update()
    scene.frame_set(5)
    write(part, scene, 5, 10)
    assert torn(part, scene, muscle, range(1, 22)) < 2e-5


@pytest.mark.small
def test_a_muscle_on_a_body_that_a_bake_lets_rest_is_written_behind_its_end(part, scene, arm, make):
    """Where a slider had brought the body elsewhere."""
    _, lower, joint, muscle = arm
    muscle.parent = lower
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, {17: 0.0, 21: 1.0})
    scene.frame_set(21)
    write(part, scene, 8, 16, speed=0.0)
    assert torn(part, scene, muscle, range(1, 22)) < 2e-5


@pytest.mark.small
def test_a_muscle_under_a_rig_that_stays_is_not_looked_at(part, scene, make, body, monkeypatch):
    """The rig's bones move, but not what hangs on it as a whole."""
    transforms = part("baking.local_matrices")
    rig = make.armature("Rig")
    part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    muscle = part("making.muscles").add_muscle(
        scene, [(body(rig, "A"), (0.1, 0, 0.8)), (body(rig, "B"), (0.1, 0, 0.2))], "Biceps"
    )
    muscle.parent = rig
    make.update()
    looked, sample = [], transforms.sample_matrices

    def counted(scene, objects, frames, bones=None):
        looked.extend(item.name for item in objects)
        return sample(scene, objects, frames, bones)

    monkeypatch.setattr(transforms, "sample_matrices", counted)
    write(part, scene, 1, 9)
    assert "Biceps" not in looked
    muscle.parent_type, muscle.parent_bone = "BONE", "B"
    write(part, scene, 1, 9)
    assert "Biceps" in looked
    assert torn(part, scene, muscle, range(1, 22)) < 2e-5


@pytest.mark.small
def test_a_muscle_whose_carrier_pops_in_before_a_bake_keeps_its_shape_there(part, scene, arm, make):
    """Where the carrier's scale is zero nothing is to be seen, and nothing can be kept in its space."""
    _, lower, _, muscle = arm
    root = pops_in(part, make, muscle, 8)
    key_along(lower, {1: 0.0, 30: 0.1})
    scene.frame_set(12)
    write(part, scene, 12, 20)
    assert part("baking.muscles").is_baked(muscle)
    assert torn(part, scene, muscle, range(8, 22)) < 2e-5
    scene.frame_set(3)
    assert root.scale.x == 0.0 and np.isfinite(seen(muscle)[0]).all()


@pytest.mark.small
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


@pytest.mark.small
@pytest.mark.parametrize("error", (ZeroDivisionError("x"), ValueError("x"), np.linalg.LinAlgError("x")))
def test_no_frame_beside_a_bake_can_stop_a_bake_half_way(part, scene, arm, monkeypatch, error):
    """Where neither a path nor points are found, a muscle keeps the shape that it has nearest."""
    upper, _, _, muscle = arm
    key_along(upper, {1: 0.3, 21: -0.3})

    def stop(*_):
        raise error

    monkeypatch.setattr(part("baking.muscle_paths").Ways, "path", stop)
    with monkeypatch.context() as inner:
        inner.setattr(part("baking.muscle_paths").Ways, "straight", stop)
        write(part, scene, 9, 15)
    assert muscle.data.shape_keys.key_blocks[0].name == "Frame 9"
    write(part, scene, 9, 15)
    assert torn(part, scene, muscle, (1, 4, 8, 16, 21)) < 2e-5


def pops_in(part, make, muscle, frame):
    """Something that carries a muscle, of scale zero up to this frame."""
    root = make.empty("Root")
    make.update()
    muscle.parent = root
    for at, size in ((1, 0.0), (frame, 1.0)):
        root.scale = (size, size, size)
        root.keyframe_insert("scale", frame=at)
    for curve in part("blender.compat").curves_in_use(root):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    return root


@pytest.mark.small
@pytest.mark.parametrize("target", TARGETS)
def test_frames_are_not_looked_at_for_the_strip_that_a_bake_makes_of_keys_within_it(
    part, scene, arm, monkeypatch, target
):
    """But for those that tell all where a strip begins with the bake."""
    _, lower, _, muscle = arm
    scene.condyle.simulation.output.target = target
    key_along(lower, {10: 0.0, 14: 0.1})
    scene.frame_set(9)
    looked = frames_looked_at(part, scene, monkeypatch)
    write(part, scene, 9, 15)
    assert set(looked) <= {1, 8}
    assert torn(part, scene, muscle, range(1, 22)) < 2e-5


@pytest.mark.small
@pytest.mark.parametrize("shape", ("sphere", "double_cylinder", "ellipsoid"))
def test_ways_from_frame_to_frame_are_those_found_anew(part, scene, arm, shape):
    upper, lower, _, muscle = arm
    wrap(part, scene, upper, muscle, shape)
    key_along(upper, {1: -0.1, 41: 0.1})
    key_along(lower, {1: 0.0, 15: 0.1, 20: -0.1, 41: 0.0})
    kind = part("baking.muscle_paths").Ways
    kept, bent = kind(scene), 0
    for frame in range(1, 42):
        scene.frame_set(frame)
        kept.go_on()
        found, anew = kept.path(muscle), kind(scene).path(muscle)
        assert found.shape == anew.shape and np.abs(found - anew).max() < 1e-9  # rounding
        bent += len(anew) > 2
    assert bent > 10


@pytest.mark.small
def test_a_way_is_found_once_where_its_ends_stand_as_before(part, scene, arm, monkeypatch):
    upper, _, _, muscle = arm
    wrap(part, scene, upper, muscle, "sphere")
    found, strand = [], part("reading.muscle_lengths").Strand
    move = strand.move
    monkeypatch.setattr(strand, "move", lambda self, *given: (found.append(1), move(self, *given))[1])
    key_along(upper, {1: 0.1, 4: 0.0, 18: 0.0, 21: 0.2})
    write(part, scene, 9, 15)
    assert 2 <= len(found) <= 9
    assert torn(part, scene, muscle, (*range(1, 10), *range(16, 22))) < 2e-5


def wrap(part, scene, upper, muscle, shape):
    """Something for a muscle to run over."""
    across = Matrix.Rotation(np.pi / 2, 4, "X") if shape == "double_cylinder" else Matrix()  # no end inside
    place = Matrix.Translation((0.03, 0, 0.4)) @ across
    upper_body = part("data.references").Body(upper)
    item = part("making.obstacles").add_obstacle(scene, upper_body, shape, place, radius=0.05)
    item.condyle.obstacle.radii = (0.05, 0.06, 0.07)
    item.condyle.obstacle.second_radius, item.condyle.obstacle.second_place = 0.04, (0.0, 0.0, -0.1)
    part("making.muscles").wrap_over(muscle, item)
