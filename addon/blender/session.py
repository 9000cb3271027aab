"""State of the running Blender that is never saved."""

from typing import Any

import bpy
from bpy.types import Scene

#: modes in which an undo step contains the whole file; in others it contains little more than the edited data, and undo
#: would not revert other changes by operators
MODES_UNDONE_WHOLE = frozenset({"OBJECT", "POSE"})

#: the open file was saved by a newer version: shown, not changed
read_only: bool = False

#: the running fit or bake (see `jobs`); one at a time
job: Any = None

#: title of the job that opening a file interrupted; empty: none
given_up: str = ""

#: the current live run (see `live_run`), also a job
live: Any = None

#: springs of chains as the last live run read them, see `live.knobs`
springs: Any = ()

#: the panel's message about a result or an error; and its scene's session uid, 0: all scenes
message: str = ""
message_icon: str = "INFO"
message_scene: int = 0
#: number of messages so far
tellings: int = 0

#: findings of the last import, scene check or bake, see `findings`; and their scene's session uid
findings: list[Any] = []
findings_scene: int = 0

#: the computed part of the last bake, if it failed, see `unfinished`
unfinished: Any = None

#: session uid of the scene in which the last search missed a goal, see `jobs.goals`; 0: none
missed_goals: int = 0

#: session uid of the scene in which the last motion found was far off the keys, see `jobs.physical`; 0: none
far_off: int = 0

#: changes since the last bake of each scene, by its session uid, see `staleness`; and whether to search for them again
stale: dict[int, list[Any]] = {}
stale_unknown: bool = False

#: how often anything was changed so far, so that what was read before is known to be as it is now
changes: int = 0


def tell(text: str, icon: str = "INFO", scene_uid: int | None = None) -> None:
    """Set the panel's message; scene_uid: its scene's session uid, 0: all scenes; None: the current scene."""
    global message, message_icon, message_scene, tellings
    if scene_uid is None:
        scene = getattr(bpy.context, "scene", None)  # none while add-ons are enabled
        scene_uid = 0 if scene is None else scene.session_uid
    message, message_icon, message_scene = text, icon, scene_uid
    tellings += 1


def message_in(scene: Scene) -> str:
    """The panel's message if it belongs to a scene; else empty."""
    return message if message_scene in (0, scene.session_uid) else ""


def forget_error(since: int) -> None:
    """Clear an error in the panel's message, unless `tell` was called since."""
    if message_icon == "ERROR" and tellings == since:
        tell("")
