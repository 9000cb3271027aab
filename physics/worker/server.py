"""The compute process's side: reads requests, runs one job at a time, answers.

Jobs run in the main thread; other threads read, and compile (``stages``). The process ends as soon as its stdin closes,
even during a job, because the parent has ended or wants it to end. Stdout is reserved for the protocol; prints go to
stderr.
"""

import importlib.metadata
import importlib.util
import os
import platform
import queue
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Mapping
from typing import Any, BinaryIO, NoReturn

import numpy as np

from ..errors import CancelledError, DivergedError, FormatError, SimulationWarning
from . import protocol
from .report import Report

BESIDE = frozenset({"warm_up"})  # kinds of job that run beside the others, as they only wait for the compiler
STACK_SIZE = 64 * 2**20  # of threads: compilers recurse deeply, and some systems provide half a megabyte


class Channel:
    """Sends whole answers, from any thread; ends the process if nobody reads them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def send(self, header: Mapping[str, Any], arrays: protocol.ArrayMap | None = None) -> None:
        """Send one message; FormatError, before anything is written, if it cannot be encoded."""
        pieces = protocol.encode(header, arrays)
        with self._lock:
            try:
                for piece in pieces:
                    self._stream.write(piece)
                self._stream.flush()
            except OSError:
                end(0)


class Requests:
    """Waiting jobs, cancelled jobs, and messages to running jobs."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[protocol.Message] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._told: dict[int, queue.SimpleQueue[dict[str, Any]]] = {}

    def take(self) -> protocol.Message:
        """Wait for the next job."""
        return self._waiting.get()

    def is_cancelled(self, job_id: int) -> bool:
        return job_id in self._cancelled

    def forget(self, job_id: int) -> None:
        """Discard everything about an answered job."""
        self._cancelled.discard(job_id)
        self._told.pop(job_id, None)

    def told(self, job_id: int) -> list[dict[str, Any]]:
        """Messages of the parent to this job since the last call."""
        messages = self._told.get(job_id)
        return [] if messages is None else [messages.get() for _ in range(messages.qsize())]

    def accept(self, message: protocol.Message, channel: Channel) -> None:
        """Handle a message of the parent; FormatError if it is invalid."""
        header = message.header
        job_id, kind = header.get("id"), header.get("kind")
        if type(job_id) is not int or not isinstance(kind, str) or type(header.get("job", {})) is not dict:
            raise FormatError(f"a request needs a number 'id', text 'kind', object 'job': {header!r:.200}")
        if kind == "cancel":
            self._cancelled.add(job_id)
        elif kind == "tell":
            if job_id in self._told:  # else it has ended
                self._told[job_id].put(header.get("job", {}))
        elif kind in BESIDE:
            threading.Thread(target=_run, args=(message, self, channel), daemon=True).start()
        else:
            self._told[job_id] = queue.SimpleQueue()
            self._waiting.put(message)


def serve(code: str = "") -> NoReturn:
    """Serve on stdin and stdout until stdin closes.

    code: the digest of this package's source, for a parent on another machine.
    """
    # Ctrl-C in a terminal reaches all processes of its group: the parent decides how to react
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.stack_size(STACK_SIZE)
    source, sink = _take_standard_streams()
    channel = Channel(sink)
    requests = Requests()
    channel.send({"event": "hello", **_hello(), "source": code})
    threading.Thread(target=_read, args=(source, requests, channel), daemon=True).start()
    warnings.simplefilter("ignore", SimulationWarning)  # results say it themselves
    while True:
        _run(requests.take(), requests, channel)


def end(status: int) -> NoReturn:
    """Exit at once, regardless of other threads."""
    sys.stderr.flush()
    os._exit(status)


def _take_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Move stdin and stdout to new descriptors for the protocol; prints go to stderr, reads find nothing.

    On Windows a thread reading standard input blocks every library that queries the type of that handle while it loads.
    So the protocol must read another handle.
    """
    source, sink = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(source, os.O_BINARY)
        msvcrt.setmode(sink, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


def _read(source: BinaryIO, requests: Requests, channel: Channel) -> NoReturn:
    status = 1
    try:
        while (message := protocol.read_message(source)) is not None:
            requests.accept(message, channel)
        status = 0
    except FormatError as error:
        channel.send({"event": "refused", "message": str(error)})
        status = 2
    except Exception:  # no memory for an array, a broken pipe: without a reader the process must end
        traceback.print_exc()
    finally:
        end(status)


def _run(message: protocol.Message, requests: Requests, channel: Channel) -> None:
    job_id: int = message.header["id"]
    try:
        if requests.is_cancelled(job_id):
            raise CancelledError()
        channel.send({"event": "started", "id": job_id})
        report = Report(channel.send, requests.is_cancelled, requests.told, job_id)
        header, arrays = _do(message.header["kind"], message.header.get("job", {}), message.arrays, report)
        channel.send({"event": "done", "id": job_id, "answer": header}, arrays)
    except CancelledError:
        channel.send({"event": "cancelled", "id": job_id})
    except Exception as error:  # any failure of a job is its answer; the process continues
        _tell_failure(job_id, error, channel)
    finally:
        requests.forget(job_id)


def _do(
    kind: str, job: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]], report: Report
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    if kind == "ping":
        return {"echo": job, **_hello()}, arrays
    from . import jobs  # imports numba, therefore on first use

    return jobs.run(kind, job, arrays, report)


def _tell_failure(job_id: int, error: Exception, channel: Channel) -> None:
    traceback.print_exception(error)
    event: dict[str, Any] = {"event": "failed", "id": job_id, "details": {}}
    event["error"], event["message"] = type(error).__name__, str(error)
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    if isinstance(error, DivergedError):
        from .jobs import describe_divergence

        event["details"], event["partial"], arrays = describe_divergence(error)
    channel.send(event, arrays)


def _hello() -> dict[str, Any]:
    """Description of this process; ``jit`` is determined without importing numba."""
    found = importlib.util.find_spec("numba") is not None
    off = os.environ.get("CONDYLE_JIT", "1") == "0" or os.environ.get("NUMBA_DISABLE_JIT", "0") == "1"
    return {
        "protocol": protocol.VERSION,
        "pid": os.getpid(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": importlib.metadata.version("numba") if found else None,
        "jit": found and not off,
    }
