"""What lasts as long as Blender runs, and never goes into a file."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Scene

#: modes in which a step of undo holds the whole file; in all others it holds what is edited there and little else, so
#: that what operators change besides would stay through an undo
MODES_UNDONE_WHOLE = frozenset({"OBJECT", "POSE"})

#: the file at hand was saved by a newer version: shown, not changed
read_only: bool = False

#: the fit or bake under way (see `jobs`); one at a time
job: Any = None

#: title of the job that went on as a file was about to be opened; empty: none did
given_up: str = ""

#: the live run under way (see `live_run`); it is a job, too
live: Any = None

#: last line for the panel: what was done, or what went wrong; and the scene, by session uid, that it is about (0: all)
message: str = ""
message_icon: str = "INFO"
message_scene: int = 0
#: how often it was set
tellings: int = 0

#: what the last import, scene check or bake told, see `findings`; and the scene, by session uid, that it is about
findings: list[Any] = []
findings_scene: int = 0

#: what was computed of the last bake, if it went wrong, see `unfinished`
unfinished: Any = None

#: by session uid of scenes: what has changed since their bakes, see `staleness`; and whether that is to be looked at
stale: dict[int, list[Any]] = {}
stale_unknown: bool = False


def tell(text: str, icon: str = "INFO", scene_uid: int | None = None) -> None:
    """Set the panel's last line; scene_uid: of the scene that it is about, 0: all; None: the one that is shown."""
    global message, message_icon, message_scene, tellings
    if scene_uid is None:
        scene = getattr(bpy.context, "scene", None)  # none while add-ons are switched on
        scene_uid = 0 if scene is None else scene.session_uid
    message, message_icon, message_scene = text, icon, scene_uid
    tellings += 1


def message_in(scene: Scene) -> str:
    """The panel's last line where it is about a scene; else an empty text."""
    return message if message_scene in (0, scene.session_uid) else ""


def forget_error(since: int) -> None:
    """Take an error out of the panel's last line, if nothing has been told since so many `tellings`."""
    if message_icon == "ERROR" and tellings == since:
        tell("")
