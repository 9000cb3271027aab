"""What constraints, drivers and the NLA do in time, and names, make no bake out of date."""

import pytest

from ..keying import set_keys
from .test_compare import changes
from .test_keys import above  # noqa: F401

pytestmark = pytest.mark.small


@pytest.fixture
def hung(part, scene, above):
    """A hinge whose parent hangs on an Empty that is no body: (that Empty, a function that bakes it)."""

    def bake():
        scene.frame_set(1)
        part("jobs.bake").bake_now(scene)

    return above, bake


def stays_up_to_date(part, scene):
    for frame in (1, 3, 6):
        scene.frame_set(frame)
        assert changes(part, scene) == []


def in_a_strip(item):
    """Have a strip of the NLA play the action in use."""
    data = item.animation_data
    action, data.action = data.action, None
    data.nla_tracks.new().strips.new("Strip", 1, action)


@pytest.mark.parametrize("by", ["KEYS", "STRIP", "DRIVER"])
@pytest.mark.parametrize("name", ["mute", "enabled"])
def test_a_constraint_that_is_switched_in_time_changes_nothing(part, scene, make, hung, name, by):
    above, bake = hung
    constraint = above.constraints.new("COPY_LOCATION")
    constraint.target = make.empty("Goal")
    if by == "DRIVER":
        constraint.driver_add(name).driver.expression = "frame > 2"
    else:
        set_keys(constraint, name, {1: False, 3: True})
        if by == "STRIP":
            in_a_strip(above)
    bake()
    stays_up_to_date(part, scene)
    constraint.use_x = False
    assert changes(part, scene) == [("changed-since-bake", "Above", "constraint settings")]


@pytest.mark.parametrize("by", ["STRIP", "DRIVER"])
@pytest.mark.parametrize("path", ["location", "scale", "delta_location"])
def test_what_a_driver_or_the_nla_moves_changes_nothing_in_time(part, scene, hung, path, by):
    above, bake = hung
    if by == "DRIVER":
        for index in range(3):
            above.driver_add(path, index).driver.expression = "1 + frame * 0.01"
    else:
        for frame, value in ((1, 1.0), (6, 1.1)):
            setattr(above, path, [value] * 3)
            above.keyframe_insert(path, frame=frame)
        in_a_strip(above)
    bake()
    stays_up_to_date(part, scene)
    above.rotation_euler.x = 0.1
    assert changes(part, scene) == [("changed-since-bake", "Above", "rotation")]


def test_the_strip_of_a_bake_does_not_hide_where_a_body_was(part, scene, baked):
    scene.condyle.simulation.output.target = "STRIP"
    part("jobs.bake").bake_now(scene)
    kept = part("reading.prints").prints(scene)
    part("jobs.bake").free_bake(scene)
    assert part("reading.prints").prints(scene) == kept


def test_renaming_what_constraints_are_aimed_at_changes_nothing(part, scene, make, hung):
    above, bake = hung
    goals = [make.empty(name) for name in ("Goal", "Pole", "Limb", "Spare")]
    rig = make.armature("Rig", {"A": ((1, 0, 0), (1, 0, 1), None), "B": ((1, 0, 1), (1, 0, 2), "A")})
    copying, held = above.constraints.new("COPY_LOCATION"), above.constraints.new("ARMATURE")
    copying.target = goals[0]
    held.targets.new().target = goals[2]
    turning = above.constraints.new("COPY_ROTATION")
    turning.target, turning.subtarget = rig, "A"
    for constraint in above.constraints:
        constraint.influence = 0.0
    bake()
    for item in (goals[0], goals[2], rig, rig.pose.bones["A"], copying, above):
        item.name = f"Other {item.name}"
        assert changes(part, scene) == []
    # another name and not the same: gone, and new
    goals[0].name, above.name, copying.name = ("Goal", "Above", "Copy Location")
    copying.target = goals[3]
    assert changes(part, scene) == [("changed-since-bake", "Above", "constraint settings")]
    copying.target = goals[0]
    turning.subtarget = "B"
    assert changes(part, scene) == [("changed-since-bake", "Above", "constraint settings")]


def test_renaming_bones_that_constraints_act_on_or_are_aimed_at_changes_nothing(
    part, scene, make, body, authoring
):
    scene.frame_end = 4
    bones = {
        "Root": ((0, 0, 2), (0, 0, 1.5), None),
        "A": ((0, 0, 1.5), (0, 0, 1), "Root"),
        "B": ((0, 0, 1), (0.1, 0, 0.5), "A"),
        "Goal": ((1, 0, 0), (1, 0, 1), None),
        "Pole": ((2, 0, 0), (2, 0, 1), None),
    }
    rig = make.armature("Rig", bones)
    authoring.make_body(scene, body(rig, "B"), mass=1.0, center=(0, 0.2, 0), inertia=(0.02, 0.01, 0.02))
    authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    turning = rig.pose.bones["Root"].constraints.new("COPY_ROTATION")
    bending = rig.pose.bones["Root"].constraints.new("IK")
    turning.target = bending.target = bending.pole_target = rig
    turning.subtarget = bending.subtarget = "Goal"
    bending.pole_subtarget = "Pole"
    turning.influence = bending.influence = 0.0
    part("jobs.bake").bake_now(scene)
    for item in (*(rig.pose.bones[name] for name in ("Root", "Goal", "Pole")), rig):
        item.name = f"Other {item.name}"
        assert changes(part, scene) == []
    rig.name, rig.pose.bones["Other Root"].name = "Rig", "Root"
    bending.pole_subtarget = "Other Goal"
    assert changes(part, scene) == [("changed-since-bake", "Rig", "constraint settings of bones")]
