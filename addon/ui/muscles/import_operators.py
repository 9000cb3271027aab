"""File > Import > OpenSim Model."""

from typing import Any

import bpy
from bpy.props import StringProperty
from bpy.types import Operator

from ...blender import physics_access, session
from ...blender.attachments import Entry
from ...checking import falling
from ...data import findings
from ...data.property_options import failed, need_object_mode, writable
from ...making import opensim_import
from ..welcome.operators import look_at_selected


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
        folders = [bpy.path.abspath(self.geometry)] if self.geometry else []
        try:
            made = opensim_import.import_model(context.scene, bpy.path.abspath(self.filepath), folders)
        except (physics_access.physics().CondyleError, OSError) as error:
            return failed(self, error)
        for item in context.selected_objects:
            item.select_set(False)
        shown = set(context.view_layer.objects)  # none of it where its collection is excluded
        parts = [item for item in made.ground.children_recursive if item in shown]
        for item in parts:
            item.select_set(True)
        look_at_selected(context)
        for item in parts:
            item.select_set(False)
        if made.ground in shown:
            made.ground.select_set(True)
            context.view_layer.objects.active = made.ground
        hints = falling.after_import(context.scene, made.ground)
        found = [each if each.session_uid else findings.named(context.scene, each) for each in made.warnings]
        findings.show(context.scene, [*hints, *findings.of_source(found, findings.IMPORT, made.ground)])
        counts = f"{len(made.bodies)} bodies, {len(made.muscles)} muscles, {len(made.obstacles)} obstacles"
        told = f"{made.ground.name} imported: {counts}"
        if made.warnings:
            text = bpy.data.texts.new(f"{made.ground.name} import")
            text.write("".join(f"{each.text}\n" for each in made.warnings))
            count = len(made.warnings)
            told += f"; {count} {'note' if count == 1 else 'notes'} in the text {text.name!r}"
        if hints:
            told += "; see Warnings for a hint"
        session.tell(told, "CHECKMARK")
        self.report({"INFO"}, told)
        return {"FINISHED"}


def draw_in_menu(self: Any, _context: Any) -> None:
    """The entry of File > Import."""
    self.layout.operator("condyle.import_opensim", text="OpenSim Model (.osim)")


classes = (ImportOpenSim,)
attached = (Entry("TOPBAR_MT_file_import", draw_in_menu),)
