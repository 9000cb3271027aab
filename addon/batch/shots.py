"""Requests of a batch to its child process: a line of JSON on standard input for each shot, with a bake's arguments."""

import json
import os
import queue
import signal
import threading
from collections.abc import Iterator

GONE = 130  # exit code of a batch's child whose parent has exited

_asked: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
_listening: threading.Thread | None = None


def asked() -> Iterator[list[str]]:
    """The arguments of one shot after another, as soon as each is asked for."""
    listen()
    while True:
        yield _asked.get()


def listen() -> None:
    """Exit at once when the parent closes the standard input; ignore interrupts, which the parent handles."""
    global _listening
    if _listening is not None:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # On Windows a thread that waits in a read of the standard input blocks libraries that ask for its handle
    source = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    _listening = threading.Thread(target=_listen, args=(source,), daemon=True)
    _listening.start()


def _listen(source: int) -> None:
    with open(source, encoding="utf-8") as lines:
        for line in lines:
            _asked.put(json.loads(line))
    os._exit(GONE)
