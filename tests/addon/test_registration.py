"""Enabling the add-on imports nothing heavy; disabling leaves nothing behind."""

import json
import os
import re
from types import SimpleNamespace

import pytest

from .other_process import answer, run
from .undo_stage import RECIPES

SCRIPT = """
import importlib, json, os, sys
import bpy
before = set(sys.modules)
sys.modules["numpy"] = None  # Blender has imported it; whoever else does fails
sys.path[:0] = json.loads(os.environ["CONDYLE_TEST_PATH"])
package = importlib.import_module(os.environ["CONDYLE_TEST_PACKAGE"])
package.register()
lazy = importlib.import_module(f"{package.__name__}.blender.lazy")
new = sorted(name for name in set(sys.modules) - before if not lazy.is_waiting(sys.modules[name]))
package.unregister()
print("FOUND" + json.dumps(new))
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.small
def test_registering_imports_nothing_that_is_not_needed_then(condyle, tmp_path):
    """It has to take less than 50 ms of processor time, which is a claim: what is imported decides it."""
    if condyle.__name__ != "addon":
        pytest.skip("measured on the checkout; the installed extension is the same code")
    root = os.path.dirname(os.path.dirname(condyle.__file__))
    environment = {"CONDYLE_TEST_PATH": json.dumps([root]), "CONDYLE_TEST_PACKAGE": "addon"}
    new = set(answer(run(SCRIPT, tmp_path, **environment)))
    assert not {"numba", "scipy", "llvmlite", "physics"} & {name.split(".")[0] for name in new}
    ran = {".".join(name.split(".")[1:]) for name in new if name.count(".") > 1}
    at_once = ("blender.", "data.", "handlers.", "ui.")
    assert {name for name in ran if not name.startswith(at_once)} == {
        "jobs.operator",
        "making.chain_presets",
        "making.presets",
        "making.soft_presets",
    }
    assert "blender.units" not in ran and "data.frame_times" not in ran and "ui.overlay.drawing" not in ran


LEFTOVERS = """
import importlib, json, os, pathlib, sys
import bpy
sys.path[:0] = json.loads(os.environ["CONDYLE_TEST_PATH"])
name = os.environ["CONDYLE_TEST_PACKAGE"]
from traces import timers, traces

def enable():
    if name == "addon" or name in sys.modules:  # disabling would take the wheels away from the running tests as well
        package = importlib.import_module(name)
        package.register()
        return package
    import addon_utils
    return addon_utils.enable(name)

found, done = [traces()], []
for turn in range(3):
    package = enable()
    found.append(traces())
    if turn == 0 and name == "addon":
        importlib.import_module("tests.compute_process").share_kernels()
    client = importlib.import_module(f"{name}.blender.compute_process").client()
    client.submit("ping").wait(60)
    if turn == 0:
        from tests.addon import all_operators
        done = all_operators.run_all(name, pathlib.Path.cwd())
    migrations = importlib.import_module(f"{name}.handlers.file_load")
    migrations.on_undo()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    package.unregister()
    found.append(traces())
enabled = found.pop(1)
differ = [key for state in (*found[1::2],) for key in state if state[key] != found[0][key]]
lines = [f"{key}: {sorted(set(map(str, found[0][key])) ^ set(map(str, found[1][key])))}" for key in differ]
if "properties" in differ:
    lines += [f"{n}: {set(v) ^ set(found[1]['properties'][n])}" for n, v in found[0]["properties"].items()
              if v != found[1]["properties"][n]]
seen = [key for key in enabled if enabled[key] != found[0][key]]
print("FOUND" + json.dumps({"left": lines, "seen": seen, "timers": timers(name), "done": done}))
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.small
def test_unregister_leaves_nothing_behind_however_often(condyle, tmp_path):
    root = os.path.dirname(os.path.dirname(condyle.__file__))
    path = [os.path.dirname(__file__), os.path.dirname(os.path.dirname(os.path.dirname(__file__)))]
    path += [root] if condyle.__name__ == "addon" else []
    environment = {"CONDYLE_TEST_PATH": json.dumps(path), "CONDYLE_TEST_PACKAGE": condyle.__name__}
    found = answer(run(LEFTOVERS, tmp_path, check=False, **environment))
    assert found["left"] == [] and found["timers"] == []
    assert found["done"] == list(RECIPES)  # every operator was at work and undone before
    # what is looked at is what the add-on changes while it is enabled
    assert {"handlers", "types", "properties", "operators", "draw"} <= set(found["seen"])


ANEW = """
import os, sys
sys.path.insert(0, os.environ["CONDYLE_TEST_ROOT"])
import bpy
for _ in range(2):
    import addon
    addon.register()
    bpy.ops.condyle.demo_knee()
    made = len(bpy.data.objects)
    addon.unregister()
    for name in [each for each in sys.modules if each.partition(".")[0] == "addon"]:
        del sys.modules[name]  # as Blender does where an extension is installed anew
print("FOUND", made)
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.small
def test_the_add_on_can_be_installed_anew(condyle, tmp_path):
    if condyle.__name__ != "addon":
        pytest.skip("on the checkout; the installed extension is the same code")
    root = os.path.dirname(os.path.dirname(condyle.__file__))
    output = run(ANEW, tmp_path, CONDYLE_TEST_ROOT=root)
    assert "FOUND" in output.stdout and "Traceback" not in output.stderr


def test_nothing_subscribes_to_blenders_message_bus_or_names_drivers(condyle):
    """Neither could be seen to be left behind."""
    from pathlib import Path

    folder = Path(condyle.__file__).parent
    for path in folder.rglob("*.py"):
        if "physics" not in path.relative_to(folder).parts:
            text = path.read_text("utf-8")
            assert "msgbus" not in text and "driver_namespace" not in text, path


@pytest.mark.small
def test_blenders_own_process_stays_unjitted_and_without_scipy(part, condyle, tmp_path):
    """Reading, fitting and baking import physics here, but neither numba nor scipy."""
    if condyle.__name__ != "addon":
        pytest.skip("on the checkout; the installed extension is the same code")
    root = os.path.dirname(os.path.dirname(condyle.__file__))
    script = (
        f"import sys, os; sys.path.insert(0, {root!r}); import bpy, addon; addon.register()\n"
        "from addon.blender import lazy, physics_access\n"
        "[lazy.run(each) for each in list(sys.modules.values())]\n"
        "ph = physics_access.physics(); physics_access.part('worker.requests')\n"
        "ph.joints.Hinge().transform([[0.5]]); ph.fitting\n"
        "print('FOUND', sorted({'numba', 'scipy', 'llvmlite'} & set(sys.modules)), os.environ.get('CONDYLE_JIT'))\n"
        "sys.stdout.flush(); os._exit(0)\n"
    )
    assert "FOUND [] None" in run(script, tmp_path).stdout


def test_the_package_reaches_physics_from_one_place_only(condyle):
    """Only physics_access imports physics; nothing touches our properties as if they were a dictionary."""
    from pathlib import Path

    folder = Path(condyle.__file__).parent
    for path in folder.rglob("*.py"):
        if "physics" in path.relative_to(folder).parts:
            continue
        text = path.read_text("utf-8")
        if path.name != "physics_access.py":
            assert not re.search(r"^ *(import|from) (physics\b|\.+physics\b[^_])", text, re.MULTILINE), path
        assert '["condyle"]' not in text and '.get("condyle")' not in text, path
        assert len(text.splitlines()) <= 400, path


def test_groups_are_found_where_annotations_are_evaluated_late(part, monkeypatch):
    """From Python 3.14 on they are no longer among a class's own variables, and a scene's data could not register."""
    registration, group = part("registration"), part("data.starting").StartProperties

    class Owner:
        pass

    late = {Owner: {"start": SimpleNamespace(keywords={"type": group})}}
    monkeypatch.setattr(registration, "get_annotations", lambda owner: late.get(owner, {}))
    assert list(registration._groups(Owner)) == [group]
