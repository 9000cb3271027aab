"""What must hold of an installed extension beside what holds of the add-on anyway."""

import importlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.small

USER_FOLDER = Path(os.environ["BLENDER_USER_RESOURCES"])

ENABLE = """
import os, sys, bpy, addon_utils
before = set(sys.modules)
module = addon_utils.enable({module!r})
new = {{name.split(".")[0] for name in set(sys.modules) - before}}
heavy = sorted(new & {{"numba", "llvmlite", "scipy"}})
if module is not None:  # disabling would take the wheels away from the running tests as well
    module.unregister()
print("RESULT", module is not None, ",".join(heavy), flush=True)
os._exit(0)  # 4.2 crashes where the interpreter takes down property callbacks, even after unregistering
"""


def zip_names() -> list[str]:
    with zipfile.ZipFile(os.environ["CONDYLE_INSTALLED_ZIP"]) as archive:
        return archive.namelist()


def test_a_foreign_module_named_physics_is_never_met(condyle: ModuleType, ph: ModuleType) -> None:
    foreign = importlib.import_module("physics")
    assert foreign.IS_FOREIGN
    assert ph.__name__ == f"{condyle.__name__}.physics"
    assert ph.__file__ is not None and USER_FOLDER in Path(ph.__file__).parents


def test_everything_of_the_zip_is_installed_and_nothing_else(condyle: ModuleType) -> None:
    assert condyle.__file__ is not None
    folder = Path(condyle.__file__).parent
    installed = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    installed = {name for name in installed if "__pycache__" not in name}
    assert installed == set(zip_names())


def test_wheels_of_the_zip_are_found_and_numpy_is_blenders_own(condyle: ModuleType) -> None:
    wheels = [name for name in zip_names() if name.endswith(".whl")]
    if not wheels:
        pytest.skip("this zip carries no wheels")
    assert sorted(Path(name).name.split("-")[0] for name in wheels) == ["llvmlite", "numba", "scipy"]
    for name in ("numba", "llvmlite", "scipy"):
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None and USER_FOLDER in Path(spec.origin).parents
    numpy = importlib.util.find_spec("numpy")
    assert numpy is not None and numpy.origin is not None and USER_FOLDER not in Path(numpy.origin).parents


def test_enabling_imports_no_compiler(condyle: ModuleType) -> None:
    script = ENABLE.format(module=condyle.__name__)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    result = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    assert done.returncode == 0 and result, done.stdout + done.stderr
    _, enabled, heavy = result[0].split(" ")
    assert enabled == "True" and heavy == "", result[0]


def test_kernels_are_cached_in_the_extensions_own_folder(
    part: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONDYLE_CACHE_DIR")
    folder = Path(part("blender.compute_process").cache_folder())
    assert folder.is_dir() and USER_FOLDER in folder.parents


def test_the_compute_process_takes_the_wheels(ph: ModuleType) -> None:
    versions = {Path(name).name.split("-")[0]: name.split("-")[1] for name in zip_names() if ".whl" in name}
    if not versions:
        pytest.skip("this zip carries no wheels")
    client = importlib.import_module(f"{ph.__name__}.worker.client")
    folders = [Path(path) for path in client.library_paths(["numba", "scipy"])]
    assert folders and all(USER_FOLDER in folder.parents for folder in folders)
    worker = client.WorkerClient()
    try:
        hello = worker.submit("ping").wait(60).header
    finally:
        worker.close()
    assert hello["jit"] and hello["numba"] == versions["numba"]
