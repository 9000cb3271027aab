"""The mouse drags a body of a live run by a spring, from where it took the body to where it is in the view's plane."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
import numpy as np
from bpy.types import Context, Event, Region
from gpu_extras.batch import batch_for_shader

from ..blender import session, units
from ..data.references import Body
from ..posing import picking

COLOR, WIDTH = (1.0, 0.85, 0.2, 1.0), 2.0


def take(context: Context, event: Event) -> bool:
    """The left button goes down; whether there is a body of the run under the mouse, or near it."""
    run = session.live
    seen = picking.region_under(context, event.mouse_x, event.mouse_y)
    if seen is None or run.poses is None:
        return False

    def moves(body: Body) -> bool:
        return run.number_of(body.handle()) is not None

    found = picking.body_at(context, *seen, _place(seen[0], event), moves)
    if found is None:
        return False
    body, place = found
    number = run.number_of(body.handle())
    pose = run.poses[number]
    point = pose[:3, :3].T @ (place * units.length_scale(context.scene) - pose[:3, 3])
    run.take(number, point)
    return True


def move(context: Context, event: Event) -> None:
    """The mouse moves: it pulls to the point under it that is as deep as the body's."""
    run, seen = session.live, picking.region_under(context, event.mouse_x, event.mouse_y)
    if seen is None:
        return
    metres = units.length_scale(context.scene)
    number, point, _ = run.grip
    depth = run.world_point(number, point) / metres
    target = picking.point_in_view(*seen, _place(seen[0], event), depth)
    run.pull_to(metres * target)


def _place(region: Region, event: Event) -> tuple[float, float]:
    return event.mouse_x - region.x, event.mouse_y - region.y


def draw(run: Any) -> None:
    """The spring of a run, as a line from the body to the mouse."""
    number, point, target = run.grip
    metres = units.length_scale(bpy.context.scene)
    ends = np.stack([run.world_point(number, point), target]) / metres
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", WIDTH)
    shader.uniform_float("color", COLOR)
    batch_for_shader(shader, "LINES", {"pos": ends.astype(np.float32).tolist()}).draw(shader)
