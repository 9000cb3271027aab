"""Operators that add, change and remove constraints, springs and ground."""

from bpy.types import Context, Event, Operator

from ...blender.physics_access import model_error
from ...data import references
from ...data.connection_kinds import KINDS, has_end, items
from ...data.property_options import Edit, active_connection, needing, unless
from ...data.selection import show_only
from ...making import connections
from ..asked import choice
from ..lists import remove_active


class AddConnection(Edit, Operator):
    """Add a constraint, a spring or ground between two bodies. Select the other body first, then the constrained body
    (so that it is active). With only one body, the other side is the world"""

    bl_idname = "condyle.add_connection"
    bl_label = "Add Constraint"
    bl_property = "kind"

    kind: choice("Type", "Type of constraint between the two bodies", items=items())
    place: choice(
        "Place",
        "Place of its Empty",
        items=(
            ("AUTO", "Automatic", "Rods and springs from origin to origin, all others at the 3D cursor", 0),
            ("CURSOR", "3D Cursor", "At the 3D cursor, with its axes", 1),
            (
                "CONTACT",
                "Contact",
                "At the nearest points of the two meshes, with z along the surface normal",
                2,
            ),
        ),
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        if references.active_body(context) is None or not references.selected_bodies(context):
            return "Select the other body, then the constrained body: objects, or bones in pose mode"
        if len(references.selected_bodies(context)) > 2:
            return "More than two are selected: select the other body, then the constrained body"
        return ""

    def invoke(self, context: Context, _event: Event) -> set[str]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def change(self, context: Context) -> str:
        body = references.active_body(context)
        others = [each for each in references.selected_bodies(context) if not references.same(each, body)]
        other = others[0] if others else None
        matrix, end = connections.place(context.scene, other, body, self.kind, self.place)
        item = connections.add_connection(context.scene, other, body, self.kind, matrix, end)
        show_only(context, item)  # to see its settings and move it
        return f"{item.name!r} added"


_CONNECTION = needing(active_connection, "Select the Empty of a constraint, spring or ground")


class RemoveConnection(Edit, Operator):
    """Remove the active constraint, spring or ground with its end; bodies are kept"""

    bl_idname = "condyle.remove_connection"
    bl_label = "Remove Constraint"
    needs = _CONNECTION

    def change(self, context: Context) -> None:
        connections.remove_connection(active_connection(context))


class AddEnd(Edit, Operator):
    """Add an Empty that marks the constraint's point on its body, and that you can move. If it exists, move it back to
    the body's origin"""

    bl_idname = "condyle.add_end"
    bl_label = "Add End"
    needs = _CONNECTION

    why_not = unless(
        lambda context: has_end(active_connection(context).condyle.connection),
        "This type of constraint has no end besides its Empty",
    )

    def change(self, context: Context) -> None:
        item = active_connection(context)
        settings = item.condyle.connection
        body = references.resolve(settings.body)
        if body is None:
            raise model_error(f"connection {item.name!r}: its body is missing")
        own = KINDS[settings.kind].sided
        point = item.matrix_world.translation if own else body.matrix.translation
        connections.set_end(context.scene, item, point)


class AddCorner(Edit, Operator):
    """Add a corner to the bent plane, in line with the last two"""

    bl_idname = "condyle.add_corner"
    bl_label = "Add Corner"
    needs = _CONNECTION

    def change(self, context: Context) -> None:
        settings = active_connection(context).condyle.connection
        places = [tuple(row.place) for row in settings.corners]
        last = places[-1] if places else (0.0, 0.0)
        before = places[-2] if len(places) > 1 else (last[0] - 1.0, last[1])
        settings.corners.add().place = (2.0 * last[0] - before[0], 2.0 * last[1] - before[1])
        settings.active_corner = len(settings.corners) - 1


class RemoveCorner(Edit, Operator):
    """Remove the active corner of the bent plane"""

    bl_idname = "condyle.remove_corner"
    bl_label = "Remove Corner"
    needs = _CONNECTION

    why_not = unless(
        lambda context: len(active_connection(context).condyle.connection.corners),
        "The plane has no corner to remove",
    )

    def change(self, context: Context) -> None:
        remove_active(active_connection(context).condyle.connection, "corners", "active_corner")
