"""How command lines tell what goes on: a bar on a terminal, silence elsewhere, or events as JSON lines."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from typing import Any, TextIO

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_DIVERGED, EXIT_INTERRUPTED = 0, 1, 2, 3, 130

INTERVAL = 0.05  # seconds between two updates
BAR_WIDTH = 30
CLEAR_LINE = "\r\x1b[K"


class Reporter:
    """Tells how one run goes.

    Without ``log_json`` a terminal gets a progress bar and messages, anything else only errors. With it every
    call is one JSON object on a line: ``{"event": "start" | "progress" | "message" | "warning" | "done"
    | "error", "seconds": ..., ...}``, or a kind of event of the caller's own.

    Args:
        quiet: only errors are told.
        log_json: events as JSON lines.
        stream: where to; None: stdout for JSON, stderr else.
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
        self._news: tuple[float, str] | None = None  # what the last progress said
        self._bar = False

    def start(self, name: str) -> None:
        """A piece of work begins."""
        self._began = time.monotonic()
        self._name, self._text, self._last, self._news = name, "", -INTERVAL, None
        self.event("start", name=name)

    def progress(self, fraction: float, message: str = "") -> None:
        """Done so far, 0 to 1; told at most 20 times a second, and only what is new."""
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
            self._write(f"{CLEAR_LINE}{self._name} {bar} {fraction:4.0%} {self._text}")
            self._bar = True

    def message(self, text: str) -> None:
        """Something worth a line of its own."""
        self.event("message", text=text)
        if self._terminal and not self._quiet:
            self._line(text)

    def warning(self, text: str) -> None:
        """Something that was not done as asked; told where the rest is silent, too."""
        self.event("warning", text=text)
        if not self._json and not self._quiet:
            self._line(f"warning: {text}")

    def done(self, **facts: Any) -> None:
        """The work is done; facts are told with it."""
        self.event("done", name=self._name, **facts)
        if self._terminal and not self._quiet:
            told = ", ".join(f"{key.replace('_', ' ')} {_shown(value)}" for key, value in facts.items())
            seconds = time.monotonic() - self._began
            self._line(f"{self._name} done in {seconds:.2f} s" + (f": {told}" if told else ""))

    def error(self, error: BaseException | str, **facts: Any) -> None:
        """The work failed; told also where the rest is silent."""
        kind = type(error).__name__ if isinstance(error, BaseException) else "Error"
        self.event("error", error=kind, message=str(error), **facts)
        if not self._json:
            self._line(f"error: {error}")

    def event(self, event: str, **facts: Any) -> None:
        """Something for programs alone."""
        if not self._json or (self._quiet and event != "error"):
            return
        seconds = round(time.monotonic() - self._began, 3)
        self._write(json.dumps({"event": event, "seconds": seconds, **facts}, default=str) + "\n")

    def _line(self, text: str) -> None:
        self._write(f"{CLEAR_LINE if self._bar else ''}{text}\n")
        self._bar = False

    def _write(self, text: str) -> None:
        write(text, self._stream)


def write(text: str, stream: TextIO) -> None:
    """Write at once, with a question mark for each character that a stream cannot have. Where nobody reads it any more,
    as behind ``| head`` or on a terminal that was closed, all goes nowhere from then on: the work is done without.
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
