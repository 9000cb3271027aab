"""How panels lay out text and fields."""

import re
import textwrap
from typing import Any

import bpy


def draw_lines(layout: Any, text: str, icon: str, width: int) -> None:
    """A text of several lines, broken to the width of the region, but not between a figure and its unit."""
    # the interface's font is about 6.6 pixels a character wide; margins and icon take the room of 12
    scale = bpy.context.preferences.system.ui_scale or 1.0  # 0 without a window
    characters = max(16, int(width / (6.6 * scale)) - 12)
    held = re.sub(r"(\d) (?=\S{1,3}(\s|[,;:.]|$))", "\\1\N{NO-BREAK SPACE}", text)
    for number, line in enumerate(textwrap.wrap(held, characters)):
        layout.label(text=line, icon=icon if number == 0 else "BLANK1")


def fields(layout: Any) -> Any:
    """A layout, with labels beside the fields and no dots for keys."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout
