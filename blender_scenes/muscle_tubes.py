"""Muscles as tubes that bulge at constant volume, their motion in shape keys."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

import physics as ph

from .keys import key_values
from .picture import node_tree
from .staging import faceted_object, net_faces, plain_material

FloatArray = NDArray[np.float64]

RINGS, SIDES = 61, 12
RED, TENDON = (0.50, 0.055, 0.045), (0.82, 0.74, 0.62)
RELAXED, ACTIVE = (0.16, 0.045, 0.05), (1.0, 0.10, 0.02)


@dataclass(frozen=True)
class Tube:
    """How a muscle looks.

    Attributes:
        volume: of the belly [m^3]. belly: where it begins and ends, in shares of the path.
        tendon: radius outside of it [m].
    """

    volume: float
    belly: tuple[float, float] = (0.05, 0.95)
    tendon: float = 0.002

    def radii(self, lengths: FloatArray) -> FloatArray:
        """At each ring (n, RINGS) for lengths of the path (n,) [m]: a spindle of constant volume and the tendons."""
        share = np.linspace(0.0, 1.0, RINGS)
        start, end = self.belly
        spindle = np.sin(np.pi * np.clip((share - start) / (end - start), 0.0, 1.0))
        # a spindle's section goes with the squared sine, whose mean is a half
        section = 2.0 * self.volume / ((end - start) * np.asarray(lengths)[:, None]) * spindle**2
        return np.asarray(np.sqrt(section / np.pi + self.tendon**2))


def centerlines(result: ph.Result, muscle: str, every: int = 1) -> FloatArray:
    """World points (n, RINGS, 3) at equal shares of a muscle's path at each so many samples."""
    model, found = result.model, []
    for q in result.q[::every]:
        line = ph.muscle_polyline(model, model.state(q=q), muscle)
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
        wanted = np.linspace(0.0, along[-1], RINGS)
        found.append(np.column_stack([np.interp(wanted, along, line[:, k]) for k in range(3)]))
    return np.array(found)


def rings(line: FloatArray, radii: FloatArray) -> FloatArray:
    """Net of points (RINGS, SIDES + 1, 3) about a line (RINGS, 3), closed; its sections do not twist."""
    tangent = np.gradient(line, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    across = np.cross(tangent[0], np.eye(3)[int(np.argmin(np.abs(tangent[0])))])
    frames = np.empty((len(line), 2, 3))
    for k, along in enumerate(tangent):
        across = across - (across @ along) * along
        across /= np.linalg.norm(across)
        frames[k] = across, np.cross(along, across)
    turn = np.linspace(0.0, 2.0 * np.pi, SIDES + 1)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.asarray(line[:, None] + radii[:, None, None] * np.einsum("sk,rkx->rsx", circle, frames))


def add_tube(
    name: str,
    lines: FloatArray,
    tube: Tube,
    frames: FloatArray,
    into: bpy.types.Collection,
    color: tuple[float, float, float] = RED,
) -> bpy.types.Object:
    """A tube along lines (n, RINGS, 3) at frames (n,), as absolute shape keys."""
    lengths = np.linalg.norm(np.diff(lines, axis=1), axis=2).sum(axis=1)
    radii = tube.radii(lengths)
    shapes = [rings(line, radius).reshape(-1, 3) for line, radius in zip(lines, radii)]
    made = faceted_object(
        name,
        shapes[0],
        net_faces(RINGS, SIDES + 1),
        into,
        plain_material(f"Muscle {color}", color, 0.42),
        True,
    )
    share = np.linspace(0.0, 1.0, RINGS - 1)
    outside = (share < tube.belly[0]) | (share > tube.belly[1])
    made.data.materials.append(plain_material("Tendon", TENDON, 0.4))
    made.data.polygons.foreach_set("material_index", np.repeat(outside, SIDES).astype(np.int32))
    for frame, shape in zip(frames, shapes):
        block = made.shape_key_add(name=f"Frame {frame:g}", from_mix=False)
        block.interpolation = "KEY_LINEAR"
        block.data.foreach_set("co", shape.astype(np.float32).ravel())
    keys = made.data.shape_keys
    keys.use_relative = False
    places = np.array([block.frame for block in keys.key_blocks])
    key_values(keys, "eval_time", frames, places[:, None], array=False)
    return made


def color_by(made: bpy.types.Object, frames: FloatArray, activation: FloatArray) -> None:
    """Let a tube's belly glow the redder the more it is activated (n,), by keys."""
    material = plain_material(f"{made.name} activation", RELAXED, 0.42)
    made.data.materials[0] = material
    share = np.clip(activation, 0.0, 1.0)[:, None] ** 0.5
    colors = (1.0 - share) * np.array(RELAXED) + share * np.array(ACTIVE)
    opaque = np.column_stack([colors, np.ones(len(colors))])
    key_values(material, "diffuse_color", frames, opaque)
    key_values(
        node_tree(material), 'nodes["Principled BSDF"].inputs["Base Color"].default_value', frames, opaque
    )


def shown_tube(made: bpy.types.Object) -> FloatArray:
    """Vertices (n, 3) of a tube as Blender shows them at the frame of the moment."""
    evaluated = made.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = np.empty(3 * len(evaluated.data.vertices), dtype=np.float32)
    evaluated.data.vertices.foreach_get("co", found)
    return found.reshape(-1, 3).astype(np.float64)


def tube_error(
    scene: bpy.types.Scene, made: bpy.types.Object, lines: FloatArray, frames: FloatArray
) -> float:
    """Largest distance [m] between the middles of a tube's rings as shown and its line, at every seventh frame."""
    before, largest = scene.frame_current, 0.0
    for index in range(0, len(frames), 7):
        scene.frame_set(int(frames[index]))
        middles = shown_tube(made).reshape(RINGS, SIDES + 1, 3)[:, :SIDES].mean(axis=1)
        largest = max(largest, float(np.abs(middles - lines[index]).max()))
    scene.frame_set(before)
    return largest
