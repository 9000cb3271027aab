"""How a job reports its progress."""

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..errors import CancelledError
from . import protocol

PROGRESS_INTERVAL = 0.05  # seconds between two progress events
Send: TypeAlias = Callable[[Mapping[str, Any], protocol.ArrayMap | None], None]
Told: TypeAlias = Callable[[int], list[dict[str, Any]]]


class Report:
    """Reports a job's progress to the parent, at most 20 times a second, and a cancellation to the job.

    Args:
        send: sends a header with arrays or None. is_cancelled: whether the job with a number is. told: its messages.
    """

    def __init__(self, send: Send, is_cancelled: Callable[[int], bool], told: Told, job_id: int) -> None:
        self._put = send
        self._is_cancelled = is_cancelled
        self._told = told
        self._id = job_id
        self._last = -PROGRESS_INTERVAL
        self._text = ""
        self._fraction = 0.0

    def message(self, text: str) -> None:
        """Report the current activity; raises CancelledError if the job was cancelled."""
        self._text = text
        self._send()
        if self._is_cancelled(self._id):
            raise CancelledError()

    def progress(self, fraction: float, text: str = "") -> bool:
        """Report progress from 0 to 1 and optionally a new activity; False asks the computation to stop."""
        self._text = text or self._text
        self._fraction = min(max(float(fraction), 0.0), 1.0)
        if time.monotonic() - self._last >= PROGRESS_INTERVAL:
            self._send()
        return not self._is_cancelled(self._id)

    def news(self, header: Mapping[str, Any], arrays: protocol.ArrayMap) -> None:
        """Send an intermediate result; raises CancelledError if the job was cancelled."""
        if self._is_cancelled(self._id):
            raise CancelledError()
        self._put({"event": "news", "id": self._id, "news": dict(header)}, arrays)

    def told(self) -> list[dict[str, Any]]:
        """Messages of the parent to this job since the last call."""
        return self._told(self._id)

    def _send(self) -> None:
        self._last = time.monotonic()
        event = {"event": "progress", "id": self._id, "fraction": self._fraction, "message": self._text}
        self._put(event, None)
