"""Layout of text and fields in panels."""

import re
import textwrap
from typing import Any

import bpy
from bpy.types import UILayout

from ..data.body_reference import BodyReference

#: endings of a coordinate's properties that show it in the scene's units, by its own unit
VIEWS = {"rad": "_angle", "m": "_length", "1": ""}


def lines_of(text: str, width: int) -> list[str]:
    """A text wrapped to the width of the region, but not between a number and its unit."""
    # the interface's font is about 6.6 pixels wide; margins and icon take the width of 12 characters
    scale = bpy.context.preferences.system.ui_scale or 1.0  # 0 without a window
    characters = max(16, int(width / (6.6 * scale)) - 12)
    joined = re.sub(r"(\d) (?=\S{1,3}(\s|[,;:.]|$))", "\\1\N{NO-BREAK SPACE}", text)
    return textwrap.wrap(joined, characters)


def draw_lines(layout: UILayout, text: str, icon: str, width: int) -> None:
    """Draw `lines_of` a text."""
    for number, line in enumerate(lines_of(text, width)):
        layout.label(text=line, icon=icon if number == 0 else "BLANK1")


def draw_status(layout: UILayout, context: Any, text: str, icon: str, alert: bool) -> None:
    """Draw a text in two lines, whatever its length, so that nothing below moves; a button shows the rest of it."""
    column = layout.box().column(align=True)
    column.alert = alert
    lines = lines_of(text, context.region.width)
    column.label(text=lines[0], icon=icon)
    row = column.row()
    row.label(text=lines[1] if len(lines) > 1 else "", icon="BLANK1")
    if len(lines) > 2:
        row.operator("condyle.show_text", text="", icon="THREE_DOTS", emboss=False).text = text


def draw_note(layout: UILayout, context: Any, text: str, icon: str = "INFO") -> None:
    """Draw a text of its own below what was drawn so far, wrapped to the width of the region."""
    draw_lines(layout.column(align=True), text, icon, context.region.width)


def draw_reference(layout: UILayout, reference: BodyReference, text: str) -> None:
    """Draw the object of a reference to a body, and of an armature also the bone."""
    layout.prop(reference, "object", text=text)
    if reference.object is not None and reference.object.pose is not None:
        layout.prop_search(reference, "bone_name", reference.object.pose, "bones", icon="BONE_DATA")


def fields(layout: UILayout) -> Any:
    """The layout, with labels beside the fields and without decorators for keys."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


def draw_fields(layout: UILayout, settings: Any, *names: str) -> None:
    """Draw properties of a group in their order."""
    for name in names:
        layout.prop(settings, name)
