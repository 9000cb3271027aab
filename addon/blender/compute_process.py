"""The compute process, as the add-on uses it: one child, started at the first request, gone with Blender."""

from __future__ import annotations

import atexit
import math
import os
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

import bpy

from . import physics_access

Outcome = TypeVar("Outcome")

#: steps of a task: it yields jobs of the compute process, is sent their answers, and returns its outcome
Steps = Generator[Any, Any, Outcome]

_client: Any = None


def client() -> physics_access.WorkerClient:
    """The client of the compute process; the process itself starts with the first job."""
    global _client
    if _client is None:
        worker = physics_access.part("worker.client")
        command = worker.worker_command(python=python_executable())
        environment = worker.worker_environment(cache_folder=cache_folder(), jit=True)
        _client = worker.WorkerClient(command, environment, stands_back=not bpy.app.background)
    return _client


def close(timeout: float = 1.0) -> None:
    """End the compute process, which gets so many seconds to end by itself; the next request starts another."""
    global _client
    if _client is not None:
        _client.close(timeout)
        _client = None


atexit.register(close)


def python_executable() -> str:
    """The Python that Blender runs; where Blender does not name it, the one in its folder of Python."""
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
    """Where the compute process keeps compiled kernels: the extension's own folder, as Blender wants it.

    None where the add-on is not an installed extension, or the caller's environment names a folder: physics decides.
    """
    if os.environ.get("CONDYLE_CACHE_DIR"):
        return os.environ["CONDYLE_CACHE_DIR"]
    if not physics_access.PACKAGE.startswith("bl_ext."):
        return None
    return str(bpy.utils.extension_path_user(physics_access.PACKAGE, path="cache", create=True))


def run(
    steps: Steps[Outcome], progress: Callable[[float, str], None] | None = None, seconds: float | None = None
) -> Outcome:
    """Walk a task to its end, blocking; for scripts and the command line.

    Args:
        seconds: give up after so long; None: never.

    Raises:
        CondyleError: what the task or the compute process raised.
        CancelledError: it took longer than `seconds`.
        KeyboardInterrupt: the job under way is cancelled first.
    """
    job = None
    began = time.monotonic()
    try:
        job = next(steps)
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
    """What a task waits for after a look at other frames, which makes Blender draw its views anew, and again until they
    are smooth: it is done when Blender is heard from in time again, so that nobody takes the processor from the
    drawing. Where it waits for a task nothing is drawn, and nobody asks.
    """

    IN_TIME = 0.1  # s from one look to the next, where nothing that takes long is drawn between them
    LONGEST = 2.0  # s: some views are never done

    state, result = "done", None
    progress, message = 0.0, "drawing the view"

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
        """There is nothing to end."""


class Said(Drawn):
    """What a task waits for before Blender itself works long: it is done when the panel has shown the word for it."""

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


def advance(steps: Steps[Outcome], job: Drawn | physics_access.Job) -> Drawn | physics_access.Job | None:
    """Give a finished job's answer to its task; returns the next job, raises StopIteration at the end of the task."""
    if job.state == "done":
        return steps.send(job.result)
    if job.state == "failed":
        return steps.throw(job.error)
    return steps.throw(physics_access.physics().CancelledError("cancelled"))
