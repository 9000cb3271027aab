#!/usr/bin/env python3
"""Condyle's single entry point: creates the environment of a command, then runs the command in it.

    python3 build.py demo                          the knee: fitted, simulated, baked, rendered into out/
    python3 build.py bake SCENE.blend --out OUT.blend
    python3 build.py batch JOBS.toml               many at once, resumable: docs/batch.md
    python3 build.py test [--slow]                 the tests
    python3 build.py test --installed 5.0          the add-on's tests against the installed extension
    python3 build.py test --peers                  the comparisons with Pinocchio, MuJoCo, OpenSim
    python3 build.py test --cluster                simulations on a Dask cluster of several processes
    python3 build.py scenes | verify | bench --json FILE | extension | clean

It needs only a Python for which Blender's module `bpy` has wheels: 3.13 or 3.11. The environment is .venv; others (for
peers, and for each Blender with only the modules that it provides to an extension) are created in .venvs/ on first use.
Unknown arguments are passed to the program. The exit code is the program's, or 2 if the environment cannot be created.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / ".ci"))

from libraries import SetupError, missing_libraries, provide_libraries, say  # noqa: E402

PACKAGER = ROOT / ".ci" / "extension.py"
PYTHON_OF_BLENDER = {"4.2": "3.11", "5.0": "3.11", "5.2": "3.13"}  # what the extension is tested on
BPY_MACHINES = {("Linux", "x86_64"), ("Darwin", "arm64"), ("Windows", "AMD64"), ("Windows", "ARM64")}

PROBE = """
import ensurepip, platform, sys, sysconfig, venv
if platform.python_implementation() != "CPython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("not the ordinary CPython")
print("%d.%d" % sys.version_info[:2], getattr(sys, "_base_executable", None) or sys.executable)
"""


@dataclass(frozen=True)
class Environment:
    """A virtual environment: its folder, and its lock file for each supported Python, in order of preference."""

    folder: Path
    locks: dict[str, str]
    has_bpy: bool = True

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def stamp(self) -> Path:
        return self.folder / "condyle-stamp.json"

    def lock_digest(self, version: str) -> str:
        return hashlib.sha256((ROOT / "requirements" / self.locks[version]).read_bytes()).hexdigest()

    def is_ready(self) -> bool:
        """Whether it is complete, matches the current lock file, and its Python exists."""
        try:
            stamp = json.loads(self.stamp.read_text("utf-8"))
            return stamp["lock"] == self.lock_digest(stamp["python"]) and self.python.exists()
        except (OSError, ValueError, KeyError, TypeError):
            return False


MAIN = Environment(ROOT / ".venv", {"3.13": "py313.txt", "3.11": "py311.txt"})
PEERS = Environment(ROOT / ".venvs" / "peers", {"3.13": "peers.txt", "3.11": "peers.txt"}, has_bpy=False)
CLUSTER = Environment(
    ROOT / ".venvs" / "cluster", {"3.13": "cluster.txt", "3.11": "cluster.txt"}, has_bpy=False
)


def blender_environment(blender: str) -> Environment:
    """The modules that a Blender provides to an extension: bpy and numpy; and pytest."""
    locks = {PYTHON_OF_BLENDER[blender]: f"blender-{blender}.txt"}
    return Environment(ROOT / ".venvs" / f"blender-{blender}", locks)


def candidates(version: str):
    """Programs that may be a Python of this version, the most likely first."""
    if version == "{}.{}".format(*sys.version_info):
        yield sys.executable
    for folder in os.get_exec_path():
        for name in (f"python{version}", "python3", "python"):
            found = shutil.which(name, path=folder)
            if found:
                yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    uv = Path.home() / ".local/share/uv/python"
    yield from map(str, sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True))
    yield from map(str, sorted(uv.glob(f"cpython-{version}.*/bin/python3"), reverse=True))
    if os.name == "nt" and shutil.which("py"):
        located = subprocess.run(
            ["py", f"-{version}", "-c", "import sys; print(sys.executable)"], capture_output=True, text=True
        )
        if located.returncode == 0:
            yield located.stdout.strip()


def probe(program: str) -> tuple[str, str]:
    """Version and true path of a Python that can create environments; ``SetupError`` if it cannot.

    The true path is neither in a virtual environment (which may be removed) nor a pyenv shim.
    """
    try:
        done = subprocess.run([program, "-c", PROBE], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(str(error)) from None
    if done.returncode:
        raise SetupError((done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1])
    version, path = done.stdout.strip().split(" ", 1)
    return version, path


def find_python(versions) -> tuple[str, str]:
    """Version and path of one of ``versions``: the running one if it fits, else the first found."""
    running = "{}.{}".format(*sys.version_info)
    found, unusable = {}, {}
    for version in sorted(versions, key=lambda version: version != running):
        for program in candidates(version):
            if program not in found and program not in unusable:
                try:
                    found[program] = probe(program)
                except SetupError as error:
                    unusable[program] = str(error)
            if program in found and found[program][0] == version:
                return found[program]
    reasons = "".join(f"\n  not usable: {program}: {reason}" for program, reason in unusable.items())
    raise SetupError(
        f"Condyle needs Python {' or '.join(versions)}: Blender's Python module has wheels for no other. "
        f"None was found (this is Python {running}). Install one (on Debian and Ubuntu with its -venv "
        f"package) and run the same command again.{reasons}"
    )


@contextlib.contextmanager
def only_one():
    """Wait for any other build.py that sets up an environment; the lock is released if that one is killed."""
    with (ROOT / ".build.lock").open("a+") as file:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            locked = False
            while not locked:
                with contextlib.suppress(OSError):  # raised after 10 s of waiting
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    locked = True
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def ensure(environment: Environment) -> Path:
    """The Python of an environment, which is created if it is missing or incomplete."""
    machine = (platform.system(), platform.machine())
    if environment.has_bpy and machine not in BPY_MACHINES:
        raise SetupError("Blender's Python module has no wheel for {} on {}.".format(*machine))
    missing = missing_libraries() if environment.has_bpy else {}
    if missing or not environment.is_ready():
        with only_one():
            if missing:
                provide_libraries(missing)
            if not environment.is_ready():
                make(environment)
    return environment.python


def make(environment: Environment) -> None:
    """Create an environment; the stamp that marks it as complete is written last."""
    version, program = find_python(environment.locks)
    name = environment.folder.relative_to(ROOT)
    say(f"setting up {name} with Python {version} ({program}); this happens once")
    stamp = {"python": version, "program": program, "lock": environment.lock_digest(version)}
    shutil.rmtree(environment.folder, ignore_errors=True)
    if environment.folder.exists():
        raise SetupError(f"{name} cannot be removed: end any program of it that is still running.")
    install = ["-m", "pip", "install", "--require-hashes", "--only-binary", ":all:", "--no-deps"]
    quiet = ["--no-input", "--disable-pip-version-check"] + ["-q"] * (not sys.stdout.isatty())
    lock = ROOT / "requirements" / environment.locks[version]
    for command in (
        [program, "-m", "venv", str(environment.folder)],
        [str(environment.python), *install, *quiet, "-r", str(lock)],
    ):
        if subprocess.run(command).returncode:
            raise SetupError(f"setting up {name} failed, see above; run the same command to try again.")
    temporary = environment.stamp.with_suffix(".part")
    temporary.write_text(json.dumps(stamp), "utf-8")
    os.replace(temporary, environment.stamp)


def run(python: Path, *arguments: str, folder: Path | None = None) -> int:
    """Run ``python ARGUMENTS`` with the checkout, and not the current folder, on its path; returns its exit code.

    Replaces this process where the system has exec, else waits for the program.
    """
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Keep the user's Blender settings out, unless requested.
    environment.setdefault("BLENDER_USER_RESOURCES", str(MAIN.folder / "blender-user"))
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        environment.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")
    command = [str(python), "-P", *arguments]
    if os.name == "posix":
        os.chdir(folder or ".")
        sys.stdout.flush()
        os.execve(command[0], command, environment)
    process = subprocess.Popen(command, env=environment, cwd=folder)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the console has interrupted the program as well: wait until it ends
            continue


def has_option(rest, *names: str) -> bool:
    return any(argument.split("=")[0] in names for argument in rest)


def scenes(options, rest) -> int:
    """Build every scene, or with ``demo`` the knee, into out/ (or --out FOLDER)."""
    module = ["blender_scenes.knee", "--demo"] if options.command == "demo" else ["blender_scenes"]
    out = [] if has_option(rest, "--out") else ["--out", str(ROOT / "out")]
    return run(ensure(MAIN), "-m", *module, *out, *rest)


def addon(options, rest) -> int:
    """The add-on's own command line: bake or batch."""
    return run(ensure(MAIN), "-m", "addon", options.command, *rest)


def verify(options, rest) -> int:
    out = [] if has_option(rest, "--out") else ["--out", str(ROOT / "out")]
    return run(ensure(MAIN), "-m", "tests.verification", *out, *rest)


def bench(options, rest) -> int:
    """Run the benchmarks; Pinocchio has no wheels for Windows, where comparisons are left out."""
    return run(ensure(MAIN if os.name == "nt" else PEERS), "-m", "tests.benchmarks", *rest)


# Each test process imports Blender, so not one per core of a large machine. `-- -n 0`: a single process.
AT_ONCE = ("-n", "auto", "--maxprocesses", "4", "--dist", "worksteal")


def test(options, rest) -> int:
    selected = ["--slow"] * options.slow + ["--small"] * options.small + rest
    if options.peers:
        return run(ensure(PEERS), "-m", "pytest", "-m", "peers", *selected, folder=ROOT)
    if options.cluster:
        return run(
            ensure(CLUSTER),
            "-m",
            "pytest",
            "tests/physics/simulation/test_cluster.py",
            *selected,
            folder=ROOT,
        )
    if options.installed is None:
        return run(ensure(MAIN), "-m", "pytest", *AT_ONCE, *selected, folder=ROOT)
    python = ensure(blender_environment(options.installed))
    abi = "cp" + PYTHON_OF_BLENDER[options.installed].replace(".", "")
    out = ROOT / "dist" / f"installed-{options.installed}"
    shutil.rmtree(out, ignore_errors=True)
    code = subprocess.call([str(ensure(MAIN)), str(PACKAGER), "--out", str(out), "--python", abi])
    if code:
        return code
    (archive,) = out.glob("*.zip")
    return run(python, str(ROOT / "tests/installed/run.py"), "--zip", str(archive), *selected)


def extension(options, rest) -> int:
    """Build zips of the extension. Only fetching wheels and validation need .venv."""
    ready = "--no-wheels" in rest and not MAIN.is_ready()
    return subprocess.call([sys.executable if ready else str(ensure(MAIN)), str(PACKAGER), *rest])


def clean(options, rest) -> int:
    """Remove the output of the commands; with --all also the environments."""
    for name in ["out", "dist", "__pycache__"] + [".venv", ".venvs", ".build.lock"] * options.all:
        path = ROOT / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for folder in ("addon", "physics", "blender_scenes", "tests", ".ci"):
        for cache in list((ROOT / folder).rglob("__pycache__")):
            shutil.rmtree(cache)
    for cache in (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"):
        shutil.rmtree(ROOT / cache, ignore_errors=True)
    return 0


def parser() -> argparse.ArgumentParser:
    main_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    commands = main_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, function, help: str, passes_help: bool = True) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name, help=help, description=help, add_help=not passes_help, allow_abbrev=False
        )
        command.set_defaults(function=function)
        return command

    add("demo", scenes, "build, fit, simulate and bake the knee; writes out/knee.blend and pictures")
    add(
        "bake",
        addon,
        "fit, simulate and bake the scenes of a .blend without a window: SCENE.blend --out OUT.blend",
    )
    add("shot", addon, "save what a bake would simulate: SCENE.blend --out FOLDER; docs/file-formats.md")
    add("batch", addon, "bake many files, several at once: JOBS.toml, or FOLDER --out FOLDER; docs/batch.md")
    tests = add("test", test, "run the tests; arguments after -- go to pytest", passes_help=False)
    tests.add_argument("--slow", action="store_true", help="include the slow ones")
    tests.add_argument("--small", action="store_true", help="only those that run in every supported Blender")
    where = tests.add_mutually_exclusive_group()
    where.add_argument("--peers", action="store_true", help="comparisons with Pinocchio, MuJoCo, OpenSim")
    where.add_argument("--cluster", action="store_true", help="simulations on a Dask cluster")
    where.add_argument(
        "--installed",
        metavar="BLENDER",
        choices=PYTHON_OF_BLENDER,
        help="the add-on's tests, with the extension built and installed in this Blender: 4.2, 5.0 or 5.2",
    )
    add("scenes", scenes, "build all scenes into out/")
    add("extension", extension, "build the extension's zips into dist/; see `extension --help`")
    add("bench", bench, "measure speed against Pinocchio and MuJoCo: --json FILE")
    add("verify", verify, "measure every claim; writes out/verification.json, .md and plots")
    removal = add("clean", clean, "remove out/, dist/ and caches", passes_help=False)
    removal.add_argument("--all", action="store_true", help="include the environments")
    return main_parser


def main(arguments=None) -> int:
    options, rest = parser().parse_known_args(arguments)
    if options.command == "clean" and rest:
        parser().error(f"clean does not take {rest[0]}")
    try:
        return options.function(options, [argument for argument in rest if argument != "--"])
    except SetupError as error:
        say(str(error))
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
