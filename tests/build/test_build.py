"""build.py: finding a Python, making environments, handing on arguments and exit codes."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """build.py of a checkout that has nothing but its lock files."""
    shutil.copytree(ROOT / "requirements", tmp_path / "checkout/requirements")
    shutil.copy(ROOT / "build.py", tmp_path / "checkout")
    shutil.copytree(ROOT / ".ci", tmp_path / "checkout/.ci")
    spec = importlib.util.spec_from_file_location("build_under_test", tmp_path / "checkout/build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "missing_libraries", dict)
    monkeypatch.setattr(module, "BPY_MACHINES", {(module.platform.system(), module.platform.machine())})
    return module


class Commands:
    """Stands in for the programs that make an environment: writes what they are told, or fails."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.calls: list[list[str]] = []
        self.fail_at = fail_at

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.calls.append([str(part) for part in command])
        if command[2] == "venv":
            python = Path(command[3]) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
            python.parent.mkdir(parents=True)
            python.touch()
        return subprocess.CompletedProcess(command, int(len(self.calls) - 1 == self.fail_at))


@pytest.fixture
def use_commands(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Commands]:
    def use(fail_at: int | None = None) -> Commands:
        commands = Commands(fail_at)
        monkeypatch.setattr(build.subprocess, "run", commands)
        monkeypatch.setattr(build, "find_python", lambda versions: (next(iter(versions)), "/usr/bin/python3"))
        return commands

    return use


def test_the_running_python_is_preferred(build: ModuleType) -> None:
    running = "{}.{}".format(*sys.version_info)
    version, program = build.find_python(["2.7", running])
    assert version == running and Path(program).exists()


def test_the_better_version_comes_first_where_the_running_one_does_not_fit(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "candidates", lambda version: iter([f"/opt/python{version}"]))
    monkeypatch.setattr(build, "probe", lambda program: (program[-4:], program))
    monkeypatch.setattr(build.sys, "version_info", (3, 9))
    assert build.find_python(build.MAIN.locks) == ("3.13", "/opt/python3.13")


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_a_program_that_does_not_start_is_passed_over(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """pyenv leaves a shim for every installed version; all but the chosen one's fail."""
    shim = tmp_path / "python3.11"
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.11: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    running = "{}.{}".format(*sys.version_info)
    monkeypatch.setattr(build, "candidates", lambda version: iter([str(shim), sys.executable]))
    assert build.find_python([running])[0] == running


def test_no_fitting_python_is_one_message_and_exit_code_2(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "candidates", lambda version: iter(()))
    assert build.main(["demo"]) == 2
    error = capsys.readouterr().err
    assert error.count("build.py:") == 1
    assert "needs Python 3.13 or 3.11" in error and "None was found" in error


def test_a_machine_without_wheels_is_named(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "BPY_MACHINES", set())
    assert build.main(["scenes"]) == 2
    assert build.platform.machine() in capsys.readouterr().err


def test_an_environment_is_made_once_and_again_when_its_lock_file_changes(
    build: ModuleType, use_commands: Callable[..., Commands]
) -> None:
    commands = use_commands()
    python = build.ensure(build.MAIN)
    assert python.exists() and len(commands.calls) == 2
    assert "--require-hashes" in commands.calls[1]
    build.ensure(build.MAIN)
    assert len(commands.calls) == 2
    lock = build.ROOT / "requirements" / build.MAIN.locks[json.loads(build.MAIN.stamp.read_text())["python"]]
    lock.write_text(lock.read_text() + "# changed\n")
    build.ensure(build.MAIN)
    assert len(commands.calls) == 4


@pytest.mark.parametrize("failing_command", [0, 1])
def test_what_was_interrupted_is_made_anew(
    build: ModuleType, use_commands: Callable[..., Commands], failing_command: int
) -> None:
    use_commands(fail_at=failing_command)
    with pytest.raises(build.SetupError, match="run the same command"):
        build.ensure(build.MAIN)
    (build.MAIN.folder / "left-over").touch()
    use_commands()
    build.ensure(build.MAIN)
    assert build.MAIN.is_ready() and not (build.MAIN.folder / "left-over").exists()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"python": "2.7", "lock": ""}'])
def test_a_damaged_stamp_counts_as_none(build: ModuleType, content: str) -> None:
    build.MAIN.python.parent.mkdir(parents=True)
    build.MAIN.python.touch()
    build.MAIN.stamp.write_text(content)
    assert not build.MAIN.is_ready()


def test_two_calls_at_once_make_it_once(
    build: ModuleType, use_commands: Callable[..., Commands], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = use_commands()
    make = build.make

    def slow_make(environment: Any) -> None:
        time.sleep(0.2)
        make(environment)

    monkeypatch.setattr(build, "make", slow_make)
    threads = [threading.Thread(target=build.ensure, args=(build.MAIN,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(commands.calls) == 2 and build.MAIN.is_ready()


def test_missing_libraries_are_installed_by_root_on_debian_and_named_elsewhere(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(build.subprocess, "run", run)
    monkeypatch.setattr(build.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(build.Path, "exists", lambda path: True)
    monkeypatch.setattr(build.os, "geteuid", lambda: 0, raising=False)
    build.provide_libraries({"libXi.so.6": "libxi6"})
    assert calls[-1][:2] == ["apt-get", "install"] and calls[-1][-1] == "libxi6"
    monkeypatch.setattr(build.os, "geteuid", lambda: 1000, raising=False)
    with pytest.raises(build.SetupError, match=r"libXi\.so\.6.*apt-get install libxi6"):
        build.provide_libraries({"libXi.so.6": "libxi6"})
    build.provide_libraries({"libEGL.so.1": "libegl1"})  # only pictures need it: said, not refused


@pytest.fixture
def handed_on(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    calls: list[tuple[str, ...]] = []

    def run(python: Path, *arguments: str, **_: Any) -> int:
        calls.append(arguments)
        return 3

    monkeypatch.setattr(build, "run", run)
    monkeypatch.setattr(build, "ensure", lambda environment: environment.python)
    return calls


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("bake a.blend --out b.blend --log-json", "-m addon bake a.blend --out b.blend --log-json"),
        ("bake --help", "-m addon bake --help"),
        ("batch jobs.toml --at-once 2", "-m addon batch jobs.toml --at-once 2"),
        ("bench --json f.json", "-m tests.benchmarks --json f.json"),
        ("verify --out here --quick", "-m tests.verification --out here --quick"),
        ("test --slow -k knee", "-m pytest --slow -k knee"),
        ("test -- -x tests/build", "-m pytest -x tests/build"),
        ("test --peers", "-m pytest -m peers"),
        ("demo --out here", "-m blender_scenes.knee --demo --out here"),
    ],
)
def test_arguments_are_handed_on_and_exit_codes_handed_back(
    build: ModuleType, handed_on: list[tuple[str, ...]], given: str, expected: str
) -> None:
    assert build.main(given.split()) == 3
    told = " ".join(handed_on[0])
    assert told.replace(" " + " ".join(build.AT_ONCE), "") == expected


def start(build: ModuleType, code: str, folder: Path) -> subprocess.Popen[str]:
    """``build.run(python, "-c", code)`` in a process of its own, as it replaces the one that calls it."""
    call = f"import sys, build; sys.exit(build.run(sys.executable, '-c', {code!r}))"
    environment = os.environ | {"PYTHONPATH": str(build.ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", call], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )


def test_the_exit_code_of_the_program_passes_through(build: ModuleType, tmp_path: Path) -> None:
    assert start(build, "raise SystemExit(3)", tmp_path).wait(30) == 3


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_an_interrupt_of_build_py_alone_reaches_the_program(build: ModuleType, tmp_path: Path) -> None:
    program = """
import time
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    raise SystemExit(130)
"""
    process = start(build, program, tmp_path)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    process.stdout.close()


def test_the_current_folder_is_not_on_the_path_but_the_checkout_is(build: ModuleType, tmp_path: Path) -> None:
    script = "import sys; sys.exit('' in sys.path or not any(p.endswith('checkout') for p in sys.path))"
    assert start(build, script, tmp_path).wait(30) == 0


def test_clean_leaves_the_sources(build: ModuleType) -> None:
    for name in ("out", "dist", ".venv", "physics/__pycache__"):
        (build.ROOT / name).mkdir(parents=True)
    assert build.main(["clean"]) == 0
    left = {path.name for path in build.ROOT.iterdir()}
    assert left == {"build.py", ".ci", "requirements", ".venv", "physics"}
    assert build.main(["clean", "--all"]) == 0
    assert not (build.ROOT / ".venv").exists()


def test_a_second_call_runs_nothing(build: ModuleType, use_commands: Callable[..., Commands]) -> None:
    commands = use_commands()
    build.ensure(build.MAIN)
    made = len(commands.calls)
    build.ensure(build.MAIN)
    assert len(commands.calls) == made > 0
