"""Requests to redraw parts of the windows."""

from collections.abc import Iterator
from typing import Any

import bpy


def _views() -> Iterator[Any]:
    for window in bpy.context.window_manager.windows:
        yield from (area for area in window.screen.areas if area.type == "VIEW_3D")


def views() -> None:
    """Redraw the 3D views."""
    for area in _views():
        area.tag_redraw()


def sidebars() -> None:
    """Redraw the sidebars of the 3D views, but not the views, which are slow to draw."""
    for area in _views():
        for region in area.regions:
            if region.type == "UI":
                region.tag_redraw()
