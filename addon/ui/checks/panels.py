"""List of errors and warnings, behind a button; a click selects the object of a line."""

from typing import Any

from bpy.types import Panel, Scene, UILayout

from ...data import finding_list, references
from ...data.property_options import shown_if
from ...making import scales
from ..layout import draw_lines

#: most lines in the list
MOST_SHOWN = 12
#: most characters of a line in the list
LONGEST = 200
#: width of the list, in widths of a button with an icon alone, of 20 pixels each
WIDTH = 22


def draw_count(row: UILayout, scene: Scene) -> None:
    """Draw the button that opens the list, with the number of its lines: always there, so that nothing moves."""
    shown, button = [finding for _, finding in finding_list.shown(scene)], row.row(align=True)
    button.ui_units_x, button.alert = 4, any(finding.is_error for finding in shown)
    icon = "CANCEL" if button.alert else "ERROR" if any(not finding.is_hint for finding in shown) else "INFO"
    button.popover(WarningsPanel.bl_idname, text=str(len(shown)), icon=icon)


class WarningsPanel(Panel):
    """The list, which a button opens: in the tab it would move what is below."""

    bl_idname = "CONDYLE_PT_warnings"
    bl_label = "Warnings"
    bl_description = "Errors and warnings of the last check, bake or import"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = WIDTH

    poll = shown_if(lambda context: finding_list.shown(context.scene))

    def draw(self, context: Any) -> None:
        layout, shown = self.layout, finding_list.shown(context.scene)
        row = layout.row()
        row.label(text="Warnings")
        row.operator("condyle.clear_findings", text="", icon="X", emboss=False)
        # `lines_of` takes off the margins of the sidebar, which are wider
        width = int(23 * WIDTH * (context.preferences.system.ui_scale or 1.0))
        for index, finding in shown[:MOST_SHOWN]:
            row = layout.row(align=True)
            text = finding.text if len(finding.text) <= LONGEST else f"{finding.text[: LONGEST - 1]}…"
            icon = "CANCEL" if finding.is_error else "INFO" if finding.is_hint else "ERROR"
            draw_lines(row.column(align=True), text, icon, width)
            if finding.session_uid:
                arrow = row.row(align=True)
                arrow.enabled = finding_list.culprit_in(context.scene, finding) is not None
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
