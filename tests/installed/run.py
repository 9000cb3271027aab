"""Install a zip of the extension with Blender's own installer in a fresh profile, then test it there.

    python tests/installed/run.py --zip dist/condyle-0.1.0-linux-x64-cp311.zip [--small] [arguments of pytest]

Runs in an environment that has bpy and pytest. The tests are copied away from the checkout and run with a
foreign module named ``physics`` first on the path: what it then does, it does with the zip's files.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = "bl_ext.user_default.condyle"
FOREIGN_PHYSICS = '"""Another program\'s module: the add-on must never meet it."""\n\nIS_FOREIGN = True\n'


def prepare(folder: Path) -> None:
    """A copy of the add-on's tests in the folder "suite", with the foreign module beside them."""
    suite = folder / "suite"
    ignore = shutil.ignore_patterns("__pycache__")
    for name in ("addon", "installed"):
        shutil.copytree(ROOT / "tests" / name, suite / "tests" / name, ignore=ignore)
    shutil.copy(ROOT / "tests/conftest.py", suite / "tests")
    shutil.copy(ROOT / "pyproject.toml", suite)
    (suite / "physics.py").write_text(FOREIGN_PHYSICS, "utf-8")


def run_tests(suite: Path, zip_file: Path, arguments: list[str]) -> int:
    """Install and enable as "Install from Disk" does, then pytest; its exit code."""
    import bpy  # first of all: it makes Blender's other modules importable
    import pytest

    addon_utils = importlib.import_module("addon_utils")
    print(f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}, {zip_file.name}", flush=True)
    bpy.ops.extensions.package_install_files(
        filepath=str(zip_file), repo="user_default", enable_on_install=True, overwrite=True
    )
    if not addon_utils.check(MODULE)[1]:
        raise SystemExit(f"{zip_file.name} was not enabled, see above")
    code = int(pytest.main(["-c", str(suite / "pyproject.toml"), "--rootdir", str(suite), *arguments]))
    # 4.5 hangs at exit where an add-on is still registered
    addon_utils.disable(MODULE, default_set=True)
    return code


def in_a_process(folder: Path, zip_file: Path, arguments: list[str]) -> int:
    """Install and test in a new process with a fresh profile in the folder; its exit code.

    The folder is the same for all processes of a run, because cached kernels belong to the path of their source.
    """
    shutil.rmtree(folder / "user", ignore_errors=True)
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "--zip", str(zip_file), *arguments]
    return subprocess.run([*command, "--folder", str(folder)], cwd=ROOT, check=False).returncode


def both(code: int, other: int) -> int:
    """Of two exit codes the one that tells of a failure; that nothing was collected by one of them is none."""
    nothing = 5  # pytest.ExitCode.NO_TESTS_COLLECTED
    return other if code in (0, nothing) and other != nothing else code


def has_alone(suite: Path, arguments: list[str]) -> bool:
    """Whether a file has tests marked alone: one that the arguments name, or any where they name none."""
    named = [path for word in arguments if (path := suite / word.partition("::")[0]).exists()]
    files = [
        file for path in named or [suite] for file in ([path] if path.is_file() else path.rglob("test_*.py"))
    ]
    return any("pytest.mark.alone" in file.read_text("utf-8") for file in files)


def run_in(folder: Path, zip_file: Path, arguments: list[str]) -> int:
    """Install and test in this process; the exit code."""
    suite = folder / "suite"
    os.chdir(suite)
    # What the compute process inherits must not lead back to the checkout either.
    os.environ["PYTHONPATH"] = str(suite)
    os.environ["BLENDER_USER_RESOURCES"] = str(folder / "user")
    os.environ["CONDYLE_CACHE_DIR"] = str(folder / "kernels")  # nobody else can use them
    os.environ["CONDYLE_INSTALLED_MODULE"] = MODULE
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as conftest.py does, but before numpy is there
    os.environ["CONDYLE_INSTALLED_ZIP"] = str(zip_file)
    sys.path[:] = [str(suite), *(path for path in sys.path if Path(path or ".").resolve() != ROOT)]
    code = run_tests(suite, zip_file, arguments)
    os.chdir(ROOT)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--zip", type=Path, required=True, help="the extension to install")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)  # for a process of a run
    options, arguments = parser.parse_known_args()
    zip_file = options.zip.resolve()
    if options.folder:
        return run_in(options.folder, zip_file, arguments)
    with tempfile.TemporaryDirectory(prefix="condyle-installed-") as temporary:
        folder = Path(temporary)
        prepare(folder)
        code = in_a_process(folder, zip_file, arguments)
        if "--alone" in arguments or not has_alone(folder / "suite", arguments):
            return code
        return both(code, in_a_process(folder, zip_file, [*arguments, "--alone"]))


if __name__ == "__main__":
    exit_code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # 4.2 crashes where the interpreter takes down property callbacks, even after unregistering
    os._exit(exit_code)
