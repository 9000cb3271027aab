"""The command line: exit codes, the untouched input, the whole output."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np
import pytest

ADD_ON = [sys.executable, "-m", "tests.compute_process", "addon"]


@pytest.fixture
def command(condyle):
    """Run ``python -m addon`` in a fresh process, with the kernels that the tests compiled."""
    if condyle.__name__ != "addon":
        pytest.skip("the installed extension is called inside Blender (blender --command condyle)")
    root = Path(condyle.__file__).parents[1]

    def run(*arguments):
        line = [*ADD_ON, *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, cwd=root, timeout=600)

    run.root = root
    return run


@pytest.fixture
def knee_file(scene, make, body, authoring, tmp_path):
    """A saved knee that asks to be fitted, and for a key every other frame."""
    thigh, shank = make.keyed_knee()
    joint = authoring.add_joint(scene, body(thigh), body(shank), name="Knee")
    joint.condyle.joint.fit.requested = True
    joint.condyle.joint.coordinates[0].start = 1.0
    scene.condyle.simulation.output.every = 2
    path = tmp_path / "knee.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return path


@pytest.mark.small
def test_bake_reads_fits_simulates_and_writes(command, knee_file, tmp_path):
    out, before = tmp_path / "out.blend", hashlib.sha256(knee_file.read_bytes()).digest()
    done = command("bake", knee_file, "--out", out, "--log-json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [events[0]["event"], events[1]["event"], events[-2]["event"]] == ["opened", "start", "done"]
    assert events[-2]["frames"] == 49 and events[-2]["bodies"] == 1
    told = [event["text"] for event in events if event["event"] == "message"]
    assert any("fit Knee: 13 poses" in text for text in told) and any("keys kept" in text for text in told)
    assert hashlib.sha256(knee_file.read_bytes()).digest() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["knee.blend", "out.blend"]
    bpy.ops.wm.open_mainfile(filepath=str(out))
    shank, places = bpy.data.objects["Shank"], []
    for frame in (1, 10, 20):
        bpy.context.scene.frame_set(frame)
        places.append(np.array(shank.matrix_world)[:3, 3])
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).min() > 0.01
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def test_quiet_says_nothing_and_no_terminal_gets_no_bar(command, knee_file, tmp_path):
    done = command("bake", knee_file, "--out", tmp_path / "out.blend", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = command("bake", knee_file, "--out", tmp_path / "out.blend")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


USAGE = [
    (("bake", "IN"), 2, "--out"),
    (("fly", "IN", "--out", "OUT"), 2, "invalid choice"),
    (("bake", "nowhere.blend", "--out", "OUT"), 2, "no such file: nowhere.blend"),
    (("bake", "IN", "--out", "IN"), 2, "must not be the input"),
    (("bake", "IN", "--out", "out.png"), 2, "must be a .blend file"),
    (("bake", "IN", "--out", "OUT", "--scene", "Leg"), 2, "has no scene 'Leg'"),
    (("bake", "IN", "--check", "--scene", "Leg"), 2, "has no scene 'Leg'"),
    (("bake", "IN", "--out", "OUT", "--frames", "9", "1"), 2, "empty or reversed: from 9 to 1"),
    (
        ("bake", "IN", "--out", "OUT", "--frames", "1", "99999999999"),
        2,
        "frame 99999999999: must be from -1048574 to 1048574",
    ),
    (("bake", "IN", "--out", "OUT", "--set", "simulation.gravity=9.81"), 2, "must be a list of 3"),
    (("bake", "IN", "--out", "OUT", "--set", "joints.Hip.prescribed=true"), 2, "no joint 'Hip'; it has Knee"),
    (("bake", "IN", "--check", "--set", "joints.Knee.prescribed=true"), 0, ""),
]

# What `python -m addon` does, line by line in one process: each alone would wait for Blender to start.
LINES = """
import json, os, sys
from addon.__main__ import run
for line in json.loads(sys.argv[1]):
    sys.argv[1:] = line
    code = run()
    print("ended with", code, file=sys.stderr, flush=True)
os._exit(0)
"""


def test_usage(command, knee_file, tmp_path):
    names = {"IN": str(knee_file), "OUT": str(tmp_path / "out.blend")}
    lines = [[names.get(argument, argument) for argument in arguments] for arguments, _, _ in USAGE]
    program = [sys.executable, "-c", LINES, json.dumps(lines)]
    done = subprocess.run(program, capture_output=True, text=True, cwd=command.root, timeout=600)
    told, said = [], ""
    for line in done.stderr.splitlines():
        if line.startswith("ended with "):
            told.append((int(line.split()[-1]), said))
            said = ""
        else:
            said += line + "\n"
    assert len(told) == len(USAGE), done.stderr
    for (arguments, code, message), (ended, text) in zip(USAGE, told):
        assert ended == code and message in text, (arguments, ended, text)
    assert not (tmp_path / "out.blend").exists()


def test_a_shot_is_simulated_and_applied(command, knee_file, tmp_path):
    shot, result, out = (tmp_path / name for name in ("shot", "result.npz", "out.blend"))
    assert command("shot", knee_file, "--out", shot).returncode == 0
    assert command("bake", shot, "--out", out).returncode == 2 and not out.exists()
    assert command("bake", shot, "--frames", 1, 5, "--out", result).returncode == 2
    assert command("bake", shot, "--out", result, "--log-json").returncode == 0
    done = command("bake", knee_file, "--apply", result, "--out", out, "--log-json")
    assert done.returncode == 0 and out.exists(), done.stderr
    (told,) = (line for line in map(json.loads, done.stdout.splitlines()) if line["event"] == "done")
    assert (told["frames"], told["bodies"]) == (49, 1)


def test_inside_blender_the_usage_names_blenders_command(part, capsys):
    assert part("registration").run_command(["bake", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: blender --command condyle bake ")


def test_a_scene_that_fails(command, scene, make, tmp_path):
    broken = tmp_path / "broken.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(broken), copy=True)
    done = command("bake", broken, "--out", tmp_path / "out.blend")
    assert done.returncode == 1 and "nothing to simulate" in done.stderr
    broken.write_bytes(broken.read_bytes()[:1000])
    done = command("bake", broken, "--out", tmp_path / "out.blend", "--log-json")
    assert done.returncode == 1 and "cannot be read" in done.stdout
    assert not (tmp_path / "out.blend").exists()


def test_a_check_tells_all_that_would_stop_a_bake(command, part, scene, make, body, knee_file, tmp_path):
    """Of every scene; what is to be fitted is fitted for it."""
    a, b, c = make.box("A", (0, 0, 1)), make.box("B"), make.box("C", (0, 0, -1))
    for name, parent, child in (("Hip", a, b), ("Ankle", b, c)):
        part("making.bodies_and_joints").add_joint(scene, body(parent), body(child), "hinge", name=name)
        child.condyle.body.mass_source, child.condyle.body.mass = "MANUAL", 0.0
    second = bpy.data.scenes.new("Take 2")
    for item in list(scene.objects):
        second.collection.objects.link(item)
    path = tmp_path / "weightless.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    done = command("bake", path, "--check")
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(told) == 4 and all("mass" in line for line in told)
    assert ["B" in line for line in told] == [True, False, True, False]
    done = command("bake", knee_file, "--check", "--log-json")
    assert done.returncode == 0, done.stdout
    assert "Scene can be baked" in done.stdout
    bpy.ops.wm.open_mainfile(filepath=str(knee_file))
    bpy.data.objects["Shank"].animation_data_clear()
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    done = command("bake", path, "--check")
    assert done.returncode == 1 and "Shank has no keyframes" in done.stderr
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def test_a_simulation_that_diverges(command, part, scene, make, body, tmp_path):
    a, b = make.box("A", (0, 0, 1)), make.box("B")
    joint = part("making.bodies_and_joints").add_joint(scene, body(a), body(b), "hinge")
    joint.condyle.joint.coordinates[0].damping = 1e9  # an explicit step of 1 ms cannot hold it
    joint.condyle.joint.coordinates[0].start_speed = 1.0
    scene.frame_end = 48
    path = tmp_path / "stiff.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    done = command("bake", path, "--out", tmp_path / "out.blend")
    assert done.returncode == 3 and "B" in done.stderr
    assert not (tmp_path / "out.blend").exists()


def test_a_doubtful_simulation_fails_where_asked(command, scene, make, body, authoring, tmp_path):
    """A pendulum in steps of half a second: baked and written, alone and in a batch, which remembers it."""
    frame = np.eye(4)
    frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    frame[2, 3] = 0.2
    joint = authoring.add_joint(scene, None, body(make.box("Arm")), "hinge", frame, name="Hip")
    joint.condyle.joint.coordinates[0].start = 1.2
    scene.frame_end, scene.condyle.simulation.time_step = 240, 0.5
    path, out = tmp_path / "shots" / "long.blend", tmp_path / "out.blend"
    path.parent.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    done = command("bake", path, "--out", out, "--fail-on-diagnosis")
    assert done.returncode == 4 and out.exists(), done.stderr
    out.unlink()
    line = ["batch", path.parent, "--out", tmp_path / "baked"]
    assert [command(*line, *more).returncode for more in ([], ["--fail-on-diagnosis"])] == [0, 4]


@pytest.mark.skipif(sys.platform == "win32", reason="has other pipes")
@pytest.mark.parametrize("log", ["--log-json", "--set=simulation.time_step=0.002"])
def test_a_bake_goes_on_where_nobody_reads_its_log_any_more(command, knee_file, tmp_path, log):
    """As behind ``| head``: it ended with two traces and wrote nothing."""
    out = tmp_path / "out.blend"
    line = [*ADD_ON, "bake", str(knee_file), "--out", str(out), log]
    read, write = os.pipe()
    process = subprocess.Popen(line, cwd=command.root, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    if log == "--log-json":
        assert b'"opened"' in os.read(read, 1000)
    os.close(read)
    _, told = process.communicate(timeout=600)
    assert process.returncode == 0 and "Traceback" not in told and "Errno" not in told
    assert out.is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="has no FIFOs")
def test_what_is_no_plain_file_is_refused(command, tmp_path):
    pipe = tmp_path / "pipe.blend"
    os.mkfifo(pipe)
    done = command("bake", pipe, "--check")
    assert done.returncode == 2 and f"{pipe} is not a regular file" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_interrupting_leaves_no_file(command, part, scene, make, knee_file, tmp_path):
    out = tmp_path / "out.blend"
    line = [sys.executable, "-m", "addon", "bake", str(knee_file), "--out", str(out), "--log-json"]
    environment = {
        **os.environ,
        "CONDYLE_CACHE_DIR": str(tmp_path / "cache"),
    }  # compiling gives time to interrupt
    process = subprocess.Popen(
        line, cwd=command.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while '"progress"' not in process.stdout.readline():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 130 and "interrupted" in output
    assert not out.exists() and sorted(path.suffix for path in tmp_path.iterdir() if path.is_file()) == [
        ".blend"
    ]


@pytest.mark.small
def test_the_command_inside_blender_is_the_same(part, knee_file, tmp_path, capfd):
    """What ``blender --command condyle`` calls: the running Blender opens, bakes and writes."""
    out = tmp_path / "out.blend"
    assert part("registration").run_command(["bake", str(knee_file), "--out", str(out), "--quiet"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert part("baked.temporarily").is_baked(bpy.data.objects["Shank"])
    assert part("registration").run_command(["bake", str(knee_file)]) == 2
    assert "--out" in capfd.readouterr().err
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
