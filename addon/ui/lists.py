"""Base classes of lists in panels."""

from typing import Any

from bpy.types import Context, Scene, UILayout

from ..blender import mixins


class RowList(mixins.UIList):
    """Base of lists: `draw_row` draws one item in a row."""

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: Any,
        item: Any,
        _icon: Any,
        _active: Any,
        _active_name: Any,
        index: int = 0,
    ) -> None:
        self.draw_row(context, layout.row(align=True), data, item, index)

    def draw_row(self, context: Context, row: Any, data: Any, item: Any, index: int) -> None:
        raise TypeError(f"{type(self).__name__} draws no rows")


class ObjectList(RowList):
    """Base of lists of a scene's objects for which `shows` is true."""

    def shows(self, item: Any) -> bool:
        raise TypeError(f"{type(self).__name__} shows nothing")

    def filter_items(self, _context: Context, data: Any, name: str) -> tuple[list[int], list[int]]:
        """Filter flags of the shown objects, as Blender expects."""
        return [self.bitflag_filter_item if self.shows(item) else 0 for item in getattr(data, name)], []


def draw_objects(layout: UILayout, scene: Scene, kind: type[ObjectList], active: str, count: int) -> None:
    """Draw a list of some objects of a scene, `count` of them; `active` is the scene's index into all objects."""
    rows = min(max(count, 2), 6)
    layout.template_list(kind.bl_idname, "", scene, "objects", scene.condyle, active, rows=rows)


def draw_rows(
    layout: UILayout, kind: type[RowList], settings: Any, name: str, active: str, rows: int
) -> None:
    """Draw a list of a collection of some settings; `active` is the index of its active row."""
    layout.template_list(kind.bl_idname, "", settings, name, settings, active, rows=rows)


def draw_switch(row: Any, settings: Any) -> None:
    """Draw the checkbox that includes an item in simulations."""
    icon = "CHECKBOX_HLT" if settings.active else "CHECKBOX_DEHLT"
    row.prop(settings, "active", text="", icon=icon, emboss=False)


def remove_active(settings: Any, rows: str, active: str) -> None:
    """Remove the active row of a list of some settings."""
    found = getattr(settings, rows)
    found.remove(min(getattr(settings, active), len(found) - 1))
    setattr(settings, active, max(0, min(getattr(settings, active), len(found) - 1)))
