"""What lasts as long as Blender runs, and never goes into a file."""

from __future__ import annotations

from typing import Any

#: the file at hand was saved by a newer version: shown, not changed
read_only: bool = False

#: the fit or bake under way (see `jobs`); one at a time
job: Any = None

#: the live run under way (see `live_run`); it is a job, too
live: Any = None

#: last line for the panel: what was done, or what went wrong
message: str = ""
message_icon: str = "INFO"
#: how often it was set
tellings: int = 0

#: what the last import, scene check or bake told, see `findings`
findings: list[Any] = []

#: what was computed of the last bake, if it went wrong, see `unfinished`
unfinished: Any = None

#: by session uid of scenes: what has changed since their bakes, see `staleness`; and whether that is to be looked at
stale: dict[int, list[str]] = {}
stale_unknown: bool = False


def tell(text: str, icon: str = "INFO") -> None:
    """Set the panel's last line."""
    global message, message_icon, tellings
    message, message_icon = text, icon
    tellings += 1


def forget_error(since: int) -> None:
    """Take an error out of the panel's last line, if nothing has been told since so many `tellings`."""
    if message_icon == "ERROR" and tellings == since:
        tell("")
