"""Keys at whole frames beside hits: curves go between them as the simulation did, as near as their handles can."""

import itertools

import bpy
import numpy as np
import pytest

from ..frames_shown import over_frames
from ..keying import make_keys, set_keys

PLACES = np.arange(1, 8) / 8.0


def bent(at):
    """What is hit at 3.3 and again at 3.8, and goes otherwise from there on (n, 2)."""
    hits = 0.9 * np.maximum(at - 3.3, 0.0) - 1.3 * np.maximum(at - 3.8, 0.0)
    return np.column_stack([0.1 * at - hits, np.sin(0.2 * at)])


def seen(part, rows, motion):
    return part("curves.fit_between_keys").Inside(rows, np.array([motion(row + PLACES) for row in rows]))


def test_what_is_nearer_has_a_curve_of_its_own_and_nothing_else(part):
    keys, slopes, reduction = part("curves.fit_between_keys"), part("curves.slopes"), part("curves.reduction")
    frames = np.arange(16.0)
    values = bent(frames)
    smooth = slopes.Slopes.smooth(slopes.of_even(values).rates)
    (found,) = keys.fitted(values[None], [smooth], [seen(part, np.array([1, 3, 10]), bent)])
    assert 3 in found.fits.rows and found.rates is smooth.rates
    at = np.linspace(0.0, 15.0, 15 * 32 + 1)
    off = [
        np.abs(reduction.cubic(frames, values, each, at) - bent(at)).max(axis=1) for each in (found, smooth)
    ]
    inside = (at > 3.0) & (at < 4.0)
    assert off[0][inside].max() < 0.5 * off[1][inside].max()
    untouched = ~np.isin(np.floor(at), found.fits.rows)
    np.testing.assert_array_equal(off[0][untouched], off[1][untouched])
    assert 10 not in found.fits.rows  # what goes smoothly there stays smooth


def test_a_corner_that_is_known_exactly_stays(part):
    """Handles that meet where it is are nearer than any that meet at an eighth of the way."""
    keys, slopes = part("curves.fit_between_keys"), part("curves.slopes")
    values = np.abs(np.arange(24.0) - 10.3)[:, None]
    known = slopes.of_even(values)
    assert not np.isnan(known.meet[10])
    inside = seen(part, np.array([10]), lambda at: np.abs(at - 10.3)[:, None])
    (found,) = keys.fitted(values[None], [known], [inside])
    assert found is known


def test_fewer_keys_keep_the_curves_between_neighbours(part):
    slopes = part("curves.slopes")
    fits = slopes.Fits(np.array([2, 3, 5]), np.array([np.nan, 0.5, 0.25]), np.arange(6.0).reshape(3, 2, 1))
    whole = slopes.Slopes(np.zeros((8, 1)), np.full(7, np.nan), fits)
    few = whole.chosen(np.array([0, 2, 3, 5, 6, 7]))
    assert few.fits.rows.tolist() == [1, 3]
    np.testing.assert_array_equal(few.meets(), [np.nan, np.nan, np.nan, 0.25, np.nan])
    np.testing.assert_array_equal(few.sides()[[1, 3]], fits.sides[[0, 2]])
    later = whole.behind(slopes.Slopes.smooth(np.ones((2, 1))))
    assert later.fits.rows.tolist() == [4, 5, 7]


def test_blender_shows_the_curves_that_are_meant(part):
    keys, slopes, reduction = part("curves.fit_between_keys"), part("curves.slopes"), part("curves.reduction")
    frames = np.arange(8.0)
    values = bent(frames)
    smooth = slopes.Slopes.smooth(slopes.of_even(values).rates)
    (found,) = keys.fitted(values[None], [smooth], [seen(part, np.array([2, 3, 4]), bent)])
    action = bpy.data.actions.new("Hit")
    slot = part("blender.compat").new_slot(action, bpy.data.objects.new("Stone", None))
    curves = part("blender.compat").new_curves(action, slot, "location", [0, 1], "Stone")
    for curve, keyed in zip(curves, part("curves.fcurve_arrays").made(frames, values, found), strict=True):
        part("blender.compat").give(curve, keyed)
    at = np.linspace(0.0, 7.0, 7 * 16 + 1)
    meant = reduction.cubic(frames, values, found, at)
    for curve, column in zip(curves, meant.T):
        curve.update()
        assert np.abs([curve.evaluate(frame) for frame in at] - column).max() < 1e-5  # in single precision
    bpy.data.actions.remove(action)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "YZX", "ZYX"])
def test_stretches_go_on_from_their_keys(part, make, mode):
    """Each by itself, whichever of the numbers for the same rotations it was found in."""
    channels = part("curves.rotation_channels")
    rotations = make.smooth_poses(90, seed=4, turn=2.5)[:, :3, :3]
    whole = channels.rotation_channels(rotations, mode, np.zeros(3 if len(mode) == 3 else 4))
    block = np.array([0, 20, 60, 75])[:, None] + np.arange(9)
    wanted = whole[block]
    other = wanted.copy()
    if mode in ("QUATERNION", "AXIS_ANGLE"):
        other[1:3] *= -1.0
    else:
        other[1:3] = channels._other_branch(wanted[1:3], mode)
    if mode != "QUATERNION":
        other[2:, :, :1] += 2.0 * np.pi
    found, same = channels.led_on(other, wanted[:, 0], wanted[:, -1], mode)
    assert same.all() and np.abs(found - wanted).max() < 1e-12
    _, same = channels.led_on(other, wanted[:, 0], wanted[:, -1] + 2.0 * np.pi, mode)
    assert not same.any()  # from key to key it is half a turn and more


@pytest.fixture
def stone(part, scene, make, body):
    """A cube that falls on its edge, and what bakes and shows it."""
    scene.frame_start, scene.frame_end = 1, 24
    item = make.box("Stone", (0, 0, 0.7), (0.2, 0.2, 0.2))
    item.rotation_euler = (0.6, 0.2, 0.0)
    make.update()
    ground = part("making.connections").add_connection(scene, None, body(item), "ground", np.eye(4), None)
    ground.condyle.connection.ground.contact = "RIGID"
    part("making.bodies_and_joints").make_body(scene, body(item), motion="FREE")
    corners = 0.1 * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))

    def lowest():
        """Of its corners, from frame to frame at sixteenths (n,)."""
        found = []
        for place in np.arange(16 * 23 + 1) / 16.0:
            scene.frame_set(1 + int(place), subframe=place % 1.0)
            matrix = np.array(item.matrix_world)
            found.append((matrix[:3, :3] @ corners.T)[2].min() + matrix[2, 3])
        return np.array(found)

    return item, lowest


def keyed(part, item):
    return {
        (curve.data_path, curve.array_index): part("blender.compat").taken(curve)
        for curve in part("blender.compat").curves_in_use(item)
    }


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_a_stone_that_falls_on_its_edge_dips_less_and_is_the_same_at_frames(
    part, scene, stone, monkeypatch, mode
):
    """By slopes at frames alone it dipped 16 mm: it is off by what the whole of it goes in an eighth of a frame."""
    item, lowest = stone
    item.rotation_mode = mode
    part("jobs.bake").bake_now(scene)
    near, keys = lowest(), keyed(part, item)
    monkeypatch.setattr(
        part("blender.physics_access").part("worker.requests"), "between_answer", lambda answer: None
    )
    part("jobs.bake").bake_now(scene)
    far, without = lowest(), keyed(part, item)
    for name in keys:
        np.testing.assert_array_equal(keys[name]["co"], without[name]["co"])
    assert far.min() < -10e-3
    assert near.min() > -2.5e-3
    assert keys.keys() == without.keys() and part("jobs.bake").free_bake(scene) == 1


@pytest.mark.parametrize("turned", [0.0, 2.0])
def test_what_is_carried_through_the_scene_follows_a_hit_all_the_same(part, scene, make, stone, turned):
    """By slopes at frames alone it dipped 16 mm; so it did under all that moves, since nothing was seen there."""
    item, lowest = stone
    cart = make.empty("Cart")
    item.parent, cart.scale = cart, (1.5, 1.5, 1.5)
    item.matrix_parent_inverse = np.linalg.inv(np.diag((1.5, 1.5, 1.5, 1.0))).tolist()
    for frame, share in ((1, 0.0), (10, 0.4), (24, 1.0)):
        cart.location, cart.rotation_euler = (share, 0.0, 0.3 * share), (0.2 * share, 0.0, turned * share)
        cart.keyframe_insert("location", frame=frame)
        cart.keyframe_insert("rotation_euler", frame=frame)
    part("jobs.bake").bake_now(scene)
    assert lowest().min() > -2.5e-3
    part("jobs.bake").free_bake(scene)


def test_carriers_between_frames_are_on_smooth_ways_and_keep_their_size(part, make):
    """Of fourth order: as far off as the next term of the series is; what stays as it is has one matrix for all."""
    poses = make.smooth_poses(961, seed=3)
    poses[:, :3, :3] *= 1.7
    samples = {"Cart": {"": poses[::8], "basis": np.tile(np.eye(4), (121, 1, 1))}}
    places = 5.0 + np.arange(961) / 8.0
    found = part("baking.parents_between_frames").between(samples, 5.0 + np.arange(121.0), places)["Cart"]
    assert found["basis"].shape == (1, 4, 4)
    np.testing.assert_allclose(found[""][::8], poses[::8], atol=1e-14)
    assert np.abs(found[""] - poses).max() < 1e-5
    linear = found[""][:, :3, :3]
    np.testing.assert_allclose(
        linear.swapaxes(1, 2) @ linear, 1.7**2 * np.eye(3)[None].repeat(961, 0), atol=1e-5
    )


@pytest.mark.parametrize("size", [1.7, -1.7])
def test_carriers_that_spin_fast_turn_between_frames_as_far_as_quaternions_know(part, size):
    """By the numbers of their matrices they fell together from a quarter turn a frame on."""
    angles = np.radians(150.0) * np.arange(0.0, 24.0, 1.0 / 8.0)
    poses = np.tile(np.eye(4), (len(angles), 1, 1))
    poses[:, 0, 0] = poses[:, 1, 1] = np.cos(angles)
    poses[:, 1, 0], poses[:, 0, 1] = np.sin(angles), -np.sin(angles)
    poses[:, :3, :3] *= size
    places = np.arange(len(angles) - 7) / 8.0
    found = part("baking.parents_between_frames").between({"Hub": {"": poses[::8]}}, np.arange(24.0), places)[
        "Hub"
    ][""]
    inner = slice(8 * 3, -8 * 3)  # slopes at the ends are of lower order
    assert np.abs(found - poses[:-7])[inner].max() < 0.06 * abs(size)


def test_where_what_carries_a_body_leaps_nothing_is_known_until_the_next_frame(
    part, scene, make, stone, monkeypatch
):
    """It was taken for a smooth way there, which led a body that was hit in that frame farther off."""
    item, _ = stone
    cart, channels, seen = make.empty("Cart"), part("baking.channels"), []
    item.parent = cart
    set_keys(cart, "location", {1: 0.0, 10: 0.5}, axis=0)
    make_keys(cart, "CONSTANT")
    scene.frame_set(1)
    see = channels.see_between
    monkeypatch.setattr(
        channels, "see_between", lambda own, matrices: (seen.append(own[0][1]), see(own, matrices))
    )
    part("jobs.bake").bake_now(scene)
    (rows,) = seen
    assert 8 not in rows and {7, 10} <= set(rows.tolist())  # its edge comes down behind frame 9
    part("jobs.bake").free_bake(scene)
    cart.animation_data_clear()
    part("jobs.bake").bake_now(scene)
    assert 8 in seen[1]


@pytest.mark.parametrize("root", [True, False])
def test_a_calm_bone_of_any_inheritance_bakes_beside_what_is_hit(part, scene, make, authoring, stone, root):
    """Of no stretches at all Blender's own conversion, which goes row by row, was asked for."""
    bones = {"A": ((2, 0, 1), (2, 0.1, 0.5), None), "B": ((2, 0.1, 0.4), (2, 0, 0), "A")}
    rig, body = make.armature("Rig", bones), part("data.references").Body
    name = "A" if root else "B"
    bone = rig.data.bones[name]
    bone.inherit_scale, bone.use_local_location = "NONE", False
    make.update()
    hinge = authoring.add_joint(scene, None, body(rig, name), "hinge", np.eye(4), name="Hinge")
    hinge.condyle.joint.coordinates[0].damping = 1e3
    report = part("jobs.bake").bake_now(scene)
    assert len(report.bodies) == 2 and "Stone" in report.bodies


def test_what_hangs_on_a_body_is_seen_where_that_is(part, scene, make):
    above, body = part("baking.local_matrices").nearest_above, part("data.references").Body
    rig = make.armature(
        "Rig",
        {
            "A": ((0, 0, 1), (0, 0, 0.5), None),
            "B": ((0, 0, 0.5), (0, 0, 0), "A"),
            "C": ((0, 0, 0), (0, 0, -1), "B"),
        },
    )
    box, between, hand = make.box("Box"), make.empty("Between"), make.box("Hand")
    rig.parent, between.parent, between.parent_type, between.parent_bone, hand.parent = (
        box,
        rig,
        "BONE",
        "C",
        between,
    )
    keys = {("Box", ""), ("Rig", "A"), ("Rig", "C")}
    assert above(body(hand), keys) == ("Rig", "C")
    assert above(body(rig, "C"), keys) == ("Rig", "A")
    assert above(body(rig, "A"), keys) == ("Box", "")
    assert above(body(box), keys) is None
    assert above(body(hand), {("Rig", "A"), ("Hand", "")}) == ("Rig", "A")
    assert above(body(rig, "B"), {("Rig", ""), ("Rig", "B")}) == ("Rig", "")


def test_fewer_keys_keep_what_is_told_between_frames_too(part, scene, stone):
    """Beside a hit: measured at frames and half-way alone the place was 2.2 mm off and 0.7 told, of 1 mm allowed."""
    item, _ = stone
    output = scene.condyle.simulation.output

    def places():
        return over_frames(1.0 + np.arange(32 * 23 + 1) / 32.0, lambda: np.array(item.matrix_world)[:3, 3])

    part("jobs.bake").bake_now(scene)
    whole = places()
    output.reduce, output.tolerance_distance = True, 1.0
    report = part("jobs.bake").bake_now(scene)
    told = float(report.note.split("at most ")[1].split(" mm")[0])
    off = 1e3 * np.linalg.norm(places() - whole, axis=1).max()
    assert off < 1.0
    assert off < told + 0.02  # told in two digits
    part("jobs.bake").free_bake(scene)


def test_angles_that_follow_a_hit_are_not_told_to_swing(part, scene, stone):
    """Foreseen by keys alone it was 1.1 degrees; what was seen in the simulation is followed to half of one."""
    item, _ = stone
    item.rotation_mode = "AXIS_ANGLE"
    told = part("jobs.bake").bake_now(scene).warnings
    assert not any(each.code == "swinging-angles" for each in told)
    part("jobs.bake").free_bake(scene)


def test_a_corner_is_no_swing_of_angles(part):
    """A hinge turns about one axis whatever its keys: that of linear ones was told to swing around by 2 degrees."""
    channels = part("curves.rotation_channels")
    at = np.arange(30.0) - 12.0
    angles = np.where(at < 0.0, -0.06 * at, 0.22 * at)
    rotations = np.zeros((30, 3, 3))
    rotations[:, 0, 0] = rotations[:, 2, 2] = np.cos(angles)
    rotations[:, 0, 2], rotations[:, 1, 1], rotations[:, 2, 0] = np.sin(angles), 1.0, -np.sin(angles)
    for mode in ("XYZ", "AXIS_ANGLE"):
        numbers = channels.rotation_channels(rotations, mode, np.zeros(4 if mode == "AXIS_ANGLE" else 3))
        missed = channels.missed_between(rotations, numbers, mode)
        assert missed.max() < np.radians(0.01)  # a quaternion's cubic beside an angle's: of 0.22 rad a frame


def test_a_carrier_that_is_stretched_stays_stretched_between_frames(part):
    """A bone need not inherit it, so that it may well carry one."""
    poses = np.tile(np.diag((1.0, 2.0, 1.0, 1.0)), (12, 1, 1))
    poses[:, 0, 3] = np.arange(12.0) ** 2
    found = part("baking.parents_between_frames").between(
        {"Rig": {"pose:A": poses}}, np.arange(12.0), np.array([3.0, 4.5])
    )
    np.testing.assert_allclose(found["Rig"]["pose:A"][:, :3, :3], poses[:2, :3, :3], atol=1e-14)
    np.testing.assert_allclose(found["Rig"]["pose:A"][:, 0, 3], [9.0, 20.25], atol=1e-12)
