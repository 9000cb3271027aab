"""Ctrl-C while machine code is made."""

import signal
import threading


class Uninterrupted:
    """Context in which Ctrl-C waits: where LLVM calls Python, an interrupt would be lost, and the code with it."""

    def __enter__(self) -> None:
        self._came = False
        main = threading.current_thread() is threading.main_thread()
        self._handler = signal.getsignal(signal.SIGINT) if main else None
        if callable(self._handler):
            signal.signal(signal.SIGINT, self._note)

    def _note(self, *_: object) -> None:
        self._came = True

    def __exit__(self, *reason: object) -> None:
        if callable(self._handler):
            signal.signal(signal.SIGINT, self._handler)
            if self._came:
                self._handler(signal.SIGINT, None)
