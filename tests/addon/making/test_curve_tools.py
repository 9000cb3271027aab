"""Curves evened out and run the other way, copies of control frames; what the panel tells of a selected frame."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from ..selecting import select


def joint_between(part, scene, make, scale, bones):
    """A keyed knee of objects, or of bones that follow the same keys, with a joint: (joint, thing that moves)."""
    thigh, shank = make.keyed_knee(scale=scale)
    body, add_joint = part("data.references").Body, part("making.bodies_and_joints").add_joint
    if not bones:
        return add_joint(scene, body(thigh), body(shank), name="Knee"), shank
    length = 0.4 * scale
    rig = make.armature(
        "Rig", {"Thigh": ((0, 0, length), (0, 0, 0), None), "Shank": ((0, 0, 0), (0, 0, -length), "Thigh")}
    )
    bone = rig.pose.bones["Shank"]
    for number, angle in enumerate(np.linspace(0.0, 2.0, 13)):
        bone.rotation_quaternion = (np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0)
        bone.location = np.array((0.0, 0.01 * angle**2, -0.01 * angle)) * scale
        for path in ("location", "rotation_quaternion"):
            bone.keyframe_insert(path, frame=1 + 4 * number)
    scene.frame_set(1)
    return add_joint(scene, body(rig, "Thigh"), body(rig, "Shank"), name="Knee"), bone


@pytest.fixture
def knee(part, scene, make):
    """A fitted, driven and keyed knee, active: `knee(scale, bones)`."""

    def made(scale=1.0, bones=False):
        scene.unit_settings.scale_length = 1.0 / scale
        joint, moved = joint_between(part, scene, make, scale, bones)
        select(joint)
        assert bpy.ops.condyle.fit(num_frames=9) == {"FINISHED"}
        assert bpy.ops.condyle.key_sliders() == {"FINISHED"}
        return joint, moved

    return made


def path_of(scene, moved):
    """World matrices of what moves at some frames, in metres."""
    found = []
    for frame in (1.0, 7.5, 20.0, 33.25, 49.0):
        scene.frame_set(int(frame), subframe=frame % 1.0)
        owner = moved.id_data
        world = np.array(owner.matrix_world @ moved.matrix if owner != moved else moved.matrix_world)
        world[:3, 3] *= scene.unit_settings.scale_length
        found.append(world)
    return np.array(found)


@pytest.mark.small
@pytest.mark.parametrize("operator", ["reverse_curve", "even_out_frames"])
@pytest.mark.parametrize(("scale", "bones"), [(1.0, False), (100.0, False), (0.01, True), (1.0, True)])
def test_the_child_moves_as_before(part, scene, knee, operator, scale, bones):
    joint, moved = knee(scale, bones)
    settings = joint.condyle.joint
    row = settings.coordinates[0]
    row.limits, row.lower, row.upper, row.rest, row.start, row.start_speed = "CUSTOM", 0.2, 1.5, 0.4, 0.6, 0.5
    before = path_of(scene, moved)
    poses = [pose_at(part, scene, joint, value) for value in (row.lower, row.upper, row.rest, row.start)]
    assert getattr(bpy.ops.condyle, operator)() == {"FINISHED"}
    # the fit's own residual is a hundredth of a millimetre on this knee; keys between keys curve a little otherwise
    assert np.abs(path_of(scene, moved) - before).max() < 2e-4
    lower, upper = (row.upper, row.lower) if operator == "reverse_curve" else (row.lower, row.upper)
    now = [pose_at(part, scene, joint, value) for value in (lower, upper, row.rest, row.start)]
    assert np.abs(np.array(now) - poses).max() < 1e-4
    assert row.lower < row.upper
    assert (row.start_speed < 0.0) == (operator == "reverse_curve")


def pose_at(part, scene, joint, value):
    return part("data.stored_joints").read_joint(scene, joint).transform(np.array([value]))


@pytest.mark.small
def test_a_curve_reversed_twice_is_itself_but_for_what_it_says(part, knee, scene):
    joint, _ = knee()
    tools, run = part("making.curve_tools"), part("blender.compute_process").run
    old = part("data.stored_joints").read_joint(scene, joint)
    ends = [old.transform(old.range[0, k : k + 1]) for k in (0, 1)]
    first = run(tools.reverse(scene, joint))
    turned = part("data.stored_joints").read_joint(scene, joint)
    assert np.abs(turned.transform(turned.range[0, :1]) - ends[1]).max() < 1e-6  # ends are kept exactly
    second = run(tools.reverse(scene, joint))
    again = part("data.stored_joints").read_joint(scene, joint)
    at = np.linspace(*old.range[0], 20)[:, None]
    gaps = np.linalg.norm((again.transform(at) - old.transform(at))[:, :3, 3], axis=1)
    told = 1e-3 * (first.distance + second.distance)
    assert gaps.max() <= told + 1e-6 and 0.0 < told < 1e-4
    assert np.allclose(again.knots, old.knots, atol=1e-5)


@pytest.mark.small
def test_frames_evened_out_lie_at_even_lengths(part, knee, scene):
    joint, _ = knee()
    frames = joint.condyle.joint.frames
    part("making.curve_tools").duplicate(scene, joint, 4, 0.1)
    report = part("blender.compute_process").run(part("making.curve_tools").even_out(scene, joint, 14))
    before, now = report.unevenness
    # a clamped curve's first and last steps are two thirds of the mean of those inside by its knots
    assert before > 3.0 and now < 2.3 and report.num_frames == len(frames) == 14
    curve = part("data.stored_joints").read_joint(scene, joint)
    at = np.linspace(*curve.range[0], 30)
    speeds = [curve.twist_metric.norm(curve.evaluate(np.array([q]))[1][:, 0]) for q in at]
    assert np.allclose(speeds, 1.0, atol=0.05)  # its coordinate is the length


@pytest.mark.small
def test_fewer_frames_than_the_order_takes_are_told(part, knee):
    joint, _ = knee()
    settings, tells = joint.condyle.joint, part("blender.session")
    settings.order = 5
    for count, made, told in ((4, 5, "it has 5 control points, the least"), (6, 6, "")):
        assert bpy.ops.condyle.even_out_frames(num_frames=count) == {"FINISHED"}
        assert len(settings.frames) == made and told in tells.message
        assert bool(told) == ("control points" in tells.message)


@pytest.mark.small
def test_a_closed_curve_is_reversed_and_evened_out(part, scene, make, authoring):
    body = part("data.references").Body(make.box("Bead"))
    joint = authoring.add_joint(scene, None, body, matrix=np.eye(4).tolist(), name="Wire")
    for angle in np.linspace(0.0, 2.0 * np.pi, 9)[:-1] + 0.15 * np.sin(np.arange(8)):
        pose = make.on_ball(0.3 * np.sin(angle), 0.3)
        pose[:3, 3] += np.cos(angle), np.sin(angle), 0.1 * np.sin(2 * angle)
        authoring.add_control_frame(scene, joint, pose)
    joint.condyle.joint.periodic = True
    part("sliders.sliders").set_driven(scene, joint, True)
    joint["coordinate"] = 1.0
    tools, read = part("making.curve_tools"), part("data.stored_joints").read_joint
    for make_it in (tools.reverse, tools.even_out):
        old, place = read(scene, joint), joint["coordinate"]
        report = part("blender.compute_process").run(make_it(scene, joint))
        now = read(scene, joint)
        worst = 1e-3 * report.distance + 1e-5
        assert joint["coordinate"] != place and report.distance < 30.0
        gap = now.transform(np.array([joint["coordinate"]])) - old.transform(np.array([place]))
        assert np.linalg.norm(gap[:3, 3]) < worst
        at = np.linspace(*now.domain, 40)[:, None]
        there = np.linspace(*old.domain, 2000)[:, None]
        away = np.linalg.norm(
            now.transform(at)[:, None, :3, 3] - old.transform(there)[None, :, :3, 3], axis=2
        )
        assert away.min(axis=1).max() < worst + 2e-3  # half a step between the samples
    assert report.unevenness[1] < report.unevenness[0]


def test_what_does_not_follow_is_told(part, scene, knee):
    joint, _ = knee()
    joint.animation_data.nla_tracks.new()
    report = part("blender.compute_process").run(part("making.curve_tools").reverse(scene, joint))
    assert report.warnings == ("Keys of the slider in NLA strips are unchanged",)


def test_only_a_curve_of_its_own_is_reshaped(part, scene, make, body, authoring, ph):
    joint = authoring.add_joint(scene, None, body(make.box("Box")), "hinge", name="Pin")
    select(joint)
    assert not bpy.ops.condyle.reverse_curve.poll()
    with pytest.raises(ph.ModelError, match="'Pin' must be a spline curve"):
        part("blender.compute_process").run(part("making.curve_tools").reverse(scene, joint))


@pytest.mark.small
def test_a_duplicate_stands_a_little_further_and_is_selected(part, scene, knee):
    joint, _ = knee()
    frames = joint.condyle.joint.frames
    select(frames[8].object)
    assert bpy.ops.condyle.duplicate_control_frame(share=0.5) == {"FINISHED"}
    assert len(frames) == 10 and bpy.context.active_object == frames[9].object
    part("data.stored_joints").read_joint(scene, joint)  # no frames coincide
    select(frames[2].object)
    assert bpy.ops.condyle.duplicate_control_frame() == {"FINISHED"}
    places = [np.array(frame.object.matrix_world.translation) for frame in frames]
    assert np.linalg.norm(places[3] - places[2]) < 0.5 * np.linalg.norm(places[4] - places[2])


@pytest.mark.small
def test_a_frame_is_added_in_order_and_a_copy_by_blender_adopted(part, scene, knee):
    joint, _ = knee()
    settings = joint.condyle.joint
    joint.animation_data_clear()
    values = sorted(row.q[0] for row in settings.fit.residuals)
    joint["coordinate"] = 0.5 * (values[5] + values[6])
    joint.update_tag()
    bpy.context.view_layer.update()
    places = part("reading.scene").control_frames(scene, joint)[:, :3, 3]
    settings.active_frame = 0
    assert bpy.ops.condyle.add_control_frame() == {"FINISHED"}
    assert 3 <= settings.active_frame <= 6
    now = part("reading.scene").control_frames(scene, joint)[:, :3, 3]
    assert np.allclose(np.delete(now, settings.active_frame, axis=0), places, atol=1e-6)
    copy = settings.frames[0].object.copy()
    scene.collection.objects.link(copy)
    copy.location = settings.frames[0].object.location * 2.0 - settings.frames[1].object.location
    select(copy)
    bpy.context.view_layer.update()
    assert bpy.ops.condyle.adopt_control_frame() == {"FINISHED"}
    assert settings.frames[0].object == copy and bpy.context.active_object == copy
    assert not bpy.ops.condyle.adopt_control_frame.poll()


@pytest.mark.small
def test_a_frame_goes_where_it_is_wished(part, scene, knee):
    joint, _ = knee()
    settings = joint.condyle.joint
    for place, expected in (("NEXT", 4), ("END", 10)):
        settings.active_frame = 3
        assert bpy.ops.condyle.add_control_frame(place=place) == {"FINISHED"}
        assert settings.active_frame == expected


@pytest.mark.small
def test_a_ring_that_is_drawn_pose_by_pose_keeps_its_order(part, scene, make, authoring):
    """The last frames are as near to the first as to the one before: then the end wins."""
    bead = make.box("Bead")
    joint = authoring.add_joint(scene, None, part("data.references").Body(bead), name="Wire")
    select(joint)
    for number in range(6):
        turn = np.pi / 3.0 * number
        bead.location = np.cos(turn), np.sin(turn), 0.0
        bpy.context.view_layer.update()
        assert bpy.ops.condyle.add_control_frame() == {"FINISHED"}
        assert joint.condyle.joint.active_frame == number


@pytest.fixture
def draw(part, scene, make, authoring):
    """Add control frames at places (x, y) of a bead, one after the other; where each went."""
    bead = make.box("Bead")
    joint = authoring.add_joint(scene, None, part("data.references").Body(bead), name="Wire")
    select(joint)

    def add(*places):
        went = []
        for place in places:
            bead.location = *place, 0.0
            bpy.context.view_layer.update()
            assert bpy.ops.condyle.add_control_frame() == {"FINISHED"}
            went.append(joint.condyle.joint.active_frame)
        return went

    return add


@pytest.mark.small
@pytest.mark.parametrize(
    "places",
    [
        [(0, 0), (1, 0), (2, 0), (2, 0.4), (1, 0.4), (0, 0.4)],
        [(0, 0), (1, 0), (0, 0.3), (1, 0.3), (0, 0.6), (1, 0.6)],
        [(0, 0), (1, 0.15), (0, 0.3), (1, 0.45), (0, 0.6)],
        [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0)],
        [(0, 0), (1, 0), (2, 0), (1, 0), (0, 0)],
    ],
    ids=["hairpin", "zigzag", "slanted zigzag", "saw", "there and back"],
)
def test_a_curve_that_is_drawn_pose_by_pose_keeps_its_order(draw, places):
    assert draw(*places) == list(range(len(places)))


@pytest.mark.small
def test_a_pose_goes_between_frames_or_before_them_where_it_clearly_lies_there(draw, capsys):
    arc = [(np.cos(turn), np.sin(turn)) for turn in np.radians([0.0, 60.0, 120.0, 30.0, 110.0, -40.0])]
    assert draw(*arc) == [0, 1, 2, 1, 3, 0]
    told = [line for line in capsys.readouterr().out.splitlines() if "Added as" in line]
    assert told == [
        "Info: Added as frame 2 of 4",
        "Info: Added as frame 4 of 5",
        "Info: Added as frame 1 of 6",
    ]
    assert draw((-0.94, 0.34)) == [6] and "Added as" not in capsys.readouterr().out


def test_a_pose_on_a_curve_that_leaves_its_frames_goes_between_them(part, scene, draw):
    """A cubic curve through the frames of a ring in steps of 60 degrees runs by up to a sixth of a step inside."""
    draw(*((np.cos(turn), np.sin(turn)) for turn in np.radians(60.0 * np.arange(5))))
    joint = bpy.data.objects["Wire"]
    curve = part("data.stored_joints").read_joint(scene, joint)
    for q in np.linspace(*curve.domain, 23)[1:-1]:
        pose = curve.transform(np.array([q]))
        index = part("making.curve_tools").index_in_order(scene, joint, pose)
        assert 1 <= index <= 4


def test_a_copy_that_is_moved_off_the_curve_stays_beside_its_frame(part, scene, draw):
    draw(*((k, 0.0) for k in range(5)))
    joint = bpy.data.objects["Wire"]
    copy = joint.condyle.joint.frames[2].object.copy()
    scene.collection.objects.link(copy)
    copy.matrix_world.translation = pose = (2.2, 0.6, 0.0)
    select(copy)
    bpy.context.view_layer.update()
    assert np.allclose(copy.matrix_world.translation, pose)
    assert part("making.curve_tools").index_in_order(scene, joint, copy.matrix_world) == 5
    assert bpy.ops.condyle.adopt_control_frame() == {"FINISHED"}
    assert joint.condyle.joint.active_frame == 3


@pytest.mark.small
def test_each_place_of_a_frame_has_its_own_tooltip(part):
    operator = part("ui.frames.operators").AddControlFrame
    texts = [operator.description(None, SimpleNamespace(place=place)) for place in ("FITTING", "NEXT", "END")]
    assert len(set(texts)) == 3 and all("at the child's present pose" in text for text in texts)


@pytest.mark.small
def test_names_of_frames_follow_their_order(knee):
    joint, _ = knee()
    frames = joint.condyle.joint.frames
    frames[6].object.name = "My Own"
    select(frames[2].object)
    assert bpy.ops.condyle.duplicate_control_frame() == {"FINISHED"}
    assert bpy.ops.condyle.move_control_frame(direction="UP") == {"FINISHED"}
    select(frames[0].object)
    assert bpy.ops.condyle.remove_control_frame() == {"FINISHED"}
    names = [frame.object.name for frame in frames]
    assert names == [f"Knee Frame {k:02d}" for k in range(6)] + ["My Own"] + [
        f"Knee Frame {k:02d}" for k in (7, 8)
    ]


@pytest.mark.small
def test_removing_the_selected_frame_keeps_the_joint_at_hand(knee):
    joint, _ = knee()
    frames = joint.condyle.joint.frames
    select(frames[8].object)
    assert bpy.ops.condyle.remove_control_frame() == {"FINISHED"}
    assert len(frames) == 8 and bpy.context.active_object == frames[7].object


@pytest.mark.small
def test_the_panel_says_which_frame_is_selected(part, knee):
    joint, _ = knee()
    frames = joint.condyle.joint.frames
    panel = part("ui.frames.panels").FramesPanel
    for number in (0, 5):
        select(frames[number].object)
        layout = MagicMock()
        panel.draw(MagicMock(layout=layout), bpy.context)
        assert layout.label.call_args_list[0].kwargs["text"] == f"Point {number}, of 0 to 8"


@pytest.mark.small
def test_the_list_marks_the_frame_that_is_selected(part, knee):
    joint, _ = knee()
    settings = joint.condyle.joint
    select(settings.frames[6].object)
    part("handlers.control_frames").mark_selected()
    assert settings.active_frame == 6
    select(joint)
    part("handlers.control_frames").mark_selected()
    assert settings.active_frame == 6


@pytest.mark.parametrize("operator", ["reverse_curve", "even_out_frames"])
@pytest.mark.parametrize("counts", ["ANGLE", "ARC_LENGTH"])
def test_a_coordinate_that_counts_something_goes_along(part, scene, knee, operator, counts):
    joint, moved = knee()
    assert bpy.ops.condyle.fit(num_frames=9, coordinate=counts, angle_axis=(0, 1, 0)) == {"FINISHED"}
    assert bpy.ops.condyle.key_sliders() == {"FINISHED"}
    before, value = path_of(scene, moved), joint["coordinate"]
    lower, upper = part("data.stored_joints").read_joint(scene, joint).range[0]
    assert getattr(bpy.ops.condyle, operator)() == {"FINISHED"}
    assert np.abs(path_of(scene, moved) - before).max() < 2e-4
    now = part("data.stored_joints").read_joint(scene, joint).range[0]
    assert now == pytest.approx((lower, upper), abs=1e-3)  # the same angles, or the same length
    turned = operator == "reverse_curve" and counts == "ARC_LENGTH"
    assert joint["coordinate"] == pytest.approx(lower + upper - value if turned else value, abs=1e-3)
