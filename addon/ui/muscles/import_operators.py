"""Operator and menu entry File > Import > OpenSim Model."""

from typing import Any

import bpy
from bpy.types import Context, Event, Operator

from ...blender import physics_access, session
from ...blender.attachments import Entry
from ...data import finding_list, findings
from ...data.property_options import Change, counted, failed
from ...data.selection import select_only
from ...jobs import scene_checks
from ...making import opensim_import
from ..asked import flag, text
from ..welcome.operators import look_at_selected


class ImportOpenSim(Change, Operator):
    """Import an OpenSim model (.osim): bodies with any meshes found, joints, ranges, muscles and the
    surfaces that they wrap over"""

    bl_idname = "condyle.import_opensim"
    bl_label = "Import OpenSim Model"

    filepath: text("File", "OpenSim model", subtype="FILE_PATH")
    filter_glob: text("filter_glob", default="*.osim", options={"HIDDEN"})
    geometry: text("Meshes", "Additional folder of .vtp meshes, besides the file's own", subtype="DIR_PATH")
    allow_welds: flag(
        "Weld Unknown Joints",
        "Import joints of unknown kinds as welds, with a warning; otherwise such a model is refused",
    )

    asked: flag("Asked", "Ask before the import", options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: Context, event: Event) -> set[str]:
        if self.asked:
            question = "This model has joints of a kind that Condyle lacks. Import them as welds?"
            words: dict[str, Any] = {"title": "Unknown Joints", "message": question, "confirm_text": "Weld"}
            return {*context.window_manager.invoke_confirm(self, event, **words)}
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Context) -> set[str]:
        folders = [bpy.path.abspath(self.geometry)] if self.geometry else []
        try:
            imported = opensim_import.import_model(
                context.scene, bpy.path.abspath(self.filepath), folders, self.allow_welds
            )
        except (physics_access.physics().CondyleError, OSError) as error:
            if self.options.is_invoke and isinstance(
                error, physics_access.physics().errors.UnknownJointError
            ):
                operators: Any = bpy.ops
                given = {"filepath": self.filepath, "geometry": self.geometry, "allow_welds": True}
                operators.condyle.import_opensim("INVOKE_DEFAULT", asked=True, **given)
                return {"CANCELLED"}
            return failed(self, error)
        shown = set(context.view_layer.objects)  # without objects in excluded collections
        select_only(context, *(item for item in imported.ground.children_recursive if item in shown))
        look_at_selected(context)
        select_only(context, *{imported.ground} & shown)
        hints = scene_checks.after_import(context.scene, imported.ground)
        found = [
            each if each.session_uid else finding_list.named(context.scene, each)
            for each in imported.warnings
        ]
        session.findings = []
        finding_list.show(
            context.scene.session_uid, [*hints, *findings.of_source(found, findings.IMPORT, imported.ground)]
        )
        kinds = (
            (imported.bodies, "body", "bodies"),
            (imported.muscles, "muscle"),
            (imported.obstacles, "obstacle"),
        )
        counts = [counted(len(items), *words) for items, *words in kinds if items]
        message = f"{imported.ground.name} imported: {', '.join(counts)}"
        if imported.warnings or hints:
            message += f"; {finding_list.WHERE}"
        if imported.warnings:
            notes = bpy.data.texts.new(f"{imported.ground.name} import")
            notes.write("".join(f"{each.text}\n" for each in imported.warnings))
            message += f" and the text {notes.name!r}"
        session.tell(message, "CHECKMARK")
        self.report({"INFO"}, message)
        return {"FINISHED"}


def draw_in_menu(self: Any, _context: Context) -> None:
    """Draw the entry in File > Import."""
    self.layout.operator("condyle.import_opensim", text="OpenSim Model (.osim)")


attached = (Entry("TOPBAR_MT_file_import", draw_in_menu),)
