"""The parent's side of the compute process: starts it and submits jobs without blocking.

Only ``Job.wait`` and ``WorkerClient.close`` block: one thread writes requests, one reads answers, one keeps the last
lines of the process's stderr. Imports numpy and the standard library only.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import CancelledError, CondyleError, FormatError
from . import protocol

STDERR_LINES = 40  # last lines of the process's stderr that are kept
_WORKER_LIBRARIES = ("numpy", "numba", "llvmlite", "scipy")


class WorkerError(CondyleError):
    """A job failed in the compute process, or the process died.

    Attributes:
        kind: name of the error's class in the process ("ModelError", "FitError", ...), or "WorkerDied".
        details: further data; DivergedError: time [s], body, reason; WorkerDied: exit_code, stderr.
        partial: the result so far, or None.
    """

    def __init__(
        self, kind: str, message: str, details: dict[str, Any] | None = None, partial: Answer | None = None
    ) -> None:
        super().__init__(message)
        self.args = (message,)  # whole: it may hold all that the process wrote
        self.kind = kind
        self.details = details or {}
        self.partial = partial


@dataclass
class Answer:
    """Result of a job: a JSON-able header and named arrays."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


def library_paths(names: Sequence[str] = _WORKER_LIBRARIES) -> list[str]:
    """Folders of this process's module path that contain the worker's libraries; imports none of them."""
    folders: list[str] = []
    for name in names:
        spec = importlib.util.find_spec(name)
        folders += [str(Path(place).parent) for place in (spec and spec.submodule_search_locations) or ()]
    return list(dict.fromkeys(folders))


def worker_command(python: str | None = None, paths: Sequence[str] | None = None) -> list[str]:
    """The command line of a compute process.

    Args:
        python: the interpreter; None: this process's (in Blender ``sys.executable`` is its Python).
        paths: folders added to its module path; None: those of this process's numpy, numba, llvmlite and scipy.

    The interpreter runs isolated (``-I``): no user site, no PYTHONPATH, as in Blender.
    """
    command = [python or sys.executable, "-I", "-X", "faulthandler", str(Path(__file__).with_name("main.py"))]
    for path in library_paths() if paths is None else paths:
        command += ["--path", str(path)]
    return command


def worker_environment(
    cache_folder: str | os.PathLike[str] | None = None, jit: bool = True
) -> dict[str, str]:
    """Environment variables of a compute process: cache folder of kernels, whether to compile, one thread for BLAS.

    Its systems are small, and idle BLAS threads wait actively: with a second process running, fits took two to ten
    times as long. A number of threads set by the user is kept.
    """
    environment = {"CONDYLE_JIT": "1" if jit else "0"}
    environment |= {
        name: "1" for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS") if name not in os.environ
    }
    if cache_folder is not None:
        environment["CONDYLE_CACHE_DIR"] = os.fspath(cache_folder)
    return environment


class Job:
    """A submitted request and its state; made by ``WorkerClient.submit``.

    Attributes:
        state: "queued", "running", "done", "failed" or "cancelled", as of the last ``poll``.
        progress: 0 to 1.
        message: current activity, for the user.
        result: the ``Answer`` of a completed job.
        error: the ``WorkerError`` of a failed one.
        news: the latest intermediate ``Answer`` of a running job; None until then.
    """

    def __init__(self, job_id: int, kind: str, connection: _Connection) -> None:
        self.id = job_id
        self.kind = kind
        self.state = "queued"
        self.progress = 0.0
        self.message = ""
        self.result: Answer | None = None
        self.error: WorkerError | None = None
        self.news: Answer | None = None
        self._connection = connection
        self._arrived: queue.SimpleQueue[protocol.Message] = queue.SimpleQueue()
        self._latest: deque[protocol.Message] = deque(maxlen=1)  # of news, which nobody may poll

    @property
    def finished(self) -> bool:
        """Whether the job has ended, in any way."""
        return self.state in ("done", "failed", "cancelled")

    def poll(self) -> bool:
        """Process the messages received so far, without waiting; True if the job has ended, in any way."""
        while not self.finished and not self._arrived.empty():
            self._take_in(self._arrived.get())
        while self._latest:
            self._take_in(self._latest.popleft())
        return self.finished

    def cancel(self) -> None:
        """Cancel the job here at once, and ask the process to stop it."""
        if not self.poll():
            self.state = "cancelled"
            self._connection.cancel(self)

    def tell(self, said: Mapping[str, Any]) -> None:
        """Send a message to a job that listens while it runs (a live one); returns at once.

        FormatError if it cannot be sent.
        """
        if not self.finished:
            self._connection.tell(self, said)

    def wait(self, timeout: float | None = None) -> Answer:
        """Wait for the answer.

        Raises:
            WorkerError: the job failed or the process died.
            CancelledError: it was cancelled.
            TimeoutError: no answer within ``timeout`` seconds; the job continues.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self.poll():
            left = None if deadline is None else deadline - time.monotonic()
            try:
                self._take_in(self._arrived.get(timeout=left if left is None else max(left, 0.0)))
            except queue.Empty:
                raise TimeoutError(f"{self.kind}: no answer within {timeout} s") from None
        if self.error is not None:
            raise self.error
        if self.result is None:
            raise CancelledError(f"{self.kind} was cancelled")
        return self.result

    def deliver(self, message: protocol.Message) -> None:
        """Called by the client's reader thread with an event of this job."""
        if message.header["event"] == "news":
            self._latest.append(message)
        else:
            self._arrived.put(message)

    def _take_in(self, message: protocol.Message) -> None:
        header = message.header
        match header["event"]:
            case "started":
                self.state = "running"
            case "progress":
                self.progress, self.message = float(header["fraction"]), str(header["message"])
            case "news":
                self.news = Answer(header["news"], message.arrays)
            case "done":
                self.result = Answer(header["answer"], message.arrays)
                self.progress, self.state = 1.0, "done"
            case "cancelled":
                self.state = "cancelled"
            case "failed":
                partial = header.get("partial")
                answer = None if partial is None else Answer(partial, message.arrays)
                self.error = WorkerError(header["error"], header["message"], header["details"], answer)
                self.state = "failed"


class WorkerClient:
    """A compute process and its jobs; started by ``start`` or by the first ``submit``.

    Args:
        command: of the process; None: ``worker_command()``.
        environment: added to this process's environment; None: ``worker_environment()``.
        source: the process must run the code of this digest (``source.digest``); empty: it is this machine's.
    """

    def __init__(
        self,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        source: str = "",
    ) -> None:
        self._command = list(worker_command() if command is None else command)
        self._environment = dict(worker_environment() if environment is None else environment)
        self._source = source
        self._ids = itertools.count(1)
        self._connection: _Connection | None = None

    @property
    def running(self) -> bool:
        """Whether a process is running that accepts jobs."""
        return self._connection is not None and self._connection.alive

    @property
    def hello(self) -> dict[str, Any] | None:
        """The process's first message (pid, python, numpy, numba, jit, protocol); None until then."""
        return None if self._connection is None else self._connection.hello

    def start(self) -> _Connection:
        """Start the process unless it runs; returns at once. WorkerError if the command cannot be run."""
        if self._connection is None or not self._connection.alive:
            environment = {**os.environ, **self._environment}
            self._connection = _Connection(self._command, environment, self._source)
        return self._connection

    def submit(
        self, kind: str, header: Mapping[str, Any] | None = None, arrays: protocol.ArrayMap | None = None
    ) -> Job:
        """Submit a job; returns at once. Starts the process if it does not run.

        Arrays must not be changed until the job has ended. FormatError if something cannot be sent.
        """
        job_id = next(self._ids)
        pieces = protocol.encode({"id": job_id, "kind": kind, "job": dict(header or {})}, arrays)
        connection = self.start()
        job = Job(job_id, kind, connection)
        connection.send(pieces, job)
        return job

    def close(self, timeout: float = 1.0) -> None:
        """End the process: close its stdin, kill it after ``timeout`` seconds. Open jobs are cancelled."""
        if self._connection is not None:
            self._connection.close(timeout)
            self._connection = None


class _Connection:
    """One process from its start to its end: its pipes, their threads and its open jobs."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], source: str) -> None:
        pipe, flags = subprocess.PIPE, 0
        if sys.platform == "win32":
            flags = subprocess.CREATE_NO_WINDOW
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, creationflags=flags
            )
        except OSError as error:
            raise WorkerError("WorkerDied", f"the compute process did not start: {error}") from error
        self.hello: dict[str, Any] | None = None
        self._source = source
        self._jobs: dict[int, Job] = {}
        self._lock = threading.Lock()
        self._over: str | None = None  # why no more answers will come
        self._outgoing: queue.SimpleQueue[list[bytes | memoryview] | None] = queue.SimpleQueue()
        self._last_words: deque[str] = deque(maxlen=STDERR_LINES)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        for thread in (self._listener, threading.Thread(target=self._read, daemon=True)):
            thread.start()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    @property
    def alive(self) -> bool:
        return self._over is None and self._process.poll() is None

    def send(self, pieces: list[bytes | memoryview], job: Job) -> None:
        with self._lock:
            if self._over is None:
                self._jobs[job.id] = job
                self._outgoing.put(pieces)
                return
        job.deliver(self._death(self._over))

    def tell(self, job: Job, said: Mapping[str, Any]) -> None:
        self._outgoing.put(protocol.encode({"id": job.id, "kind": "tell", "job": dict(said)}))

    def cancel(self, job: Job) -> None:
        with self._lock:
            known = self._jobs.pop(job.id, None)
        if known is not None:
            self._outgoing.put(protocol.encode({"id": job.id, "kind": "cancel"}))

    def close(self, timeout: float) -> None:
        self._finish("closed", protocol.Message({"event": "cancelled"}))
        self._outgoing.put(None)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _write(self) -> None:
        stdin: BinaryIO = self._process.stdin  # type: ignore[assignment]
        if sys.platform != "win32":
            # Blender up to 4.3 restores the default action of SIGPIPE, which would end Blender. With the signal
            # blocked in this thread, writing to a dead process raises an ordinary error.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        with contextlib.suppress(OSError):  # a closed pipe: the reader reports how the process ended
            while (pieces := self._outgoing.get()) is not None:
                for piece in pieces:
                    stdin.write(piece)
                stdin.flush()
        with contextlib.suppress(OSError):
            stdin.close()

    def _read(self) -> None:
        stdout: BinaryIO = self._process.stdout  # type: ignore[assignment]
        reason = ""
        try:
            while (message := protocol.read_message(stdout)) is not None:
                self._sort(message)
        except (FormatError, KeyError, OSError) as error:
            reason = f"invalid answer: {error}"
            self._process.kill()
        self._process.wait()
        self._listener.join(1.0)  # wait for the last lines of stderr
        self._finish(reason, None)
        self._outgoing.put(None)
        stdout.close()

    def _sort(self, message: protocol.Message) -> None:
        event = message.header["event"]
        if event == "hello":
            self.hello = message.header
            other = self.hello.get("source", "")
            if self._source and other != self._source:
                raise FormatError(f"it runs other code ({other or 'unknown'}) than this ({self._source})")
        elif event == "refused":
            self._last_words.append(str(message.header["message"]))
        else:
            with self._lock:
                job_id = message.header["id"]
                over = event in ("done", "failed", "cancelled")
                job = self._jobs.pop(job_id, None) if over else self._jobs.get(job_id)
            if job is not None:
                job.deliver(message)

    def _listen(self) -> None:
        stderr: BinaryIO = self._process.stderr  # type: ignore[assignment]
        for line in stderr:
            self._last_words.append(line.decode("utf-8", "replace").rstrip())
        stderr.close()

    def _finish(self, reason: str, word: protocol.Message | None) -> None:
        """End the connection: every open job receives one last message."""
        with self._lock:
            if self._over is None:
                self._over = reason
            open_jobs, self._jobs = list(self._jobs.values()), {}
        for job in open_jobs:
            job.deliver(word or self._death(reason))

    def _death(self, reason: str) -> protocol.Message:
        code = self._process.poll()
        words = "\n".join(self._last_words)
        how = reason or _exit_in_words(code)
        text = f"the compute process ended unexpectedly ({how})" + (f":\n{words}" if words else "")
        details = {"exit_code": code, "stderr": words}
        return protocol.Message(
            {"event": "failed", "error": "WorkerDied", "message": text, "details": details}
        )


def _exit_in_words(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {-code}"
    return f"exit code {code}"
