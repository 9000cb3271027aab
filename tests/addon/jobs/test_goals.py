"""Goals: a hand that reaches and rests by torques or excitations that are keyed and baked; what cannot be met;
cancelling and undo.
"""

import bpy
import numpy as np
import pytest

from ..said import codes

GOAL = 40


@pytest.fixture
def reaching(part, scene, make, body, authoring):
    """An arm of two bones on hinges about y that is to reach an Empty and rest there: (rig, Empty)."""
    rig, place = make.armature("Rig"), np.eye(4)
    bones = [body(rig, "A"), body(rig, "B")]
    for parent, child, height in zip((None, bones[0]), bones, (1.0, 0.5)):
        place[2, 3] = height
        joint = authoring.add_joint(scene, parent, child, "hinge", place, name=f"Joint {child.bone}")
        joint.condyle.joint.axis = (0, 1, 0)
        joint.condyle.joint.coordinates[0].damping = 0.02
    scene.frame_start, scene.frame_end = 1, GOAL + 5
    target = make.empty("Target")
    target.location = (0.5, 0.0, 0.55)
    make.update()
    for kind in ("REACH", "REST"):
        part("making.goals").add(scene, bones[1], kind, GOAL, target)
    return rig, target


def solve(part, scene, **options):
    return part("blender.compute_process").run(part("jobs.goals").solve(scene, **options))


def torques(part):
    """Keys (K, 2) of each joint's torque; no entry where there are none."""
    found = {}
    for name in ("Joint A", "Joint B"):
        for curve in part("blender.compat").curves_in_use(bpy.data.objects[name]):
            found[name] = np.array([tuple(key.co) for key in curve.keyframe_points])
    return found


def apart(scene, rig, target):
    """Distance of the hand from the target at the goal's frame."""
    scene.frame_set(GOAL)
    return (rig.matrix_world @ rig.pose.bones["B"].tail - target.matrix_world.translation).length


def test_an_arm_reaches_and_rests_and_its_torques_bake_again_to_the_same(part, scene, reaching):
    solved = solve(part, scene)
    result = solved.bake.result
    assert apart(scene, *reaching) < 1e-3  # m: the requirement
    assert np.abs(result.qd[GOAL - 1]).max() < 1e-3  # rad/s
    assert codes(solved.bake.warnings) == [] and part("handlers.staleness").changes(scene) == []
    keys = torques(part)
    assert {name: len(each) for name, each in keys.items()} == {"Joint A": 8, "Joint B": 8}
    assert keys["Joint A"][0, 0] == 1.0 and keys["Joint A"][-1, 0] == GOAL
    again = part("jobs.bake").bake_now(scene).result
    assert np.abs(again.q - result.q).max() < 1e-6  # torques in single precision


@pytest.mark.small
def test_a_goal_damps_the_joints_of_its_limb_that_have_no_damping(part, scene, body, reaching):
    upper, lower = (bpy.data.objects[f"Joint {name}"].condyle.joint.coordinates[0] for name in "AB")
    upper.damping = 0.0
    part("making.goals").add(scene, body(reaching[0], "B"), "REST", GOAL, None)
    mass = part("reading.masses").mass_properties(scene, body(reaching[0], "A"))
    inertia = mass.mass * np.sum(mass.center**2) + np.diag(mass.inertia).max()
    # the joint is at the bone's head; single precision, which has its origin at half a metre
    assert upper.damping == pytest.approx(10.0 * inertia, rel=1e-5)
    assert lower.damping == pytest.approx(0.02)
    upper.damping = lower.damping = 0.0
    joint = bpy.data.objects["Joint A"].condyle.joint
    joint.to_world, joint.parent.object, joint.parent.bone = False, reaching[0], "B"  # each carries the other
    assert len(part("making.goals").undamped(scene, body(reaching[0], "B"))) == 2
    part("making.muscles").add_muscle(
        scene, [(body(reaching[0], "A"), (0, 0, 0.9)), (body(reaching[0], "B"), (0, 0, 0.1))]
    )
    assert part("making.goals").undamped(scene, body(reaching[0], "B")) == []


def test_an_arm_on_hips_that_walk_reaches_and_rests(part, scene, make, body, reaching):
    rig, target = reaching
    hips = make.box("Hips", (0, 0, 1))
    make.update()
    joint = bpy.data.objects["Joint A"].condyle.joint
    joint.to_world, joint.parent.object = False, hips
    for frame, place in ((1, 0.0), (20, 0.05), (GOAL + 5, 0.3)):
        hips.location.x = place
        hips.keyframe_insert("location", frame=frame)
    make.update()
    begun = (rig.matrix_world @ rig.pose.bones["A"].head).x
    solved = solve(part, scene)
    assert apart(scene, rig, target) < 1e-3  # m: the requirement
    assert (rig.matrix_world @ rig.pose.bones["A"].head).x - begun > 0.2  # m: it walks along
    assert codes(solved.bake.warnings) == [] and part("handlers.staleness").changes(scene) == []


@pytest.mark.parametrize("law", ["tension", "millard"])
def test_muscles_bring_an_arm_to_its_goal_and_their_excitations_bake_again_to_the_same(
    part, ph, scene, body, reaching, law
):
    rig, target = reaching
    scene.condyle.goals.by, target.location = "MUSCLES", (0.3, 0.0, 0.1)
    with pytest.raises(ph.ModelError, match="Rig/B"):
        solve(part, scene)
    bones, base = [body(rig, name) for name in "AB"], bpy.data.objects.new("Base", None)
    scene.collection.objects.link(base)
    made = []
    for side in (-1.0, 1.0):
        for parent, child, height in ((body(base), bones[0], 1.0), (bones[0], bones[1], 0.5)):
            places = ((side * 0.06, 0.0, height + 0.05), (side * 0.05, 0.0, height - 0.15))
            muscle = part("making.muscles").add_muscle(scene, list(zip((parent, child), places)))
            settings = muscle.condyle.muscle.law
            settings.kind, settings.fibre_length, settings.tendon_length = law, 0.12, 0.08
            settings.max_force = 800.0
            made.append(muscle)
    joint = bpy.data.objects["Joint A"]
    for frame, torque in ((1, 3.0), (GOAL, 5.0)):  # muscles replace them
        joint.condyle.joint.coordinates[0].torque = torque
        joint.keyframe_insert("condyle.joint.coordinates[0].torque", frame=frame)
    solved = solve(part, scene)
    assert apart(scene, rig, target) < 1e-3  # m: the requirement
    assert np.abs(solved.bake.result.qd[GOAL - 1]).max() < 1e-3  # rad/s
    assert (torques(part)["Joint A"][:, 1] == 0.0).all() and len(torques(part)) == 1
    assert (solved.keyed, solved.what) == (4, "excitation") and codes(solved.bake.warnings) == []
    for muscle in made:
        (curve,) = part("blender.compat").curves_in_use(muscle)
        values = np.array([key.co[1] for key in curve.keyframe_points])
        assert len(values) == 8 and 0.0 <= values.min() < values.max() <= 1.0
    assert part("handlers.staleness").changes(scene) == []
    again = part("jobs.bake").bake_now(scene).result
    assert np.abs(again.q - solved.bake.result.q).max() < 1e-6  # excitations in single precision


def test_a_goal_out_of_reach_is_named_and_written_only_if_accepted(part, ph, scene, reaching):
    _, target = reaching
    target.location, scene.render.fps = (2.0, 0.0, 0.5), 25  # 1/200 s is less in single precision
    before = scene.condyle.simulation.integrator
    with pytest.raises(ph.ModelError, match="Target"):
        solve(part, scene)
    found = [each for each in part("blender.session").findings if each.code == "goal-missed"]
    assert [(each.values["target"], each.values["frame"], each.bone) for each in found] == [
        ("Target", GOAL, "B")
    ]
    assert torques(part) == {} and scene.condyle.simulation.integrator == before
    solved = solve(part, scene, accept=True)
    # the hand is 1 m from the shoulder at most, which is 2.06 m from the target
    assert solved.misses[0] == pytest.approx(np.hypot(2.0, 0.5) - 1.0, rel=1e-2)
    assert apart(scene, *reaching) == pytest.approx(solved.misses[0], abs=1e-5)
    assert "goal-missed" in codes(solved.bake.warnings) and len(torques(part)) == 2


def test_a_joint_has_the_value_that_its_pose_wants(part, scene, reaching, body):
    rows = reaching[0].pose.bones["B"].condyle.goals.rows
    rows[0].active = False
    row = part("making.goals").add(scene, body(reaching[0], "B"), "POSE", GOAL, None)
    row.value = 0.4
    solved = solve(part, scene)
    assert solved.bake.coordinates["Joint B.angle"][GOAL - 1] == pytest.approx(0.4, abs=1e-3)
    assert codes(solved.bake.warnings) == []
    row.coordinate = 1
    with pytest.raises(part("blender.physics_access").physics().ModelError, match="coordinate 1"):
        solve(part, scene)


def test_a_bone_looks_at_its_target_along_the_axis_that_faces_front(part, scene, reaching, body):
    rig, target = reaching
    bone = rig.pose.bones["B"]
    bone.condyle.goals.rows[0].active = False
    row = part("making.goals").add(scene, body(rig, "B"), "LOOK", GOAL, None)
    facing = np.array(bone.matrix.to_3x3()) @ part("reading.goals").axis_of(row.looks_along)
    assert -facing[1] > np.sqrt(0.5)  # no other axis is nearer to -Y
    away = np.array(row.target.location) - np.array(bone.head)
    assert away == pytest.approx(4.0 * bone.bone.length * facing, abs=1e-5)
    row.target, row.looks_along = target, "Y"  # from the head to the tip, which hinges about y can turn
    target.location = (1.0, 0.0, 0.3)
    solved = solve(part, scene)
    scene.frame_set(GOAL)
    way = np.array(target.location) - np.array(bone.head)
    assert np.array(bone.vector) @ way / np.linalg.norm(way) / bone.length == pytest.approx(1.0, abs=1e-6)
    assert solved.misses[1] < 1e-3 and codes(solved.bake.warnings) == []


def test_a_search_that_is_cancelled_changes_nothing(part, ph, scene, reaching):
    steps = part("jobs.goals").solve(scene)
    job = next(steps)
    while getattr(job, "kind", "") != "solve_goals":
        job.wait()
        job = part("blender.compute_process").advance(steps, job)
    job.cancel()
    with pytest.raises(ph.CancelledError):
        job.wait()
    steps.close()
    assert torques(part) == {} and not reaching[0].condyle.bake.action


@pytest.mark.parametrize("edit", ["driver", "fixed", "slider"])
def test_an_edit_between_the_search_and_its_bake_stops_it_before_anything_is_changed(
    part, ph, scene, reaching, edit
):
    part("jobs.bake").bake_now(scene)
    kept = reaching[0].animation_data.action
    steps = part("jobs.goals").solve(scene)
    job = next(steps)
    while getattr(job, "kind", "") != "simulate":
        job.wait()
        job = part("blender.compute_process").advance(steps, job)
    joint = bpy.data.objects["Joint A"]
    if edit == "driver":
        joint.driver_add("condyle.joint.coordinates[0].torque")
    else:
        joint.condyle.joint.type = edit
    with pytest.raises(ph.ModelError, match="Joint A"):
        while True:
            job.wait()
            job = part("blender.compute_process").advance(steps, job)
    assert reaching[0].animation_data.action == kept and reaching[0].condyle.bake.action
    assert torques(part) == {}


@pytest.mark.small
@pytest.mark.parametrize("fault", ["no target", "too late", "none", "no joint", "driven"])
def test_what_cannot_be_solved_is_refused_before_anything_runs(part, ph, scene, make, body, reaching, fault):
    rows = reaching[0].pose.bones["B"].condyle.goals.rows
    if fault == "no target":
        rows[0].target = None
    elif fault == "too late":
        rows[0].frame = GOAL + 6
    elif fault == "none":
        rows[0].active = rows[1].active = False
    elif fault == "no joint":
        item = make.box("Free", (1, 0, 0))
        part("making.bodies_and_joints").make_body(scene, body(item), motion="HELD")
        part("making.goals").add(scene, body(item), "REST", GOAL, None)
    else:
        bpy.data.objects["Joint A"].driver_add("condyle.joint.coordinates[0].torque")
    with pytest.raises(ph.ModelError):
        solve(part, scene)
    assert torques(part) == {}


@pytest.mark.small
def test_a_joint_that_settles_is_refused_before_its_pose_is_searched(part, ph, scene, reaching):
    bpy.data.objects["Joint A"].condyle.joint.start_from = "SETTLED"
    with pytest.raises(ph.ModelError, match="Joint A"):
        next(part("jobs.goals").solve(scene))


@pytest.mark.small
def test_a_target_that_moves_counts_where_it_is_at_the_frame_and_the_tip_of_a_box(
    part, scene, make, body, reaching
):
    _, target = reaching
    for frame, x in ((1, 0.0), (GOAL, 0.5)):
        target.location.x = x
        target.keyframe_insert("location", frame=frame)
    found = part("reading.goals").read(scene.session_uid, 1, GOAL)
    assert found[0].target == pytest.approx((0.5, 0.0, 0.55)) and found[0].point == pytest.approx((0, 0.5, 0))
    hinge = np.eye(4)
    hinge[:3, 3] = (0, 0, 0.3)
    limb = make.box("Limb", (0, 0, 0.1), (0.1, 0.1, 0.4))
    part("making.bodies_and_joints").add_joint(scene, None, body(limb), "hinge", hinge)
    assert part("reading.goals").tip(scene, body(limb)) == pytest.approx((0, 0, -0.2))
