"""A bake takes a shot of the scene, plans, simulates and writes it: without Blender between the first and the last."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.addon.walking import tied_tail

from ..bake_digests import file_digest
from ..keying import set_keys
from ..said import codes
from ..tracer import seeing

# Modules of the add-on that see Blender's data on a bake, and those of them in other rooms than these.
SEEING, ELSEWHERE = 15, 6
ROOMS = ("reading", "baking", "blender")
WITHOUT_BLENDER = """
import sys
sys.modules["bpy"] = sys.modules["mathutils"] = None  # imports of these fail
from addon import __main__
sys.exit(__main__.run())
"""


@pytest.fixture
def stage(part, scene, make):
    """A tail that is simulated on a rig that a constraint moves, with a cord and a spring; and a driven arm."""
    tied_tail(part, scene, make, "spring")
    joint, slider = make.driven_arm(part, scene)
    joint.condyle.joint.prescribed = True
    set_keys(joint, f'["{slider}"]', {1: 0.0, 13: 0.8})
    scene.frame_set(1)
    return scene


def taken(part, scene):
    frames = np.arange(scene.frame_start, scene.frame_end + 1.0)
    return part("blender.compute_process").run(part("jobs.take").take(scene.session_uid, frames, {}))


def test_a_plan_sees_nothing_of_blender_and_a_shot_cannot_be_changed(part, condyle, stage):
    shot = taken(part, stage)
    with seeing(condyle.__name__) as found:
        plan = part("blender.compute_process").run(part("jobs.shot").plan(shot))
    assert found == set() and {"Up", "Rig/Hips (animated)"} <= plan.options["motions"].keys()
    for values in (shot.excited, shot.joints[0].poses, shot.joints[0].strength.weights[:0]):
        assert len(values) == 0 or not values.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        shot.pushed[0] = 1.0


def test_a_shot_is_taken_in_steps_that_leave_the_scene_as_it_was(part, stage, ph, monkeypatch):
    part("jobs.bake").bake_now(stage)
    stage.frame_set(4)
    before, frames, take = file_digest(), np.arange(1.0, 14.0), part("jobs.take").take
    looks, handlers = [], bpy.app.handlers.frame_change_post
    handlers.append(lambda *_: looks.append(stage.frame_current))
    known = list(handlers)

    def is_as_it_was():
        return (
            file_digest() == before
            and stage.frame_current == 4
            and looks[-1] == 4
            and list(handlers) == known
        )

    try:
        steps = take(stage.session_uid, frames, {})
        assert [is_as_it_was() for _ in steps] == [True] * 5
        for count in range(1, 6):  # Esc after each of them
            steps = take(stage.session_uid, frames, {})
            for _ in range(count):
                next(steps)
            steps.close()
            assert is_as_it_was()
        for count in range(1, 6):  # a change after each of them
            steps = take(stage.session_uid, frames, {})
            for _ in range(count):
                next(steps)
            stage.condyle.simulation.gravity[2] = -count
            stage.objects["Low"].update_tag()  # of our own settings Blender's handlers hear nothing
            with pytest.raises(StopIteration) as end:
                next(steps)
            shot = end.value.value
            assert shot.read.model.gravity[2] == -count and shot.changes == part("blender.session").changes
            assert shot.prints == part("reading.prints").prints(stage) and is_as_it_was()
        monkeypatch.setattr(part("reading.scene"), "mass_properties", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            list(take(stage.session_uid, frames, {}))
        assert is_as_it_was()
    finally:
        handlers.pop()


def test_few_modules_see_the_scene_on_a_bake(part, condyle, stage):
    with seeing(condyle.__name__) as found:
        part("jobs.bake").bake_now(stage)
    elsewhere = [name for name in found if name.split(".")[-2] not in ROOMS]
    assert len(found) <= SEEING and len(elsewhere) <= ELSEWHERE, sorted(found)


def test_a_shot_is_simulated_without_blender_and_applied_to_the_bit(part, condyle, stage, tmp_path):
    if condyle.__name__ != "addon":
        pytest.skip("the installed extension has no command line outside of Blender")
    stage.frame_set(4)
    before, files = file_digest(), part("jobs.shot_files")
    part("jobs.bake").save_shot_now(stage, tmp_path / "shot")
    assert file_digest() == before and stage.frame_current == 4
    root, out = Path(condyle.__file__).parents[1], tmp_path / "result.npz"
    line = [sys.executable, "-c", WITHOUT_BLENDER, "bake", str(tmp_path / "shot"), "--out", str(out)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=root, timeout=600)
    assert done.returncode == 0, done.stderr
    report = part("jobs.bake").apply_now(stage, files.load_result(out))
    applied = file_digest()
    part("jobs.bake").free_bake(stage)
    again = part("jobs.bake").bake_now(stage)
    assert np.array_equal(report.result.q, again.result.q)
    assert codes(report.warnings) == codes(again.warnings)
    keys = [
        {name.rpartition(".")[0] or name: each for name, each in state["actions"].items()}
        for state in (applied, file_digest())
    ]
    assert keys[0].keys() == keys[1].keys() and list(keys[0].values()) == list(keys[1].values())


WITHOUT = """
import sys
sys.modules["bpy"] = sys.modules["mathutils"] = None  # imports of these fail
import numpy as np
from addon.blender import compute_process
from addon.jobs import shot, shot_files, shot_values
from addon.staleness import compare
saved = shot_files.load(sys.argv[1])
taken = shot_values.restored(saved.header["shot"], saved.arrays)
made = compute_process.run(shot.plan(taken))
assert not list(compare.changes(taken.prints, taken.prints, taken.prints.keys(), {}))
tau = made.options["tau"]
np.savez(sys.argv[2], q=made.read.state.q, qd=made.read.state.qd, tau=tau.values, codes=[each.code for each in
    made.warnings], motion=made.options["motions"]["Rig/Hips (animated)"].values, dt=made.options["dt"])
"""


def test_a_saved_shot_is_planned_without_blender_as_in_it(part, condyle, stage, tmp_path):
    if condyle.__name__ != "addon":
        pytest.skip("the installed extension has no command line outside of Blender")
    part("jobs.bake").save_shot_now(stage, tmp_path)
    line = [sys.executable, "-c", WITHOUT, str(tmp_path), str(tmp_path / "planned.npz")]
    done = subprocess.run(
        line, capture_output=True, text=True, cwd=Path(condyle.__file__).parents[1], timeout=600
    )
    assert done.returncode == 0, done.stderr
    run = part("blender.compute_process").run
    frames = np.arange(stage.frame_start, stage.frame_end + 1.0)
    made = run(
        part("jobs.shot").plan(run(part("jobs.take").take(stage.session_uid, frames, {}, to_bake=True)))
    )
    found = np.load(tmp_path / "planned.npz")
    assert np.array_equal(found["q"], made.read.state.q) and np.array_equal(found["qd"], made.read.state.qd)
    assert np.array_equal(found["tau"], made.options["tau"].values) and found["dt"] == made.options["dt"]
    assert np.array_equal(found["motion"], made.options["motions"]["Rig/Hips (animated)"].values)
    assert list(found["codes"]) == codes(made.warnings)


def test_a_saved_shot_has_all_that_it_had(part, stage, tmp_path):
    """But for what only the scene has a use for; session uids are counted anew."""
    values, files = part("jobs.shot_values"), part("jobs.shot_files")
    part("jobs.bake").save_shot_now(stage, tmp_path)
    saved = files.load(tmp_path)
    again = {}
    shot = values.restored(saved.header["shot"], saved.arrays)
    assert values.described(shot, again) == saved.header["shot"]
    assert again.keys() == saved.arrays.keys()
    for name, array in again.items():
        assert array.dtype == saved.arrays[name].dtype and np.array_equal(array, saved.arrays[name])
    assert {each.handle.session_uid for each in shot.read.bodies} <= set(range(1, 20))


@pytest.mark.parametrize(
    "damage",
    [
        {"Shot": {}},
        {"Shot": {"frames": {"array": "none"}}},
        {"Popen": {}},
        {"tuple": []},
        {"Handle": {"bone": "", "session_uid": 1}},
        {"floats": 1, "two": 2},
    ],
)
def test_damaged_shots_are_refused(part, ph, damage):
    with pytest.raises(ph.FormatError, match="not a shot, or damaged"):
        part("jobs.shot_values").restored(damage, {})


def test_a_shot_of_the_first_version_is_simulated(part, stage, tmp_path):
    """Which held the job that was planned from the shot."""
    files, requests = part("jobs.shot_files"), part("blender.physics_access").part("worker.requests")
    part("jobs.bake").save_shot_now(stage, tmp_path / "new")
    saved = files.load(tmp_path / "new")
    made = part("blender.compute_process").run(files.planned(saved))
    job, arrays = requests.simulation(
        {"assemble": True, "between": saved.header["between"], **made.arguments}
    )
    header = {name: saved.header[name] for name in ("format", "scene", "frames", "bodies", "scales")}
    files.save(tmp_path / "old", files.Saved(header | {"version": 1, "job": job}, arrays))
    for name in ("new", "old"):
        files.simulate(files.load(tmp_path / name), tmp_path / f"{name}.npz")
    new, old = (files.load_result(tmp_path / f"{name}.npz") for name in ("new", "old"))
    assert all(np.array_equal(old.arrays[name], new.arrays[name]) for name in ("t", "q", "qd", "poses"))


def test_a_result_of_another_shot_is_refused_before_anything_changes(part, stage, ph, tmp_path):
    files, bake = part("jobs.shot_files"), part("jobs.bake")
    bake.save_shot_now(stage, tmp_path)
    shot = files.load(tmp_path)
    files.simulate(shot, tmp_path / "result.npz")
    result = files.load_result(tmp_path / "result.npz")
    assert result.header["shot"] == files.digest(shot) and len(result.arrays["t"]) == 13
    stage.condyle.simulation.gravity[2] -= 1.0
    assert codes(bake.apply_now(stage, result).warnings) == ["shot-changed"]
    bake.free_bake(stage)
    stage.frame_end = 12
    before = file_digest()
    with pytest.raises(ph.ModelError, match="other frames"):
        bake.apply_now(stage, result)
    stage.frame_end = 13
    stage.objects["Low"].name = "Lower"
    with pytest.raises(ph.ModelError, match="other bodies"):
        bake.apply_now(stage, result)
    stage.objects["Lower"].name = "Low"
    result.arrays["q"] = result.arrays["q"][:, :-1]
    with pytest.raises(ph.FormatError, match="'q'"):
        bake.apply_now(stage, result)
    assert file_digest() == before and not part("baking.restoring").is_baked(stage)


@pytest.mark.parametrize(
    "change",
    [{"format": "condyle-jobs"}, {"version": 3}, {"shot": []}, {"bodies": None}, {"frames": "1"}],
    ids=lambda change: next(iter(change)),
)
def test_files_that_are_no_shots_are_refused(part, stage, ph, tmp_path, change):
    files = part("jobs.shot_files")
    part("jobs.bake").save_shot_now(stage, tmp_path)
    path = tmp_path / files.DESCRIPTION
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(ph.FormatError, match=next(iter(change))):
        files.load(tmp_path)
    (tmp_path / files.ARRAYS).write_bytes(b"PK")
    with pytest.raises(ph.FormatError):
        files.load_result(tmp_path / files.ARRAYS)


@pytest.mark.slow
def test_a_large_bake_evaluates_the_scene_once_a_frame(part, scene, make, body, monkeypatch):
    """200 bones on hips that walk, in 49 frames: once to read and a few times to go there and back; the scene is copied
    when it is read, and not again.
    """
    bones = {"Hips": ((0, 0.2, 1), (0, 0, 1), None)}
    chains = [["Hips", *(f"Tail.{chain}.{link}" for link in range(20))] for chain in range(10)]
    for chain, names in enumerate(chains):
        for link, (above, below) in enumerate(pairwise(names)):
            bones[below] = ((0.1 * chain, -0.1 * link, 1), (0.1 * chain, -0.1 * (link + 1), 1), above)
    rig = make.armature("Rig", bones)
    scene.frame_start, scene.frame_end = 1, 49
    for frame, y in ((1, 0.0), (25, 0.02), (49, 0.05)):
        rig.pose.bones["Hips"].location = (0, y, 0)
        rig.pose.bones["Hips"].keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    for above, below in (pair for names in chains for pair in pairwise(names)):
        joint = part("making.bodies_and_joints").add_joint(
            scene, body(rig, above), body(rig, below), "spherical"
        )
        for row in joint.condyle.joint.coordinates:
            row.damping = 1e-2
    looks, copies, take = [], [], part("reading.snapshot").take
    monkeypatch.setattr(part("reading.snapshot"), "take", lambda of: copies.append(of) or take(of))
    bpy.app.handlers.frame_change_post.append(lambda *_: looks.append(1))
    try:
        report = part("jobs.bake").bake_now(scene)
    finally:
        bpy.app.handlers.frame_change_post.pop()
    assert len(report.bodies) == 200 and len(report.frames) == 49
    assert len(looks) <= 49 + 20 and len(copies) == 1, (len(looks), len(copies))


@pytest.mark.parametrize("kind", ["CLOTH", "SOFT_BODY", "PARTICLE_SYSTEM"])
def test_what_simulations_of_blender_have_found_stays(part, stage, kind):
    """A bake goes through all frames, of which the cache has the first eight: it has them still, and shows the same."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=4, location=(3, 0, 1))
    flag = bpy.context.object
    modifier = flag.modifiers.new("Simulated", kind)
    for frame in range(1, 9):
        stage.frame_set(frame)

    def shown():
        holder = flag.evaluated_get(bpy.context.evaluated_depsgraph_get())
        if kind == "PARTICLE_SYSTEM":
            parts = holder.particle_systems[0].particles
            return [tuple(each.location) for each in parts if each.alive_state == "ALIVE"]
        return [tuple(vertex.co) for vertex in holder.data.vertices]

    owner = modifier.particle_system if kind == "PARTICLE_SYSTEM" else modifier
    before, count = shown(), int(owner.point_cache.info.split()[0])
    part("jobs.bake").bake_now(stage)
    assert shown() == before and len(before) > 8 and count == 8
    assert int(owner.point_cache.info.split()[0]) >= count and not owner.point_cache.is_outdated
