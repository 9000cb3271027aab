"""Shots baked by the workers of a Dask cluster that share the batch's folders, in processes of their own there.

A task is a list of arguments, its answer plain data. Only this process puts outputs in place: a worker that dies loses
nothing, since Dask gives its shot to another one, and nothing is written twice.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

from ..blender import physics_access
from . import records
from .child import LAST_LINES, Child, Told, arguments
from .job_file import Shot

# a worker's threads bake side by side, each with a process
_own = threading.local()


def connect(address: str) -> Any:
    """A client of the scheduler at an address, as tcp://host:8786.

    Raises:
        FormatError: the package `distributed` is missing, nobody answers, or there are no workers.
    """
    wrong = physics_access.physics().FormatError
    try:
        from distributed import Client
    except ImportError:
        raise wrong(f"--dask {address}: the Python package distributed is missing") from None
    try:
        client = Client(address, timeout="30s")
    except (OSError, ValueError, TypeError) as error:
        raise wrong(f"--dask {address}: {error}") from None
    if not client.nthreads():
        client.close()
        raise wrong(f"--dask {address}: the cluster has no workers")
    return client


def bake_there(wanted: str, line: list[str]) -> dict[str, Any]:
    """A task: let this worker's process bake a shot by the arguments of `bake`; returns the fields of what it told.

    As in a batch, a process that has baked other shots is not blamed for a crash: a new one tries again.
    """
    if records.version() != wanted:
        return {"code": 1, "errors": [f"a worker has Condyle {records.version()}, not {wanted}"]}
    while True:
        child: Child | None = getattr(_own, "child", None)
        if child is None or not child.lives:
            child = _own.child = Child()
        used, told = child.baked > 0, child.follow(line, lambda _: None)
        if told.ended or not used:
            return {**vars(told), "lines": list(told.lines)}


class Remote:
    """As `Child`, but workers of a cluster bake its shots, in the order in which they are free."""

    lives, baked = True, 0

    def __init__(self, client: Any) -> None:
        self._client: Any = client
        self._task: Any = None

    def bake(self, shot: Shot, out: Path | None, progress: Callable[[float], None]) -> Told:
        """Let a worker bake a shot, or without ``out`` only check it, and wait for that."""
        self._task = self._client.submit(bake_there, records.version(), arguments(shot, out), pure=False)
        try:
            answer = self._task.result()
        except (Exception, CancelledError) as error:  # as of a shot that took several workers along
            return Told(code=1, errors=[f"{type(error).__name__}: {error}"])
        return Told(**{**answer, "lines": deque(answer.get("lines", ()), LAST_LINES)})

    def end(self) -> None:
        """Wait for the shot no longer; its worker may go on."""
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """Nothing: processes end with their workers."""
