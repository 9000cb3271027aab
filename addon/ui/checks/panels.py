"""Panel with the list of errors and warnings; a click selects the object of a line."""

from typing import Any

from bpy.types import Context, Panel

from ...blender import session
from ...data import findings, references
from ...data.property_options import SidebarPanel, shown_if
from ...making import scales
from ..layout import draw_lines

#: most lines in the panel
MOST_SHOWN = 12
#: most characters of a line in the panel
LONGEST = 200


class WarningsPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_warnings"
    bl_label = "Warnings"
    bl_parent_id = "CONDYLE_PT_bake"
    bl_order = 2

    poll = shown_if(lambda context: _shown(context))

    def draw_header_preset(self, _context: Context) -> None:
        self.layout.operator("condyle.clear_findings", text="", icon="X", emboss=False)

    def draw(self, context: Any) -> None:
        layout = self.layout
        shown = _shown(context)
        for index, finding in shown[:MOST_SHOWN]:
            row = layout.row(align=True)
            text = finding.text if len(finding.text) <= LONGEST else f"{finding.text[: LONGEST - 1]}…"
            icon = "CANCEL" if finding.is_error else "INFO" if finding.is_hint else "ERROR"
            draw_lines(row.column(align=True), text, icon, context.region.width - 40)
            if finding.session_uid:
                arrow = row.row(align=True)
                arrow.enabled = finding.culprit_in(context.scene) is not None
                arrow.operator("condyle.select_culprit", text="", icon="RESTRICT_SELECT_OFF").index = index
        for remedy in dict.fromkeys(finding.remedy for _, finding in shown if finding.remedy):
            layout.operator(remedy)
        if any(finding.is_error for _, finding in shown) and scales.refused(
            references.bodies_of(context.scene)
        ):
            layout.operator("condyle.apply_scale")
        more = len(shown) - MOST_SHOWN
        if more > 0:
            layout.label(text=f"and {more} more", icon="BLANK1")


def _shown(context: Any) -> list[tuple[int, Any]]:
    """Indices and findings of the list."""
    return findings.shown(context.scene) if session.findings else []
