"""Draws joints over the 3D view: the path of the child along its joint, control frames with axes and numbers.

A curve is evaluated only when its control frames have moved; a joint that is not complete is drawn as far as it goes.
"""

from typing import Any

import bpy

from ... import references

SAMPLES = 96
CURVE_COLOR = (1.0, 0.62, 0.1, 1.0)
CURVE_COLOR_DIM = (1.0, 0.62, 0.1, 0.45)
AXIS_COLORS = ((0.93, 0.24, 0.30, 1.0), (0.46, 0.78, 0.13, 1.0), (0.18, 0.52, 0.93, 1.0))
NUMBER_COLOR = (1.0, 1.0, 1.0, 0.9)

_handles: list[Any] = []
_cache: dict[int, tuple[bytes, Any]] = {}


def start() -> None:
    """Begin to draw; nothing where Blender has no window."""
    if not bpy.app.background and not _handles:
        add = bpy.types.SpaceView3D.draw_handler_add
        _handles.append(add(draw_lines, (), "WINDOW", "POST_VIEW"))
        _handles.append(add(draw_numbers, (), "WINDOW", "POST_PIXEL"))


def stop() -> None:
    """Draw no more."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    _cache.clear()


def _visible_joints(context: Any) -> list[Any]:
    settings = context.scene.condyle.overlay
    space = context.space_data
    shown = space is None or getattr(getattr(space, "overlay", None), "show_overlays", True)
    if not (settings.show and shown):
        return []
    return [item for item in references.joints_of(context.scene) if item.visible_get()]


def joint_lines(scene: Any, item: Any) -> tuple[Any, Any]:
    """Points of a joint's curve (n, 3) in the world (None where it has none), and its control frames (m, 4, 4)."""
    from ... import core, scene_to_model, units

    try:
        frames = scene_to_model.control_frames(scene, item)
        base = units.split_scale(item.matrix_world, item.name)[0]
        points = _curve_points(scene, item, frames)
    except core.physics().CondyleError:
        return None, ()
    if points is not None:
        points = points @ base[:3, :3].T + base[:3, 3]
    return points, base @ frames if len(frames) else ()


def _curve_points(scene: Any, item: Any, frames: Any) -> Any:
    """Points (n, 3) of the child's origin in the joint's frame, in Blender units; kept until a frame moves."""
    import numpy as np

    from ... import core, scene_to_model, units

    settings = item.condyle.joint
    if settings.type != "spline_curve" or len(frames) < settings.order:
        return None
    rest = scene_to_model.child_in_joint(item)
    knots = scene_to_model.stored_knots(settings)
    facts = (settings.order, settings.periodic, settings.length_scale, units.length_scale(scene))
    key = (
        frames.tobytes() + rest.tobytes() + (b"" if knots is None else knots.tobytes()) + repr(facts).encode()
    )
    known = _cache.get(item.session_uid)
    if known is not None and known[0] == key:
        return known[1]
    try:
        joint = scene_to_model.read_joint(scene, item)
        lower, upper = (0.0, joint.period) if settings.periodic else joint.range[0]
        poses = joint.transform(np.linspace(lower, upper, SAMPLES)[:, None])
        points = (units.to_blender(poses, scene) @ rest)[:, :3, 3]
    except core.physics().CondyleError:
        points = None
    _cache[item.session_uid] = (key, points)
    return points


def axis_size(scene: Any, points: Any, frames: Any) -> float:
    """Length of the drawn axes in Blender units: as set, else a share of the curve's size."""
    import numpy as np

    chosen = scene.condyle.overlay.axis_size
    if chosen > 0.0:
        return float(chosen)
    places = points if points is not None else frames[:, :3, 3]
    size = float(np.ptp(places, axis=0).max())
    return 0.15 * size if size > 1e-9 else 0.1 / scene.unit_settings.scale_length


def draw_lines() -> None:
    """Handler of POST_VIEW."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    context = bpy.context
    joints = _visible_joints(context)
    if not joints:
        return
    from ..common import active_joint

    settings = context.scene.condyle.overlay
    at_hand = active_joint(context)
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    viewport = gpu.state.viewport_get()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    shader.bind()
    shader.uniform_float("viewportSize", viewport[2:])
    for item in joints:
        points, frames = joint_lines(context.scene, item)
        if points is not None and settings.show_curves:
            shader.uniform_float("lineWidth", 3.0 if item == at_hand else 2.0)
            shader.uniform_float("color", CURVE_COLOR if item == at_hand else CURVE_COLOR_DIM)
            batch_for_shader(shader, "LINE_STRIP", {"pos": points.tolist()}).draw(shader)
        if len(frames) and settings.show_frames:
            size = axis_size(context.scene, points, frames)
            shader.uniform_float("lineWidth", 2.0)
            for axis, color in enumerate(AXIS_COLORS):
                shader.uniform_float("color", color)
                ends = [
                    end for frame in frames for end in (frame[:3, 3], frame[:3, 3] + size * frame[:3, axis])
                ]
                batch_for_shader(shader, "LINES", {"pos": [tuple(end) for end in ends]}).draw(shader)
    gpu.state.blend_set("NONE")


def draw_numbers() -> None:
    """Handler of POST_PIXEL: numbers of the control frames of the joint at hand."""
    import blf
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    context = bpy.context
    from ..common import active_joint

    settings = context.scene.condyle.overlay
    joint = active_joint(context)
    if joint is None or not settings.show_frames or joint not in _visible_joints(context):
        return
    _, frames = joint_lines(context.scene, joint)
    blf.size(0, 11.0 * context.preferences.system.ui_scale)
    blf.color(0, *NUMBER_COLOR)
    for number, frame in enumerate(frames):
        place = location_3d_to_region_2d(context.region, context.region_data, frame[:3, 3])
        if place is not None:
            blf.position(0, place.x + 6.0, place.y + 6.0, 0.0)
            blf.draw(0, str(number))
