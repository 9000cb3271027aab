"""Claims about the Blender side: times. Each is measured in its own process with bpy."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from .claim import Measurement, Skipped, claim

ROOT = Path(__file__).parents[2]
MARK = "FIGURE "  # begins the line with the figure in Blender's output


def figures(name: str, **environment: str) -> dict[str, float]:
    """The output of `blender_figures` for a figure.

    Raises:
        Skipped: bpy is not installed.
        RuntimeError: the process failed; the message ends with its output.
    """
    if importlib.util.find_spec("bpy") is None:
        raise Skipped("bpy, Blender as a Python module, is not installed")
    with tempfile.TemporaryDirectory(prefix="condyle-blender-") as resources:
        child = subprocess.run(
            [sys.executable, "-m", "tests.verification.blender_figures", name],
            cwd=ROOT,
            env=os.environ | {"BLENDER_USER_RESOURCES": resources} | environment,
            capture_output=True,
            text=True,
        )
    for line in child.stdout.splitlines():
        if line.startswith(MARK):
            return dict(json.loads(line.removeprefix(MARK)))
    raise RuntimeError(f"{name} in Blender failed: {child.stderr.strip()[-400:]}")


@claim("addon.register", unit="s", at_most=0.05)
def register() -> float:
    """Processor time of importing and registering the add-on, with its bytecode cached, as in Blender."""
    with tempfile.TemporaryDirectory(prefix="condyle-compiled-") as compiled:
        kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
        return 1e-3 * min(figures("register", **kept)["ms"] for _ in range(3))


@cache
def first_bakes() -> tuple[dict[str, float], dict[str, float]]:
    """Fit and bake with an empty cache of kernels, then with the filled one."""
    with tempfile.TemporaryDirectory(prefix="condyle-cache-") as folder:
        return tuple(figures("first_bake", CONDYLE_CACHE_DIR=folder) for _ in range(2))


@claim("addon.first_bake_cold", unit="s", at_most=60.0, cost="slow")
def first_bake_cold() -> Measurement:
    """Wall-clock time of the first fit and bake of a keyed knee, kernels not compiled yet."""
    return Measurement(first_bakes()[0]["fit and bake"], first_bakes()[0])


@claim("addon.first_bake_warm", unit="s", at_most=3.0, cost="slow")
def first_bake_warm() -> Measurement:
    """Wall-clock time of the first fit and bake of a keyed knee, kernels already compiled."""
    return Measurement(first_bakes()[1]["fit and bake"], first_bakes()[1])


@cache
def large_bake() -> dict[str, float]:
    """Seconds of a bake of 50 bones."""
    return figures("bake_writing")


@claim("addon.bake_writing", unit="s", at_most=0.3, cost="slow")
def bake_writing() -> Measurement:
    """Processor time of writing a bake of 50 bones x 1000 frames to an action, least of 3."""
    return Measurement(large_bake()["write"], large_bake())


@claim("addon.bake_beside_simulation", unit="s", at_most=1.5, cost="slow")
def bake_beside_simulation() -> Measurement:
    """Processor time of Blender's process for a whole bake of 50 bones x 1000 frames: reading, waiting, writing."""
    return Measurement(large_bake()["beside the simulation"], large_bake())
