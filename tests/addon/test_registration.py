"""Enabling the add-on is quick and imports nothing heavy; disabling leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

bpy = pytest.importorskip("bpy")

SCRIPT = """
import importlib, json, os, sys, time
import bpy
before = set(sys.modules)
sys.path[:0] = json.loads(os.environ["CONDYLE_TEST_PATH"])
handlers = len(bpy.app.handlers.load_post)
started = time.process_time()
package = importlib.import_module(os.environ["CONDYLE_TEST_PACKAGE"])
package.register()
seconds = time.process_time() - started
new = sorted({name.split(".")[0] for name in set(sys.modules) - before})
for _ in range(2):
    package.unregister()
    gone = not hasattr(bpy.types.Object, "condyle") and not hasattr(bpy.types, "CONDYLE_PT_bake")
    gone = gone and len(bpy.app.handlers.load_post) == handlers
    package.register()
package.unregister()
print("FOUND" + json.dumps({"seconds": seconds, "new": new, "gone": gone}))
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.small
def test_register_is_quick_and_light_and_leaves_nothing(condyle, tmp_path):
    if condyle.__name__ != "addon":
        pytest.skip("measured on the checkout; the installed extension is the same code")
    root = os.path.dirname(os.path.dirname(condyle.__file__))
    environment = {**os.environ, "CONDYLE_TEST_PATH": json.dumps([root]), "CONDYLE_TEST_PACKAGE": "addon"}
    # as in Blender, compiled code is kept from the first time on
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}
    best = None
    for _ in range(2):  # processor time, the better of two: another process may hold the machine
        command = [sys.executable, "-c", SCRIPT]
        output = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True
        )
        line = next(line for line in output.stdout.splitlines() if line.startswith("FOUND"))
        found = json.loads(line.removeprefix("FOUND"))
        best = found if best is None or found["seconds"] < best["seconds"] else best
    assert best["seconds"] < 0.05
    assert not {"numba", "scipy", "llvmlite", "physics", "numpy"} & set(best["new"])
    assert best["gone"]


@pytest.mark.small
def test_blenders_own_process_stays_unjitted_and_without_scipy(part, condyle, tmp_path):
    """Reading, fitting and baking import physics here, but neither numba nor scipy."""
    if condyle.__name__ != "addon":
        pytest.skip("on the checkout; the installed extension is the same code")
    root = os.path.dirname(os.path.dirname(condyle.__file__))
    script = (
        f"import sys, os; sys.path.insert(0, {root!r}); import bpy, addon; addon.register()\n"
        "from addon import authoring, core, drive, tasks, scene_to_model, transforms, worker_client\n"
        "ph = core.physics(); core.part('worker.requests'); ph.joints.Hinge().transform([[0.5]]); ph.fitting\n"
        "print('FOUND', sorted({'numba', 'scipy', 'llvmlite'} & set(sys.modules)), os.environ.get('CONDYLE_JIT'))\n"
        "sys.stdout.flush(); os._exit(0)\n"
    )
    command = [sys.executable, "-c", script]
    output = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "FOUND [] None" in output.stdout


def test_the_package_reaches_physics_from_one_place_only(condyle):
    """Only core.py imports physics; nothing touches our properties as if they were a dictionary."""
    from pathlib import Path

    folder = Path(condyle.__file__).parent
    for path in folder.rglob("*.py"):
        if "physics" in path.relative_to(folder).parts:
            continue
        text = path.read_text("utf-8")
        if path.name != "core.py":
            assert "import physics" not in text and "from .physics" not in text, path
        assert '["condyle"]' not in text and '.get("condyle")' not in text, path
        assert len(text.splitlines()) <= 400, path
