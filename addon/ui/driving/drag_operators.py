"""Operator that drags bodies with the mouse: the joints between them and the world follow."""

from typing import Any

import bpy
from bpy.types import Context, Event, Operator

from ...blender import physics_access, redraw, session, units
from ...blender.physics_access import model_error
from ...data import references
from ...data.property_options import Change, unless
from ...posing import ik_targets, inverse_kinematics, picking
from ..asked import vector

TICK = 0.03  # seconds until an unfinished search continues
HINT = "Drag a body with the left mouse button    Esc while dragging: restore    Enter or Esc: finish"


class Drag(Change, Operator):
    """Drag bodies in the 3D view by inverse kinematics, within the joints' limits; other bodies stay at their targets.
    Sets the joints' sliders, and keys them with Auto Keying. Esc restores the pose"""

    bl_idname = "condyle.drag"
    bl_label = "Drag Bodies"

    goal: vector("Goal", "Place for the origin of the active body", subtype="TRANSLATION", unit="LENGTH")
    why_not = unless(
        lambda context: any(item.condyle.joint.driven for item in references.joints_of(context.scene)),
        "No joint is driven by sliders: use Drive All first",
    )

    def execute(self, context: Context) -> set[str]:
        """Without the mouse: move the active body's origin to the goal, or as near as possible."""
        body = references.active_body(context)
        if body is None:
            raise model_error("select the body to move to the goal")
        wish = inverse_kinematics.point_wish(context.scene, body, body.matrix.translation)
        scale = units.length_scale(context.scene)
        wish.goal[:3, 3] = [scale * place for place in self.goal]
        outcome = inverse_kinematics.reach_now(context.scene, [wish])
        session.tell(f"{body.name}: {outcome.told()}", "CHECKMARK" if outcome.met else "INFO")
        return {"FINISHED"}

    def invoke(self, context: Context, _event: Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        self._search: Any = None
        self._before: Any = {}
        self._changed = False
        manager = context.window_manager
        self._timer = manager.event_timer_add(TICK, window=context.window)
        manager.modal_handler_add(self)
        context.window.cursor_modal_set("HAND")
        self._tell(context, HINT)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        if self._search is None:
            return self._wait(context, event)
        try:
            if event.type == "MOUSEMOVE" or (event.type == "TIMER" and not self._settled):
                self._follow(context, event)
            elif event.type == "LEFTMOUSE" and event.value == "RELEASE":
                self._let_go(context)
            elif event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
                self._put_back(context)
        except physics_access.physics().CondyleError as error:
            self._put_back(context)
            session.tell(str(error), "ERROR")
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Called when Blender ends the operator, because a file is loaded or the window closes."""
        self._end(context)

    def _wait(self, context: Context, event: Event) -> set[str]:
        """Between two drags: pass all events except clicks on bodies to Blender."""
        done = event.type in {"ESC", "RET", "NUMPAD_ENTER"} and event.value == "PRESS"
        if done or session.job is not None or context.mode not in session.MODES_UNDONE_WHOLE:
            self._end(context)
            return {"CANCELLED"}  # each drag has pushed its own undo step
        if event.type != "LEFTMOUSE" or event.value != "PRESS":
            return {"PASS_THROUGH"}
        place = picking.region_under(context, event.mouse_x, event.mouse_y)
        if place is None:
            return {"PASS_THROUGH"}
        region, view = place
        found = picking.body_at(context, region, view, _within(region, event))
        if found is None:
            self._tell(context, "No body under the mouse.    " + HINT)
            return {"RUNNING_MODAL"}
        try:
            self._take(context, region, view, *found)
        except physics_access.physics().CondyleError as error:
            self._search = None
            session.tell(str(error), "ERROR")
            self._tell(context, str(error))
        return {"RUNNING_MODAL"}

    def _take(self, context: Context, region: Any, view: Any, body: Any, point: Any) -> None:
        """Begin to drag a body at its point (3,) in the world; other bodies stay at their targets."""
        scene = context.scene
        wishes = [ik_targets.wish_of(scene, item) for item in ik_targets.targets_of(scene)]
        wishes = [wish for wish in wishes if wish.body != body.handle()]
        wishes.insert(0, inverse_kinematics.point_wish(scene, body, point))
        self._search = inverse_kinematics.Reach(scene, wishes)
        self._before = self._search.sliders()
        self._region, self._view, self._point, self._name = region, view, point, body.name
        self._settled, self._changed = True, False

    def _follow(self, context: Context, event: Event) -> None:
        place = picking.point_in_view(self._region, self._view, _within(self._region, event), self._point)
        goals = [wish.goal for wish in self._search.wishes]
        goals[0] = inverse_kinematics.goal_at(context.scene, place)
        state, outcome = self._search.solve(goals)
        inverse_kinematics.write(self._search.readings(state))
        self._changed, self._settled = True, outcome.met or outcome.done
        self._tell(context, f"{self._name}: {outcome.told()}    Esc: restore")
        redraw.views()

    def _let_go(self, context: Context) -> None:
        """End a drag: key the sliders with Auto Keying, and push an undo step."""
        if self._changed:
            values = self._search.sliders()
            if context.scene.tool_settings.use_keyframe_insert_auto:
                inverse_kinematics.key(values, context.scene.frame_current)
            bpy.ops.ed.undo_push(message=f"Drag {self._name}")
        self._search = None
        self._tell(context, HINT)

    def _put_back(self, context: Context) -> None:
        inverse_kinematics.write(self._before)
        self._search = None
        self._tell(context, HINT)
        redraw.views()

    def _end(self, context: Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window.cursor_modal_restore()
        self._tell(context, None)

    def _tell(self, context: Context, text: Any) -> None:
        context.workspace.status_text_set(text)


def _within(region: Any, event: Event) -> tuple[int, int]:
    return event.mouse_x - region.x, event.mouse_y - region.y
