"""Standard output and interrupts while Blender works."""

import os
import signal
import sys
import threading
from typing import Any

#: signals that end a batch from outside; only Unix sends one for a closed terminal
FROM_OUTSIDE = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}


class silenced:
    """Context around Blender's own work: suppresses its output and delays interrupts to the end.

    The output comes from C, so the file descriptor is redirected. Without the delay, an interrupt would be lost in
    Blender, or crash it during its import.
    """

    def __enter__(self) -> None:
        sys.stdout.flush()
        self._kept = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
        self._interrupts: list[int] = []
        self._handler: Any = None
        # background jobs of a shell, or under nohup, ignore interrupts: this is kept
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        if threading.current_thread() is threading.main_thread() and not ignored:
            self._handler = signal.signal(signal.SIGINT, lambda number, _: self._interrupts.append(number))

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        sys.stdout.flush()
        os.dup2(self._kept, 1)
        os.close(self._kept)
        if self._interrupts:
            raise KeyboardInterrupt
