"""Shows whether kernels run uncompiled: in the preferences, and above the settings of a bake."""

from typing import Any

from bpy.props import StringProperty
from bpy.types import AddonPreferences, Context, Panel

from ...blender import compute_process, numba_support, physics_access
from ...blender.attachments import Ending, Entry
from ...data.property_options import SidebarPanel, shown_if
from ...jobs import precompile
from ..layout import draw_note


class Preferences(AddonPreferences):
    """The extension's own preferences."""

    bl_idname = physics_access.PACKAGE

    compute_command: StringProperty(
        name="Compute Elsewhere",
        description="Command that starts the compute process on another machine with the same version of Condyle, "
        'such as: ssh HOST "cd condyle; .venv/bin/python -m physics worker". Empty: on this machine',
        update=lambda _self, _context: compute_process.close(),
    )

    def draw(self, context: Any) -> None:
        self.layout.prop(self, "compute_command")
        compiles = numba_support.can_compile()
        message = numba_support.WITH if compiles else numba_support.WITHOUT
        draw_note(self.layout, context, message, "CHECKMARK" if compiles else "ERROR")


class SlowPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_slow"
    bl_label = "Slow: No Compiler"
    bl_parent_id = "CONDYLE_PT_bake"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    poll = shown_if(lambda _context: not (numba_support.can_compile() or compute_process.elsewhere()))

    def draw(self, context: Any) -> None:
        draw_note(self.layout, context, numba_support.WITHOUT, "ERROR")


def draw_in_status_bar(self: Any, _context: Context) -> None:
    """Draw the progress of precompilation at the right end of the status bar."""
    text = precompile.line()
    if text:
        self.layout.label(text=f"Condyle: {text}", icon="SORTTIME")


attached = (Entry("STATUSBAR_HT_header", draw_in_status_bar), Ending(lambda: precompile.stop(), precompile))
