"""The third direction of a surface's grid of control frames: layers of copies, a third coordinate or time."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access
from ..data.joint_types import grid_directions
from ..data.joints import JointProperties
from ..reading import joints
from . import bodies_and_joints, frame_grids


def gap(scene: Scene, item: Object) -> float:
    """A distance between layers that suits a grid, in Blender units: half of what lies between its frames."""
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
    """Give a grid of rows and columns a third direction: its frames become layer 0, the further layers are copies.

    Args:
        layers: how many there are then; more where the order of that direction needs more.
        apart, turn: how far each layer is from the one before, in Blender units along each frame's own z, and
            [rad] about it.
        seconds: from layer to layer, of a surface that moves in time; None: the third direction is a coordinate.

    Raises:
        ModelError: the grid is not complete, has no columns or has layers already, its columns are time, or layers of
            a coordinate would coincide; or the surface cannot be read as it is.
    """
    settings = item.condyle.joint
    refusal = why_no_layers(settings)
    if refusal:
        raise physics_access.model_error(f"joint {item.name!r}: {refusal}")
    if seconds is None and apart == 0.0 and turn == 0.0:
        raise physics_access.model_error(
            f"joint {item.name!r}: layers that are no time must lie apart or be turned"
        )
    if seconds is not None and not seconds > 0.0:
        raise physics_access.model_error(
            f"joint {item.name!r}: {seconds:g} seconds from layer to layer are too few"
        )
    frame_grids.warnings_of(scene, item)  # reads it: what is wrong is told before anything is changed
    frames = frame_grids.poses(scene, item).reshape(-1, 4, 4)
    knots = joints.stored_grid_knots(settings)
    layers = max(layers, frame_grids.LEAST_LINES, settings.grid_orders[2])
    driven, settings.driven = settings.driven, False  # the sliders follow once, at the end
    try:
        for number in reversed(range(len(frames))):
            for layer in range(1, layers):
                empty = bodies_and_joints.frame_empty(scene, item, number)
                bodies_and_joints.place_frame(
                    item, empty, frames[number] @ _shift(layer * apart, layer * turn)
                )
                settings.frames.add().object = empty
                settings.frames.move(len(settings.frames) - 1, number + layer)
        bpy.context.view_layer.update()  # the Empties' world matrices are what everything reads
        settings.active_frame = 0
        settings.knots.clear()
        if knots is not None:  # those of a fit stay, the layers' are even
            even = physics_access.part("geometry.splines").clamped_knots(layers, settings.grid_orders[2])
            _store_knots(settings, [*knots, even])
        settings.grid_periodic[2] = False
        settings.grid = (*settings.grid[:2], layers)
        if seconds is not None:
            settings.line_seconds, settings.moving = seconds, True
        for row in settings.coordinates:
            if row.label.rpartition(".")[2] == "q_3":
                row.limits = "RANGE"
        frame_grids.rename(item)
    finally:
        settings.driven = driven


def remove_layers(scene: Scene, item: Object) -> None:
    """Take away the third direction of a grid with its Empties; layer 0 stays.

    Raises:
        ModelError: the grid is not complete, or has no layers.
    """
    settings = item.condyle.joint
    layers = settings.grid[2]
    if not frame_grids.complete(settings):
        frame_grids.poses(scene, item)  # says how many are missing
    if layers == 1:
        raise physics_access.model_error(f"joint {item.name!r}: its grid has no layers")
    knots = joints.stored_grid_knots(settings)
    driven, settings.driven = settings.driven, False
    try:
        for number in reversed(range(len(settings.frames))):
            if number % layers:
                bodies_and_joints.remove_control_frame(scene, item, number)
        settings.moving = False
        settings.grid_periodic[2] = False
        if knots is not None:
            _store_knots(settings, knots[:2])
        settings.grid = (*settings.grid[:2], 1)
        frame_grids.rename(item)
    finally:
        settings.driven = driven


def why_no_layers(settings: JointProperties) -> str:
    """Why a complete grid cannot get a third direction; empty where it can."""
    count = grid_directions(tuple(settings.grid))
    if count == 3:
        return "The surface has a third direction already"
    if count == 1:
        return "The grid needs columns before it can have layers"
    if settings.moving:
        return "The columns are time now: switch Moves in Time off first"
    return ""


def _shift(apart: float, turn: float) -> np.ndarray:
    pose: np.ndarray = physics_access.physics().lie.exp(np.array([0.0, 0.0, turn, 0.0, 0.0, apart]))
    return pose


def _store_knots(settings: JointProperties, knots: list[np.ndarray]) -> None:
    settings.knots.clear()
    for value in np.concatenate(knots):
        settings.knots.add().value = value
