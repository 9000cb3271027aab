"""The batch as a command: whole runs of it, what is told before anything starts, and children that are left alone."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import pytest

from .test_batch import names


@pytest.fixture
def command(condyle):
    """Run ``python -m addon batch`` in a fresh process, unjitted: small shots do not wait for a compiler."""
    if condyle.__name__ != "addon":
        pytest.skip("the installed extension is called inside Blender (blender --command condyle)")
    root = Path(condyle.__file__).parents[1]

    def run(*arguments):
        line = [sys.executable, "-m", "addon", "batch", *map(str, arguments)]
        environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
        return subprocess.run(
            line, capture_output=True, text=True, encoding="utf-8", cwd=root, env=environment, timeout=600
        )

    return run


@pytest.fixture
def hinge_file(part, scene, make, body, tmp_path):
    """A saved pendulum on a hinge named Knee."""
    a, b = make.box("A", (0, 0, 1)), make.box("B")
    part("making.bodies_and_joints").add_joint(scene, body(a), body(b), "hinge", name="Knee")
    scene.frame_end = 4
    path = tmp_path / "größere knees" / "shot 1.blend"
    path.parent.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return path


def test_a_batch_bakes_with_the_settings_of_its_jobs(command, hinge_file, tmp_path):
    jobs, report = tmp_path / "jobs.toml", tmp_path / "report.json"
    (tmp_path / "cut.blend").write_bytes(hinge_file.read_bytes()[:2000])
    before = hashlib.sha256(hinge_file.read_bytes()).digest()
    jobs.write_text(
        """
        format = "condyle-jobs"
        version = 1
        defaults = { out = "baked", simulation = { time_step = 0.005 } }
        [[jobs]]
        input = "größere knees/shot 1.blend"
        frames = [3, 12]
        joints.Knee.coordinates.angle.start_speed = 2.0
        [[jobs]]
        input = "cut.blend"
        [[jobs]]
        input = "größere knees/shot 1.blend"
        out = "nobody.blend"
        joints.Elbow.coordinates.1.start = 2.0
        [[jobs]]
        name = "still"
        input = "größere knees/shot 1.blend"
        out = "baked/still.blend"
        """,
        "utf-8",
    )
    done = command(jobs, "--report", report)
    assert done.returncode == 1, done.stderr
    told = {each["output"]: each for each in json.loads(report.read_text("utf-8"))["shots"]}
    baked, cut, nobody, still = told.values()
    (warning,) = still["warnings"]
    assert still["codes"] == ["no-motion-balance"] and "Knee" in warning
    assert f"still: {warning}" in done.stderr and not baked["warnings"]
    assert (baked["state"], baked["scenes"][0]["frames"]) == ("baked", 10)
    assert cut["state"] == "failed" and f"{cut['input']} cannot be read: " in cut["note"]
    assert cut["note"].count("cut.blend") == 1  # Blender's reason is not lost behind names
    assert "cannot be read: " in done.stdout and str(tmp_path) not in done.stdout
    assert nobody["state"] == "failed" and "has no joint 'Elbow'; it has Knee" in nobody["note"]
    assert "2 baked, 2 failed" in done.stdout
    assert hashlib.sha256(hinge_file.read_bytes()).digest() == before
    written = [f"{name}.blend{end}" for name in ("shot 1", "still") for end in ("", ".condyle.json")]
    assert names(tmp_path / "baked") == written
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked/shot 1.blend"))
    settings = bpy.context.scene.condyle.simulation
    assert (settings.frame_start, settings.frame_end) == (3, 12)
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (3, 12)
    assert abs(settings.time_step - 0.005) < 1e-9
    assert bpy.data.objects["Knee"].condyle.joint.coordinates[0].start_speed == 2.0
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def test_a_dry_run_tells_what_would_stop_a_bake(command, hinge_file, tmp_path):
    bpy.data.scenes.new("Bare")
    bpy.ops.wm.save_as_mainfile(filepath=str(hinge_file), copy=True)
    jobs, report = tmp_path / "jobs.toml", tmp_path / "report.json"
    line = '[[jobs]]\ninput = "größere knees/shot 1.blend"\n'
    by_hand = 'bodies.B = { mass_source = "MANUAL", mass = 0.0, inertia_diagonal = [1.0, 1.0, 5.0] }\n'
    joint = 'joints.Knee.coordinates.1 = { stiffness = 1.0, rest = 9.0, limits = "CUSTOM", lower = -1.0, upper = 1.0 }'
    jobs.write_text(
        f"""
        format = "condyle-jobs"
        version = 1
        {line} name = "bare"
        out = "out/bare.blend"
        scene = "Bare"
        {line} name = "weightless"
        out = "out/weightless.blend"
        {by_hand}
        {line} name = "round"
        out = "out/round.blend"
        start = {{ loop = true, preroll = 5 }}
        {line} name = "sound"
        out = "out/sound.blend"
        {joint}
        """,
        "utf-8",
    )
    done = command(jobs, "--dry-run", "--report", report)
    assert done.returncode == 1, done.stderr
    shots = {each["name"]: each for each in json.loads(report.read_text("utf-8"))["shots"]}
    assert {name: each["state"] for name, each in shots.items()} == {
        "bare": "failed",
        "weightless": "failed",
        "round": "failed",
        "sound": "to bake",
    }
    assert "Bare" in shots["bare"]["note"] and "mass" in shots["weightless"]["note"]
    assert "set Pre-Roll to 0" in shots["round"]["note"]
    (warning,) = shots["sound"]["warnings"]
    assert shots["sound"]["codes"] == ["rest-outside-limits"] and f"sound: {warning}" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.toml",), "no such file or folder: nowhere.toml"),
        (("IN", "--out", "OUT", "--at-once", "0"), "--at-once 0"),
        (
            ("IN", "--out", "OUT", "--set", "simulation.tme_step=1"),
            "'simulation.tme_step' (did you mean 'time_step'?)",
        ),
        (("IN", "--out", "OUT", "--set", "timestep=1"), "unknown key 'timestep'"),
        (("IN", "--out", "OUT", "--report", "/no/where.json"), "no such folder: /no"),
        (("IN", "--out", "OUT", "--report", "IN"), "this file cannot be written"),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(command, hinge_file, tmp_path, arguments, message):
    names = {"IN": hinge_file.parent, "OUT": tmp_path / "out"}
    done = command(*(names.get(argument, argument) for argument in arguments))
    assert done.returncode == 2 and message in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_child_ends_when_its_parent_is_gone(condyle, hinge_file, tmp_path):
    if condyle.__name__ != "addon":
        pytest.skip("the installed extension is called inside Blender (blender --command condyle)")
    shot = json.dumps(["bake", str(hinge_file), "--out", str(tmp_path / "out.blend")])
    child = subprocess.run(
        [sys.executable, "-m", "addon", "shots"],
        input=f"{shot}\n".encode(),  # it is at its end while the child imports Blender
        cwd=Path(condyle.__file__).parents[1],
        timeout=600,
    )
    assert child.returncode == 130
    assert not (tmp_path / "out.blend").exists()


def test_a_job_without_a_name_whose_file_s_name_fits_on_no_line_is_told_so(part, ph, tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text(
        'format = "condyle-jobs"\nversion = 1\n[[jobs]]\ninput = "shot\\n1.blend"\nout = "out"', "utf-8"
    )
    words = r"job 1: the file name 'shot\\n1.blend' has characters that cannot be printed: rename the file, or give"
    with pytest.raises(ph.FormatError, match=words):
        part("batch.job_file").read(path, {}, None, False)


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals of Unix")
@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("to_all", [False, True])
def test_an_end_from_outside_is_told_as_ctrl_c_is(condyle, hinge_file, tmp_path, how, to_all):
    """It ended without a word, and its report was that of the run before, or none. A scheduler sends the signal to all
    processes of a job, a terminal that is closed to all that it runs: one may come to the child first, which had
    crashed then by what was told.
    """
    process, report = begun(condyle, hinge_file, tmp_path)
    number = getattr(signal, how)
    if to_all:
        tasks = Path(f"/proc/{process.pid}/task")
        if not tasks.is_dir():
            pytest.skip("finds a process's children as Linux tells them")
        while not (found := [pid for each in tasks.glob("*/children") for pid in each.read_text().split()]):
            time.sleep(0.01)
        for pid in found:
            os.kill(int(pid), number)
        time.sleep(0.1)
    process.send_signal(number)
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 130 and "1 interrupted" in output
    assert json.loads(report.read_text("utf-8"))["counts"] == {"interrupted": 1}
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="closes a terminal of Unix")
def test_a_batch_whose_terminal_is_closed_leaves_its_report(condyle, hinge_file, tmp_path):
    """Lines for a terminal that is gone are lost, and nothing else."""
    ours, theirs = os.openpty()
    process, report = begun(condyle, hinge_file, tmp_path, terminal=theirs)
    os.close(theirs)
    os.close(ours)
    os.killpg(process.pid, signal.SIGHUP)
    assert process.wait(timeout=600) == 130
    assert json.loads(report.read_text("utf-8"))["counts"] == {"interrupted": 1}


def begun(condyle, hinge_file, tmp_path, terminal=subprocess.PIPE):
    """A batch of one shot that has begun, in a group of processes of its own; and its report."""
    if condyle.__name__ != "addon":
        pytest.skip("the installed extension is called inside Blender (blender --command condyle)")
    report = tmp_path / "report.json"
    report.write_text("of a run before", "utf-8")
    line = [sys.executable, "-m", "addon", "batch", str(hinge_file.parent), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [*line, "--report", str(report)],
        stdout=terminal,
        stderr=None if terminal == subprocess.PIPE else terminal,
        text=True,
        cwd=Path(condyle.__file__).parents[1],
        start_new_session=True,
        # whoever started the tests may ignore it (nohup), and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    while report.read_text("utf-8").startswith("of a run before"):  # until its child has begun
        time.sleep(0.01)
    return process, report
