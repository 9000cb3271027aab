"""What a child process of a batch prints."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

#: signals by which a batch is ended from outside; that of a terminal that is closed is Unix's
FROM_OUTSIDE = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}


class silenced:
    """Around Blender's own work: its lines stay out of ours, an interrupt waits until it is done.

    The lines come from C, so the descriptor is turned away. An interrupt that arrived inside would be lost in
    Blender, or crash it while it is imported.
    """

    def __enter__(self) -> None:
        sys.stdout.flush()
        self._kept = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
        self._interrupts: list[int] = []
        self._handler: Any = None
        # a job in the background of a shell, or under nohup, ignores interrupts: so it stays
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        if threading.current_thread() is threading.main_thread() and not ignored:
            self._handler = signal.signal(signal.SIGINT, lambda number, _: self._interrupts.append(number))

    def __exit__(self, *_: Any) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        sys.stdout.flush()
        os.dup2(self._kept, 1)
        os.close(self._kept)
        if self._interrupts:
            raise KeyboardInterrupt
