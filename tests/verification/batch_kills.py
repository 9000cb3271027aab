"""A batch that is killed repeatedly, compared with an undisturbed one. Needs bpy and the registered add-on.

Shots are small and simulated unjitted, so that a run is short compared with the interval before a kill. Every kill ends
the whole process group, as a scheduler or a power cut would. Once all shots are done, the next round starts with empty
outputs.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bpy
import numpy as np

from tests.addon.bake_digests import file_digest

ROOT = Path(__file__).parents[2]
SHOTS, KILLS, AT_ONCE = 20, 50, 2
ON: list[str] = []  # options that name a cluster
FRAMES = 8
REACH = 1.15  # kills happen within this many times the duration of a run's first shots


def batch_kills() -> dict[str, float]:
    """Number of kills and rounds, and their effects: changed inputs, incomplete outputs, animation that differs from
    the undisturbed run's, leftover files."""
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory(prefix="condyle-kills-") as temporary:
        folder = Path(temporary)
        inputs = _make_shots(folder / "inputs")
        before = {path: path.read_bytes() for path in inputs}
        seconds = _run(folder, "calm")
        expected = {path.name: _animation(folder / "calm" / path.name) for path in inputs}
        reach = REACH * _first_shots(folder)
        found = {"kills": 0, "rounds": 0, "inputs changed": 0, "outputs broken": 0, "animation differs": 0}
        found |= {"left over": 0, "seconds of the calm run": seconds, "seconds of a kill at most": reach}
        while found["kills"] < KILLS:
            killed, broken = _round(folder, expected, KILLS - int(found["kills"]), reach, random)
            found["kills"] += killed
            found["outputs broken"] += broken
            found["rounds"] += 1
            _run(folder, "killed")
            results = {path.name: _animation(path) for path in (folder / "killed").glob("*.blend")}
            found["animation differs"] += sum(
                results.get(name) != wanted for name, wanted in expected.items()
            )
            names = {path.name for path in (folder / "killed").iterdir()}
            found["left over"] += len(names - {*expected, *(f"{name}.condyle.json" for name in expected)})
            shutil.rmtree(folder / "killed")
        found["inputs changed"] = sum(path.read_bytes() != data for path, data in before.items())
        return found


def _make_shots(folder: Path) -> list[Path]:
    """Pendulums with different initial speeds."""
    from addon.data.references import Body
    from addon.making.bodies_and_joints import add_joint
    from tests.addon import conftest as make

    folder.mkdir()
    paths = []
    for number in range(SHOTS):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        scene = bpy.context.scene
        scene.frame_end = FRAMES
        scene.condyle.simulation.time_step = 0.01
        upper, lower = make.box("A", (0, 0, 1)), make.box("B")
        make.update()
        joint = add_joint(scene, Body(upper), Body(lower), "hinge")
        joint.condyle.joint.coordinates[0].start_speed = 1.0 + 0.1 * number
        paths.append(folder / f"shot {number:02}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=str(paths[-1]), copy=True)
    return paths


def _start(folder: Path, out: str) -> subprocess.Popen[bytes]:
    """A batch in its own process group."""
    line = [sys.executable, "-m", "addon", "batch", str(folder / "inputs"), "--out", str(folder / out)]
    line += ["--at-once", str(AT_ONCE), "--quiet", *ON]
    return subprocess.Popen(
        line,
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _run(folder: Path, out: str) -> float:
    """Run a batch to its end; returns seconds."""
    began = time.monotonic()
    code = _start(folder, out).wait()
    if code:
        raise RuntimeError(f"the batch ended with exit code {code}")
    return time.monotonic() - began


def _first_shots(folder: Path) -> float:
    """Seconds until the first shots of a run are complete."""
    began = time.monotonic()
    process = _start(folder, "first")
    while len(list((folder / "first").glob("*.blend"))) < AT_ONCE and process.poll() is None:
        time.sleep(0.01)
    _kill(process)
    return time.monotonic() - began


def _round(
    folder: Path, expected: dict[str, str], most: int, reach: float, random: np.random.Generator
) -> tuple[int, int]:
    """Kill runs until all shots are done, or ``most`` times; returns the kills, and the incomplete outputs."""
    killed = broken = 0
    seen: dict[Path, int] = {}
    while killed < most:
        process = _start(folder, "killed")
        try:
            process.wait(random.uniform(0.0, reach))
            return killed, broken
        except subprocess.TimeoutExpired:
            _kill(process)
        killed += 1
        for path in (folder / "killed").glob("[!.]*.blend"):
            if seen.get(path) != path.stat().st_mtime_ns:
                seen[path] = path.stat().st_mtime_ns
                broken += _animation(path) != expected[path.name]
    return killed, broken


def _kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _animation(path: Path) -> str:
    """All animation of a file; a distinct text if it cannot be read."""
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    except RuntimeError as error:
        return f"cannot be read: {error}"
    return repr(file_digest())
