"""Additions to Blender while the add-on is enabled: modules list theirs in ``attached``, `registration` adds them.

window: only with windows, not in background mode.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import bpy

from . import lazy


class Handler:
    """A function in lists of bpy.app.handlers; it persists when a file is opened."""

    def __init__(self, function: Callable[..., Any], *lists: str, window: bool = False) -> None:
        self._function, self._window = bpy.app.handlers.persistent(function), window
        self._lists = [getattr(bpy.app.handlers, name) for name in lists]

    def add(self) -> None:
        for each in self._lists if not (self._window and bpy.app.background) else ():
            each.append(self._function)

    def remove(self) -> None:
        for each in self._lists:
            if self._function in each:
                each.remove(self._function)


@dataclass
class Drawing:
    """A function that draws in the 3D views of a window."""

    function: Callable[[], None]
    phase: str
    _handles: list[Any] = field(default_factory=list)

    def add(self) -> None:
        if not bpy.app.background:
            place = (self.function, (), "WINDOW", self.phase)
            self._handles.append(bpy.types.SpaceView3D.draw_handler_add(*place))

    def remove(self) -> None:
        while self._handles:
            bpy.types.SpaceView3D.draw_handler_remove(self._handles.pop(), "WINDOW")


@dataclass
class Entry:
    """A function that draws into a menu or header of Blender's."""

    menu: str
    function: Callable[[Any, Any], None]

    def add(self) -> None:
        getattr(bpy.types, self.menu).append(self.function)

    def remove(self) -> None:
        getattr(bpy.types, self.menu).remove(self.function)


@dataclass
class Timer:
    """A timer's function, removed when the add-on is disabled. every: seconds, registers it at once."""

    function: Callable[[], float | None]
    every: float | None = None

    def add(self) -> None:
        if self.every is not None and not bpy.app.background:
            bpy.app.timers.register(self.function, first_interval=self.every, persistent=True)

    def remove(self) -> None:
        if bpy.app.timers.is_registered(self.function):
            bpy.app.timers.unregister(self.function)


@dataclass
class Ending:
    """A function to call when the add-on is disabled; module: skip it if this module has never run."""

    function: Callable[[], None]
    module: ModuleType | None = None

    def add(self) -> None:
        """Nothing to add."""

    def remove(self) -> None:
        if self.module is None or not lazy.is_waiting(self.module):
            self.function()


Attachment = Handler | Drawing | Entry | Timer | Ending


def soon(function: Callable[[], float | None], seconds: float) -> None:
    """Let a timer call a function, unless one already will."""
    if not bpy.app.timers.is_registered(function):
        bpy.app.timers.register(function, first_interval=seconds)
