"""The third direction of a surface's grid of control frames: layers of copies, a third coordinate or time."""

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access
from ..blender.physics_access import model_error
from ..data import stored_joints as joints
from ..data.joint_types import grid_directions
from ..data.joints import JointProperties
from . import bodies_and_joints, frame_grids, joint_frames


def gap(scene: Scene, item: Object) -> float:
    """Default distance between layers of a grid, in Blender units: half the mean distance of its frames."""
    frames = frame_grids.poses(scene, item)[..., :3, 3]
    steps = [np.linalg.norm(np.diff(frames, axis=axis), axis=-1).ravel() for axis in range(2)]
    return 0.5 * float(np.concatenate(steps).mean()) or float(item.empty_display_size)


def add_layers(
    scene: Scene,
    item: Object,
    layers: int = 4,
    *,
    apart: float = 0.0,
    turn: float = 0.0,
    seconds: float | None = None,
) -> None:
    """Add a third direction to a grid of rows and columns: its frames become layer 0, the other layers are copies.

    Args:
        layers: number of layers; increased if the order of that direction needs more.
        apart, turn: from layer to layer, in Blender units along each frame's own z axis, and [rad] about it.
        seconds: from layer to layer, for a surface that moves in time; None: the third direction is a coordinate.

    Raises:
        ModelError: the grid is incomplete, has no columns or already has layers, its columns are time, layers of a
            coordinate would coincide, or the surface cannot be read.
    """
    settings = item.condyle.joint
    refusal = why_no_layers(settings)
    if refusal:
        raise model_error(f"joint {item.name!r}: {refusal}")
    if seconds is None and apart == 0.0 and turn == 0.0:
        raise model_error(
            f"joint {item.name!r}: layers need a distance or an angle between them, unless they are time"
        )
    if seconds is not None and not seconds > 0.0:
        raise model_error(
            f"joint {item.name!r}: the seconds from layer to layer must be above 0, got {seconds:g}"
        )
    frame_grids.warnings_of(scene, item)  # raises errors of the surface before any change
    frames = frame_grids.poses(scene, item).reshape(-1, 4, 4)
    knots = joints.stored_grid_knots(settings)
    layers = max(layers, frame_grids.LEAST_LINES, settings.grid_orders[2])
    with joint_frames.sliders_later(settings):
        for number in reversed(range(len(frames))):
            for layer in range(1, layers):
                empty = bodies_and_joints.frame_empty(scene, item, number)
                shift = np.array([0.0, 0.0, layer * turn, 0.0, 0.0, layer * apart])
                pose = frames[number] @ physics_access.physics().lie.exp(shift)
                bodies_and_joints.place_frame(item, empty, pose)
                settings.frames.add().object = empty
                settings.frames.move(len(settings.frames) - 1, number + layer)
        bpy.context.view_layer.update()  # updates the Empties' world matrices
        settings.active_frame = 0
        settings.knots.clear()
        if knots is not None:  # keeps those of a fit, with uniform ones for the layers
            even = physics_access.part("geometry.splines").clamped_knots(layers, settings.grid_orders[2])
            joint_frames.set_knots(settings, np.concatenate([*knots, even]))
        settings.grid_periodic[2] = False
        settings.grid = (*settings.grid[:2], layers)
        if seconds is not None:
            settings.line_seconds, settings.moving = seconds, True
        for row in settings.coordinates:
            if row.label.rpartition(".")[2] == "q_3":
                row.limits = "RANGE"
        frame_grids.rename(item)


def remove_layers(scene: Scene, item: Object) -> None:
    """Remove the third direction of a grid with its Empties; keeps layer 0.

    Raises:
        ModelError: the grid is incomplete, or has no layers.
    """
    settings = item.condyle.joint
    layers = settings.grid[2]
    if not frame_grids.complete(settings):
        frame_grids.poses(scene, item)  # raises with the numbers
    if layers == 1:
        raise model_error(f"joint {item.name!r}: its grid has no layers")
    knots = joints.stored_grid_knots(settings)
    with joint_frames.sliders_later(settings):
        for number in reversed(range(len(settings.frames))):
            if number % layers:
                bodies_and_joints.remove_control_frame(item, number)
        settings.moving = False
        settings.grid_periodic[2] = False
        if knots is not None:
            joint_frames.set_knots(settings, np.concatenate(knots[:2]))
        settings.grid = (*settings.grid[:2], 1)
        frame_grids.rename(item)


def why_no_layers(settings: JointProperties) -> str:
    """Reason why a complete grid cannot get a third direction; empty if it can."""
    count = grid_directions(tuple(settings.grid))
    if count == 3:
        return "The surface already has a third direction"
    if count == 1:
        return "The grid needs columns before it can have layers"
    if settings.moving:
        return "The columns are time: turn Moves in Time off first"
    return ""
