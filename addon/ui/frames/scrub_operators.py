"""The handle in the 3D view that drags a joint along its curve or over its surface."""

import math
from dataclasses import replace
from typing import Any

import bpy
from bpy.types import Context, Event, GizmoGroup, Operator, Scene
from bpy.utils import units
from mathutils import Matrix

from ...blender import physics_access, session
from ...data import references
from ...data.joints import slider_names, title_of
from ...data.property_options import Edit, active_joint, needs_joint
from ...making import bodies_and_joints
from ...posing import picking, project_poses, scrubbing
from ..asked import vector
from ..overlay import shown

COLOR, HIGHLIGHT = (0.30, 0.85, 1.00), (1.00, 1.00, 1.00)
#: speed of the handle with Shift pressed
PRECISE = 0.1
#: largest distance in pixels of a mouse press on the handle
NEAR = 40
#: largest motion in pixels between press and release of a click
CLICK = 3.0
#: default and least radius of the handle, as a share of the gizmo size in the preferences
SIZE, LEAST = 0.12, 0.05
#: largest radius of the handle, as a share of a small body's length in the view
COVERED = 0.25


def _told(scene: Scene, value: float, unit: str) -> str:
    """A slider's value as text, in the scene's units, as in the panel."""
    settings = scene.unit_settings
    if unit == "rad":
        radians = settings.system_rotation == "RADIANS"
        return f"{value:.4g}" if radians else f"{math.degrees(value):.4g}°"
    if unit == "m" and settings.system != "NONE":
        metres = value * settings.scale_length
        return units.to_string(
            settings.system, "LENGTH", metres, precision=4, split_unit=settings.use_separate
        )
    return f"{value:.4g}"


def _take_turns(self: Any, turns: Any) -> None:
    self.values = turns


class Scrub(Edit, Operator):
    """Drag the joint along its curve or over its surface, within its limits. Shift: slowly; Esc: restore"""

    bl_idname = "condyle.scrub"
    bl_label = "Scrub Joint"
    needs = needs_joint

    values: vector(  # type: ignore[assignment]  # as a method of all of Blender's classes is called
        "Coordinates", "Values of the joint's sliders, in their own units", size=3, options={"SKIP_SAVE"}
    )
    turns: vector(
        "Angles",
        "Values of the joint's sliders that are angles",
        size=3,
        unit="ROTATION",
        get=lambda self: tuple(self.values),
        set=_take_turns,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        return scrubbing.why_not(active_joint(context))

    def invoke(self, context: Context, event: Event) -> set[str]:
        if context.region_data is None:
            return self.execute(context)
        joint = active_joint(context)
        self._handle = scrubbing.read(context.scene, joint)
        self._uid = joint.session_uid
        self._start = self._now = shown.readings(context.scene, joint)
        self._target = picking.projection(context)(self._handle.points(self._now[None]))[0]
        self._mouse = self._at = self._pressed(context, event)
        self._beside = beside(context, self._at, self._target)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        joint = references.object_by_session_uid(self._uid)
        if joint is None or context.region_data is None:
            return self._end(context, {"CANCELLED"})
        if event.type in {"ESC", "RIGHTMOUSE"}:
            self._set(context, joint, self._start)
            return self._end(context, {"CANCELLED"})
        if event.type == "MOUSEMOVE":
            mouse = (event.mouse_region_x, event.mouse_region_y)
            pace = PRECISE if event.shift else 1.0
            self._target = self._target + [pace * (new - old) for new, old in zip(mouse, self._mouse)]
            self._mouse = mouse
            self._now = scrubbing.drag(self._handle, self._now, self._target, picking.projection(context))
            self._set(context, joint, self._now)
            self._tell(context, joint)
        elif event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"} and event.value in {"RELEASE", "PRESS"}:
            if event.type == "LEFTMOUSE" and self._beside and math.dist(self._mouse, self._at) < CLICK:
                return self._select(context, joint, event)
            return self._done(context, joint)
        return {"RUNNING_MODAL"}

    def change(self, context: Context) -> None:
        joint = active_joint(context)
        project_poses.set_sliders(context.scene, joint, self.values)
        self._key(context, joint)

    def draw(self, context: Context) -> None:
        joint = active_joint(context)
        column = self.layout.column()
        column.use_property_split = True
        for index, row in enumerate(joint.condyle.joint.coordinates[:3] if joint is not None else ()):
            name = "turns" if row.unit == "rad" else "values"  # Blender shows angles in the user's units
            column.prop(self, name, index=index, text=title_of(row))

    def cancel(self, context: Context) -> None:
        """Called when Blender ends the operator, because a file is loaded or the window closes."""
        self._end(context, {"CANCELLED"})

    def _pressed(self, context: Context, event: Event) -> tuple[float, float]:
        """Place in the region where the mouse was pressed: Blender may call invoke only after a small motion."""
        region = context.region
        pressed = (event.mouse_prev_press_x - region.x, event.mouse_prev_press_y - region.y)
        near = max(abs(place - own) for place, own in zip(pressed, self._target)) < NEAR
        return pressed if near else (event.mouse_region_x, event.mouse_region_y)

    def _set(self, context: Context, joint: Any, readings: Any) -> None:
        project_poses.set_readings(context.scene, joint, readings)
        context.area.tag_redraw()

    def _select(self, context: Context, joint: Any, event: Event) -> set[str]:
        """Select the object under a click beside the handle, which Blender passes to the handle."""
        self._set(context, joint, self._start)
        place = [round(share) for share in self._at]
        bpy.ops.view3d.select(
            "EXEC_DEFAULT", True, location=place, toggle=event.shift, deselect_all=not event.shift
        )
        return self._end(context, {"CANCELLED"})

    def _done(self, context: Context, joint: Any) -> set[str]:
        names = slider_names(joint.condyle.joint)[:3]
        self.values = [joint[name] for name in names] + [0.0] * (3 - len(names))
        self._key(context, joint)
        return self._end(context, {"FINISHED"})

    def _key(self, context: Context, joint: Any) -> None:
        """Key the sliders if Auto Keying is on."""
        if context.scene.tool_settings.use_keyframe_insert_auto:
            for name in slider_names(joint.condyle.joint):
                joint.keyframe_insert(f'["{name}"]')

    def _tell(self, context: Context, joint: Any) -> None:
        settings = joint.condyle.joint
        values = [
            f"{title_of(row)} {_told(context.scene, joint[name], row.unit)}"
            for name, row in zip(slider_names(settings), settings.coordinates)
        ]
        context.area.header_text_set(f"{joint.name}: {', '.join(values)}   (Shift: slowly, Esc: restore)")

    def _end(self, context: Context, outcome: set[str]) -> set[str]:
        if context.area is not None:
            context.area.header_text_set(None)
            context.area.tag_redraw()
        return outcome


class ScrubHandle(GizmoGroup):
    bl_idname = "CONDYLE_GGT_scrub"
    bl_label = "Joint Handle"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if session.read_only or context.mode not in {"OBJECT", "POSE"}:
            return False
        if session.live is not None:  # during a live run bodies do not follow the sliders
            return False
        if not context.scene.condyle.overlay.show_handle:
            return False
        joint = active_joint(context)
        return joint is not None and joint.visible_get() and not scrubbing.why_not(joint)

    def setup(self, _context: Context) -> None:
        gizmo = self.gizmos.new("GIZMO_GT_move_3d")
        gizmo.draw_style = "RING_2D"
        gizmo.draw_options = {"FILL", "ALIGN_VIEW"}
        gizmo.color, gizmo.alpha = COLOR, 0.6
        gizmo.color_highlight, gizmo.alpha_highlight = HIGHLIGHT, 0.9
        gizmo.scale_basis = SIZE
        gizmo.use_draw_modal = True
        gizmo.target_set_operator("condyle.scrub")

    def draw_prepare(self, context: Context) -> None:
        place = handle_place(context)
        for gizmo in self.gizmos:
            gizmo.hide = place is None
            if place is not None:
                gizmo.matrix_basis = Matrix.Translation(place)
                gizmo.scale_basis = handle_size(context, place)


def handle_place(context: Context) -> Any:
    """Place (3,) of the active joint's handle in the world; None without a handle."""
    joint = active_joint(context)
    if joint is None or scrubbing.why_not(joint):
        return None
    known = shown.shown(context.scene, joint)
    if known.joint is None or known.joint.num_coordinates != len(joint.condyle.joint.coordinates):
        return None
    try:
        style = ("handle", *limits_of(joint))
        handle = known.kept(style, lambda: scrubbing.handle(joint, known.joint, known.metre))
        handle = replace(handle, base=scrubbing.base_of(joint))  # the joint may have moved
        return handle.points(shown.readings(context.scene, joint)[None])[0]
    except physics_access.physics().CondyleError:
        return None


def beside(context: Context, pressed: Any, handle: Any) -> bool:
    """Whether a press at a place (2,) of the region was outside the handle drawn at another place (2,)."""
    place = handle_place(context)
    preferences = context.preferences
    pixels = preferences.view.gizmo_size * preferences.system.ui_scale
    return place is not None and math.dist(pressed, handle) > pixels * handle_size(context, place)


def handle_size(context: Context, place: Any) -> float:
    """The handle's `scale_basis` at a place (3,): smaller where it would hide a small or distant child."""
    child = references.resolve(active_joint(context).condyle.joint.child)
    if child is None or context.region_data is None:
        return SIZE
    # of objects it is half the world length
    scale = child.object.matrix_world.median_scale if child.bone else 2.0
    seen = picking.seen_length(context, place, scale * bodies_and_joints.typical_length(child))
    if seen is None:
        return SIZE
    preferences = context.preferences
    return min(max(COVERED * seen / (preferences.view.gizmo_size * preferences.system.ui_scale), LEAST), SIZE)


def limits_of(joint: Any) -> list[Any]:
    """The settings that the handle's range depends on, besides the joint's shape."""
    return [(row.limits, row.lower, row.upper) for row in joint.condyle.joint.coordinates]
