"""Operators that add muscles and obstacles, hook points, and let muscles wrap over obstacles."""

from typing import Any

from bpy.types import Context, Operator

from ...baking import muscles as muscle_bakes
from ...data import references
from ...data.obstacles import SHAPE_ITEMS
from ...data.property_options import Edit, active_muscle, counted, needing, unless
from ...data.selection import show_only
from ...making import bodies_and_joints, muscles, obstacles
from ...reading import muscle_points
from ..asked import choice, flag, integer
from ..lists import remove_active


def picked_points(context: Context) -> list[tuple[Any, Any]]:
    """Body and place of each selected point, from origin to insertion, the active one last.

    Empties that are no bodies are points on the body that carries them. On a body, the point nearest to the 3D cursor
    is used.
    """
    last = references.active_body(context)
    bodies = [body for body in references.selected_bodies(context) if not references.same(body, last)]
    bodies.sort(key=lambda body: body.name)
    if last is not None and any(references.same(last, body) for body in references.selected_bodies(context)):
        bodies.append(last)
    found = []
    for body in bodies:
        marker = not body.bone and body.object.type == "EMPTY" and not body.data.body.enabled
        if marker:
            place = body.matrix.translation.copy()
            carrier = muscle_points.carrier(references.blender_parent(body))
            if carrier is None:
                others = [each for each in references.bodies_of(context.scene) if each.object != body.object]
                carrier = muscles.nearest_body(others, place)
            found.append((carrier, place))
        else:
            found.append((body, muscles.surface_point(body, context.scene.cursor.location)))
    return found


class AddMuscle(Edit, Operator):
    """Add a muscle. From a curve: select the bodies of its points, then the curve. From Empties: select one for each
    point, the insertion last. From bodies or bones: its points are those nearest to the 3D cursor"""

    bl_idname = "condyle.add_muscle"
    bl_label = "Add Muscle"

    @classmethod
    def why_not(cls, context: Context) -> str:
        active = context.active_object
        if active is not None and active.type == "CURVE" and active.select_get():
            return "This curve is already a muscle" if active.condyle.muscle.enabled else ""
        chosen = context.selected_pose_bones if context.mode == "POSE" else context.selected_objects
        if len(chosen or ()) < 2:
            return "Select two or more bodies or Empties, the insertion last; or a curve"
        return ""

    def change(self, context: Context) -> str:
        scene, active = context.scene, context.active_object
        if active is not None and active.type == "CURVE" and context.mode == "OBJECT":
            bodies = [each for each in references.selected_bodies(context) if each.object != active]
            item = muscles.from_curve(scene, active, bodies)
        else:
            item = muscles.add_muscle(scene, picked_points(context))
        show_only(context, item)
        return f"{item.name!r} added"


_MUSCLE = needing(active_muscle, "Select a muscle")
#: a bake replaces curve and hooks
_OWN_CURVE = needing(
    lambda context: not muscle_bakes.is_baked(active_muscle(context)),
    "The muscle is baked: use Free Bake first",
    _MUSCLE,
)


class RemoveMuscle(Edit, Operator):
    """Make the active muscle an ordinary curve again"""

    bl_idname = "condyle.remove_muscle"
    bl_label = "Remove Muscle"
    needs = _OWN_CURVE

    def change(self, context: Context) -> None:
        muscles.remove_muscle(active_muscle(context))


class StickPoints(Edit, Operator):
    """Hook points of the muscle that are on no body, such as new ones, to the nearest of the other selected bodies, or
    of all bodies"""

    bl_idname = "condyle.stick_points"
    bl_label = "Attach Points"
    needs = _OWN_CURVE

    every: flag("Every Point", "Also points that are already on a body")

    def change(self, context: Context) -> str:
        item = active_muscle(context)
        bodies = [each for each in references.selected_bodies(context) if each.object != item]
        count = muscles.stick_points(context.scene, item, bodies, self.every)
        return f"{counted(count, 'point')} hooked to bodies"


class AddObstacle(Edit, Operator):
    """Add a surface at the 3D cursor for muscles to wrap over: on the selected body, else on that of the selected
    muscles which is nearest. It lies across them, unless the cursor is rotated, and is sized to exclude their points"""

    bl_idname = "condyle.add_obstacle"
    bl_label = "Add Obstacle"

    shape: choice("Shape", "Shape of the surface", items=SHAPE_ITEMS, default=1)

    def change(self, context: Context) -> str:
        chosen = references.selected_bodies(context)
        over = [each.object for each in chosen if not each.bone and each.object.condyle.muscle.enabled]
        carriers = [each for each in chosen if each.object not in over]
        active = references.active_body(context)
        body = next((each for each in carriers if references.same(each, active)), None)
        body = body or next(iter(carriers), None)
        if body is None:
            ends = [point.target for each in over for point in muscle_points.points_of(each)]
            bodies = [found for found in map(muscle_points.carrier, ends) if found is not None]
            body = muscles.nearest_body(bodies, context.scene.cursor.location)
        size = 0.25 * bodies_and_joints.typical_length(body) if body is not None else 0.05
        figures: dict[str, Any] = {"radius": size, "length": 4.0 * size, "major_radius": 2.0 * size}
        matrix = None
        if over:
            matrix = obstacles.across(context.scene.cursor, muscle_points.places_of(over[0]))
        item = obstacles.add_obstacle(
            context.scene, body, self.shape, matrix, radii=(size, size, 1.5 * size), **figures
        )
        context.view_layer.update()
        for muscle in over:
            obstacles.make_room(item, muscle_points.places_of(muscle))
            muscles.wrap_over(muscle, item)
        show_only(context, item)
        return f"{item.name!r} added on {body.name if body is not None else 'the world'}"


class WrapOver(Edit, Operator):
    """Let the muscle wrap over the obstacles that are selected with it"""

    bl_idname = "condyle.wrap_over"
    bl_label = "Wrap Over Selected"
    needs = _MUSCLE

    strand: integer(
        "Strand",
        "Number of the strand: 1 is between the first two points. 0: the strand nearest to the obstacle",
        min=0,
    )
    why_not = unless(
        lambda context: any(item.condyle.obstacle.enabled for item in context.selected_objects),
        "Select one or more obstacles, then the muscle",
    )

    def change(self, context: Context) -> None:
        muscle = active_muscle(context)
        for item in context.selected_objects:
            if item.condyle.obstacle.enabled:
                muscles.wrap_over(muscle, item, self.strand)


class RemoveWrap(Edit, Operator):
    """Stop wrapping the muscle over the active obstacle of its list; the obstacle is kept"""

    bl_idname = "condyle.remove_wrap"
    bl_label = "Remove"
    needs = _MUSCLE

    why_not = unless(
        lambda context: len(active_muscle(context).condyle.muscle.obstacles),
        "The muscle wraps over no obstacle",
    )

    def change(self, context: Context) -> None:
        remove_active(active_muscle(context).condyle.muscle, "obstacles", "active_obstacle")
