"""Operators that check the scene, select the object of a warning, and clear the list."""

from typing import Any

import bpy
from bpy.types import Context, Event, Operator

from ...blender import session
from ...data import finding_list
from ...data.property_options import Change, Edit, allowed, counted, need_object_mode, unless
from ...jobs import scene_checks
from ...making import orphans, rig_parts
from ...reading import missing_joints
from ..asked import integer, text
from ..layout import draw_lines

POPUP = 500  # width of the text [pixels]


class CheckScene(Change, Operator):
    """Find errors that would stop a bake, and likely mistakes: masses, limits, joints out of reach, bodies that fall or
    are inside the ground, sliders away from the start, loose muscles. Changes nothing"""

    bl_idname = "condyle.check_scene"
    bl_label = "Check Scene"
    bl_options = {"REGISTER"}

    @classmethod
    def why_not(cls, context: Context) -> str:
        return why_nothing(context)

    def execute(self, context: Context) -> set[str]:
        found = scene_checks.check(context.scene)
        session.findings = []  # an import's as well: its text has them
        finding_list.show(context.scene.session_uid, found)
        errors, hints = sum(each.is_error for each in found), sum(each.is_hint for each in found)
        summary = "No problems found"
        if len(found) > hints:
            summary = f"{counted(errors or 'no', 'error')}, {counted(len(found) - errors - hints or 'no', 'warning')}"
        if hints:
            summary += f", {counted(hints, 'hint')}"
        if errors == len(found) > 0:  # checks of the whole model need a scene without errors
            them = "it" if errors == 1 else "them"
            summary = f"{counted(errors, 'error')}. Fix {them}, then check again for warnings"
        session.tell(summary, "ERROR" if errors else "CHECKMARK")
        self.report({"INFO"}, session.message)
        return {"FINISHED"}

    def invoke(self, context: Context, _event: Event) -> set[str]:
        """Show the list, too."""
        done = self.execute(context)
        if done == {"FINISHED"} and finding_list.shown(context.scene) and not bpy.app.background:
            bpy.ops.wm.call_panel(name="CONDYLE_PT_warnings")
        return done


def why_nothing(context: Context) -> str:
    """Why the scene has nothing to simulate; empty: it has."""
    work = any(missing_joints.has_work(item) for item in context.scene.objects)
    return "" if work else missing_joints.why_nothing(context.scene)


def _any_findings(cls: type[Operator]) -> bool:
    return allowed(cls, "" if session.findings else "There are no warnings")


class SelectCulprit(Operator):
    """Select the object or bone that this line is about"""

    bl_idname = "condyle.select_culprit"
    bl_label = "Select"
    bl_options = {"REGISTER", "UNDO"}
    keeps_errors = True

    index: integer("Line", "Number of the line in the list, from 0", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        return _any_findings(cls) and need_object_mode(cls, context)

    def execute(self, context: Context) -> set[str]:
        if not 0 <= self.index < len(session.findings):
            self.report({"ERROR"}, f"The list has no line {self.index}")
            return {"CANCELLED"}
        body = finding_list.culprit_in(context.scene, session.findings[self.index])
        if body is None:
            self.report({"ERROR"}, "The object of this line no longer exists")
            return {"CANCELLED"}
        if not finding_list.select(context, body):
            self.report(
                {"WARNING"}, f"{body.name} is hidden, or its collection is excluded from the view layer"
            )
        return {"FINISHED"}


class RemoveLeftOver(Edit, Operator):
    """Delete the control frames and ends of joints and connections that were deleted"""

    bl_idname = "condyle.remove_left_over"
    bl_label = "Clean Up Leftovers"
    why_not = unless(
        lambda context: orphans.of(context.scene), "No Empties of deleted joints or constraints are left"
    )

    def change(self, context: Context) -> None:
        count = orphans.remove(context.scene)
        session.tell(f"{counted(count, 'Empty', 'Empties')} removed", "CHECKMARK")


class MoveToRigs(Edit, Operator):
    """Move joints, control points and muscles into a collection beneath that of their rig, so that they come along
    where it is linked, appended or copied"""

    bl_idname = "condyle.move_to_rigs"
    bl_label = "Move Joints to Their Rigs"
    why_not = unless(
        lambda context: any(rig_parts.apart(context.scene)),
        "Joints and muscles are in the collections of their rigs",
    )

    def change(self, context: Context) -> None:
        session.tell(f"{rig_parts.move_to_rigs(context.scene)} moved to their rigs", "CHECKMARK")


class ShowText(Operator):
    """Show the whole text of a message in the panel"""

    bl_idname = "condyle.show_text"
    bl_label = "Show Text"
    bl_options = {"INTERNAL"}

    text: text("Text", "The message", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """The tooltip: the whole text, without a click."""
        return str(properties.text)

    def execute(self, _context: Context) -> set[str]:
        return {"FINISHED"}

    def invoke(self, context: Context, _event: Event) -> set[str]:
        context.window_manager.invoke_popup(self, width=POPUP)
        return {"RUNNING_MODAL"}

    def draw(self, _context: Context) -> None:
        draw_lines(self.layout.column(align=True), self.text, "NONE", POPUP)


class ClearFindings(Operator):
    """Clear the list of warnings"""

    bl_idname = "condyle.clear_findings"
    bl_label = "Clear"

    @classmethod
    def poll(cls, _context: Context) -> bool:
        return _any_findings(cls)

    def execute(self, _context: Context) -> set[str]:
        session.findings = []
        return {"FINISHED"}
