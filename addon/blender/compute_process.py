"""The add-on's compute process: one child, started by the first request, ended with Blender or what runs without it."""

from __future__ import annotations

import atexit
import gc
import math
import os
import shlex
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

from . import physics_access

Outcome = TypeVar("Outcome")

#: a task: a generator that yields jobs of the compute process, receives their answers, and returns its outcome
Steps = Generator[Any, Any, Outcome]

_client: Any = None


def client() -> physics_access.WorkerClient:
    """The client of the compute process; the process itself starts with the first job."""
    global _client
    if _client is None:
        worker = physics_access.part("worker.client")
        if command := elsewhere():
            code = physics_access.part("worker.source").digest()
            _client = worker.WorkerClient(command, {}, source=code)
            return _client
        command = worker.worker_command(python=python_executable())
        environment = worker.worker_environment(cache_folder=cache_folder(), jit=True)
        _client = worker.WorkerClient(command, environment)
    return _client


def elsewhere() -> list[str]:
    """The command that starts the process on another machine, from CONDYLE_WORKER or the preferences; else empty."""
    bpy = sys.modules.get("bpy")  # None: a saved shot is simulated without Blender
    add_on = bpy and bpy.context.preferences.addons.get(physics_access.PACKAGE)
    named = getattr(add_on and add_on.preferences, "compute_command", "")
    return shlex.split(os.environ.get("CONDYLE_WORKER") or named)


def close(timeout: float = 1.0) -> None:
    """End the compute process, waiting for it at most `timeout` seconds; the next request starts another."""
    global _client
    if _client is not None:
        _client.close(timeout)
        _client = None


atexit.register(close)


def python_executable() -> str:
    """Blender's Python; if Blender does not name it, the one in its folder of Python."""
    named = Path(sys.executable or "")
    if named.name.lower().startswith("python"):
        return str(named)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for folder in (Path(sys.prefix) / "bin", Path(sys.prefix)):
        for name in (f"python{version}", "python3", "python", "python.exe"):
            if (folder / name).is_file():
                return str(folder / name)
    raise FileNotFoundError(f"no Python found in {sys.prefix} to start the compute process with")


def cache_folder() -> str | None:
    """Folder of compiled kernels: the extension's own, as Blender requires.

    None if the add-on is not an installed extension: physics chooses. The environment may name another folder.
    """
    if os.environ.get("CONDYLE_CACHE_DIR"):
        return os.environ["CONDYLE_CACHE_DIR"]
    if not physics_access.PACKAGE.startswith("bl_ext."):
        return None
    return str(
        sys.modules["bpy"].utils.extension_path_user(physics_access.PACKAGE, path="cache", create=True)
    )


def run(
    steps: Steps[Outcome], progress: Callable[[float, str], None] | None = None, seconds: float | None = None
) -> Outcome:
    """Run a task to its end, blocking; for scripts and the command line.

    Args:
        seconds: give up after this time; None: never.

    Raises:
        CondyleError: an error of the task or the compute process.
        CancelledError: it took longer than `seconds`.
        KeyboardInterrupt: the running job is cancelled first.
    """
    job = None
    began = time.monotonic()
    try:
        job = advance(steps, None)
        while True:
            while not (isinstance(job, Drawn) or job.poll()):
                if seconds is not None and time.monotonic() - began > seconds:
                    job.cancel()
                    raise physics_access.physics().CancelledError(
                        f"not done in {seconds:g} s, so nothing was changed; start it again from the panel"
                    )
                if progress is not None:
                    progress(job.progress, job.message)
                time.sleep(0.005)
            job = advance(steps, job)
    except StopIteration as end:
        return end.value
    except KeyboardInterrupt:
        if job is not None:
            job.cancel()
        raise
    finally:
        steps.close()


class Drawn:
    """Waits, after other frames were visited, until Blender has redrawn its views, so that no computation slows the
    drawing. It is done when polls arrive in time again. A blocking task never waits, since nothing is drawn.
    """

    IN_TIME = 0.1  # s between polls, if nothing slow is drawn between them
    LONGEST = 2.0  # s: some views never finish

    state, result = "done", None
    progress, message = 0.0, "reading the scene"

    def __init__(self) -> None:
        self._last = self._calm = -math.inf
        self._end = math.inf

    def poll(self) -> bool:
        """Whether it is done."""
        now = time.monotonic()
        if now - self._last > self.IN_TIME:
            self._calm = now
        self._last, self._end = now, min(self._end, now + self.LONGEST)
        return now - self._calm >= self.IN_TIME or now >= self._end

    def wait(self, _seconds: float | None = None) -> None:
        """Return at once."""

    def cancel(self) -> None:
        """Nothing to end."""


class Breath(Drawn):
    """Lets Blender answer its user between two parts of what it does itself."""

    def poll(self) -> bool:
        """Whether it is done."""
        return True


class Said(Drawn):
    """Waits until the panel has shown its message, before Blender itself works long."""

    SHOWN = 0.3  # s: the panel is drawn four times a second, see `jobs.SHOWN`
    progress = 1.0

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message
        self._began = math.inf

    def poll(self) -> bool:
        """Whether it is done."""
        now = time.monotonic()
        self._began = min(self._began, now)
        return now - self._began >= self.SHOWN


def advance(steps: Steps[Outcome], job: Drawn | physics_access.Job | None) -> Any:
    """Begin a task, or send a finished job's answer to it; returns the next job, raises StopIteration at its end.

    Meanwhile Python does not look for circular garbage: a copy of a scene is many objects, all of them in use.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return next(steps) if job is None else _answered(steps, job)
    finally:
        if collects:
            gc.enable()


def _answered(steps: Steps[Outcome], job: Drawn | physics_access.Job) -> Any:
    if job.state == "done":
        return steps.send(job.result)
    if job.state == "failed":
        return steps.throw(job.error)
    return steps.throw(physics_access.physics().CancelledError("cancelled"))
