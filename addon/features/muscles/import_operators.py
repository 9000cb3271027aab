"""File > Import > OpenSim Model, and the list of what such a file holds and the scene does not."""

from typing import Any

import bpy
from bpy.props import StringProperty
from bpy.types import Operator, Panel

from ... import session
from ..common import SidebarPanel, failed, need_object_mode, writable
from ..simulation.panels import draw_lines

#: of many warnings the panel shows so many; all are in the text
MOST_SHOWN = 8


class ImportOpenSim(Operator):
    """Read an OpenSim model (.osim of version 4): its bodies with meshes where they are found, joints, ranges, muscles
    and surfaces that they wrap over"""

    bl_idname = "condyle.import_opensim"
    bl_label = "Import OpenSim Model"
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(name="File", description="OpenSim model", subtype="FILE_PATH")
    filter_glob: StringProperty(default="*.osim", options={"HIDDEN"})
    geometry: StringProperty(
        name="Meshes",
        description="Folder of .vtp meshes, beside those that lie by the file",
        subtype="DIR_PATH",
    )

    @classmethod
    def poll(cls, context: Any) -> bool:
        return bool(writable(cls) and need_object_mode(cls, context))

    def invoke(self, context: Any, _event: Any) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        from ... import core, opensim_import

        folders = [bpy.path.abspath(self.geometry)] if self.geometry else []
        try:
            made = opensim_import.import_model(context.scene, bpy.path.abspath(self.filepath), folders)
        except (core.physics().CondyleError, OSError) as error:
            return failed(self, error)
        for item in context.selected_objects:
            item.select_set(False)
        made.ground.select_set(True)
        context.view_layer.objects.active = made.ground
        session.warnings = list(made.warnings)
        counts = f"{len(made.bodies)} bodies, {len(made.muscles)} muscles, {len(made.obstacles)} obstacles"
        told = f"{made.ground.name} imported: {counts}"
        if made.warnings:
            text = bpy.data.texts.new(f"{made.ground.name} import")
            text.write("\n".join(made.warnings) + "\n")
            told += f"; {len(made.warnings)} notes in the text {text.name!r}"
        session.tell(told, "CHECKMARK")
        self.report({"INFO"}, told)
        return {"FINISHED"}


class ImportNotesPanel(SidebarPanel, Panel):
    bl_idname = "CONDYLE_PT_import_notes"
    bl_label = "Notes of the Import"
    bl_parent_id = "CONDYLE_PT_muscle"

    @classmethod
    def poll(cls, _context: Any) -> bool:
        return bool(session.warnings)

    def draw(self, context: Any) -> None:
        column = self.layout.column(align=True)
        for text in session.warnings[:MOST_SHOWN]:
            shown = text if len(text) <= 160 else f"{text[:157]}..."
            draw_lines(column, shown, "DOT", context.region.width)
        more = len(session.warnings) - MOST_SHOWN
        if more > 0:
            column.label(text=f"and {more} more, in the text", icon="TEXT")


def draw_in_menu(self: Any, _context: Any) -> None:
    """The entry of File > Import."""
    self.layout.operator("condyle.import_opensim", text="OpenSim Model (.osim)")


classes = (ImportOpenSim, ImportNotesPanel)
