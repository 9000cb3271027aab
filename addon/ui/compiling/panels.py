"""Shows whether kernels run uncompiled: in the preferences, and above the settings of a bake."""

from typing import Any

from bpy.types import AddonPreferences, Context, Panel

from ...blender import numba_support, physics_access
from ...blender.attachments import Ending, Entry
from ...data.property_options import SidebarPanel
from ...jobs import precompile
from ..layout import draw_note


class Preferences(AddonPreferences):
    """The extension's own preferences."""

    bl_idname = physics_access.PACKAGE

    def draw(self, context: Any) -> None:
        message, icon = (
            (numba_support.WITH, "CHECKMARK")
            if numba_support.can_compile()
            else (numba_support.WITHOUT, "ERROR")
        )
        draw_note(self.layout, context, message, icon)


class SlowPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_slow"
    bl_label = "Slow: No Compiler"
    bl_parent_id = "CONDYLE_PT_bake"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return not numba_support.can_compile()

    def draw(self, context: Any) -> None:
        draw_note(self.layout, context, numba_support.WITHOUT, "ERROR")


def draw_in_status_bar(self: Any, _context: Context) -> None:
    """Draw the progress of precompilation at the right end of the status bar."""
    text = precompile.line()
    if text:
        self.layout.label(text=f"Condyle: {text}", icon="SORTTIME")


classes = (Preferences, SlowPanel)
attached = (Entry("STATUSBAR_HT_header", draw_in_status_bar), Ending(lambda: precompile.stop(), precompile))
