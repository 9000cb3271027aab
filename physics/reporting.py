"""Progress reports of command lines: a bar on a terminal, silence elsewhere, or events as JSON lines."""

import errno
import json
import os
import sys
import time
from typing import Any, TextIO

from .errors import on_a_line, shown

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_DIVERGED, EXIT_DOUBTFUL, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130

INTERVAL = 0.05  # seconds between two updates
BAR_WIDTH = 30
CLEAR_LINE = "\r\x1b[K"


class Reporter:
    """Reports the progress of one run.

    Without ``log_json`` a terminal gets a progress bar and messages, any other stream warnings and errors only. With it
    each call writes one JSON object per line: ``{"event": "start" | "progress" | "message" | "warning" | "done" |
    "error", "seconds": ..., ...}``, or an event of the caller's own kind.

    Args:
        quiet: report errors only.
        log_json: write events as JSON lines.
        stream: where to write; None: stdout for JSON, else stderr.
    """

    def __init__(self, quiet: bool = False, log_json: bool = False, stream: TextIO | None = None) -> None:
        self._quiet = quiet
        self._json = log_json
        self._stream = stream or (sys.stdout if log_json else sys.stderr)
        self._terminal = not log_json and self._stream.isatty()
        self._full, self._empty = _bar_characters(self._stream.encoding)
        self._began = time.monotonic()
        self._name = ""
        self._last = -INTERVAL
        self._text = ""
        self._news: tuple[float, str] | None = None  # last progress reported
        self._bar = False

    def start(self, name: str) -> None:
        """Begin a piece of work."""
        self._began = time.monotonic()
        self._name, self._text, self._last, self._news = name, "", -INTERVAL, None
        self.event("start", name=name)

    def progress(self, fraction: float, message: str = "") -> None:
        """Report the fraction done (0 to 1), at most 20 times a second and only if it is new."""
        now = time.monotonic()
        if now - self._last < INTERVAL and fraction < 1.0:
            return
        fraction = round(min(max(float(fraction), 0.0), 1.0), 4)
        news = (fraction, message or self._text)
        if news == self._news:
            return
        self._last, self._text, self._news = now, news[1], news
        self.event("progress", fraction=fraction, message=self._text)
        if self._terminal and not self._quiet:
            filled = round(BAR_WIDTH * fraction)
            bar = self._full * filled + self._empty * (BAR_WIDTH - filled)
            name, text = on_a_line(self._name), on_a_line(self._text)
            self._write(f"{CLEAR_LINE}{name} {bar} {fraction:4.0%} {text}")
            self._bar = True

    def message(self, text: str) -> None:
        """Write a line of text."""
        self.event("message", text=text)
        if self._terminal and not self._quiet:
            self._line(text)

    def warning(self, text: str, **facts: Any) -> None:
        """Report something not done as asked, on streams other than terminals too."""
        self.event("warning", text=text, **facts)
        if not self._json and not self._quiet:
            self._line(f"warning: {text}")

    def done(self, **facts: Any) -> None:
        """Report the end of the work and facts about it."""
        self.event("done", name=self._name, **facts)
        if self._terminal and not self._quiet:
            text = ", ".join(f"{key.replace('_', ' ')} {_shown(value)}" for key, value in facts.items())
            seconds = time.monotonic() - self._began
            self._line(f"{self._name} done in {seconds:.2f} s" + (f": {text}" if text else ""))

    def error(self, error: BaseException | str, **facts: Any) -> None:
        """Report a failure, even if quiet."""
        kind = type(error).__name__ if isinstance(error, BaseException) else "Error"
        self.event("error", error=kind, message=str(error), **facts)
        if not self._json:
            self._line(f"error: {error}")

    def event(self, event: str, **facts: Any) -> None:
        """Write an event, for programs only."""
        if not self._json or (self._quiet and event != "error"):
            return
        seconds = round(time.monotonic() - self._began, 3)
        self._write(json.dumps({"event": event, "seconds": seconds, **facts}, default=str) + "\n")

    def _line(self, text: str) -> None:
        self._write(f"{CLEAR_LINE if self._bar else ''}{shown(text)}\n")
        self._bar = False

    def _write(self, text: str) -> None:
        write(text, self._stream)


def write(text: str, stream: TextIO) -> None:
    """Write at once, with a question mark for each character that the stream cannot encode.

    Once nobody reads the stream (``| head``, a closed terminal), output goes nowhere and the work continues.
    """
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _bar_characters(encoding: str | None) -> tuple[str, str]:
    try:
        "█░".encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return "#", "."
    return "█", "░"


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
