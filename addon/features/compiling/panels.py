"""Where it is told that kernels run uncompiled: in the preferences, and above the settings of a bake."""

from typing import Any

from bpy.types import AddonPreferences, Panel

from ... import core, jit
from ..common import SidebarPanel
from ..simulation.panels import draw_lines


class Preferences(AddonPreferences):
    """The extension's own preferences."""

    bl_idname = core.PACKAGE

    def draw(self, context: Any) -> None:
        told, icon = (jit.WITH, "CHECKMARK") if jit.can_compile() else (jit.WITHOUT, "ERROR")
        draw_lines(self.layout.column(align=True), told, icon, context.region.width)


class SlowPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_slow"
    bl_label = "Slow: No Compiler"
    bl_parent_id = "CONDYLE_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return not jit.can_compile()

    def draw(self, context: Any) -> None:
        draw_lines(self.layout.column(align=True), jit.WITHOUT, "ERROR", context.region.width)


classes = (Preferences, SlowPanel)
