"""Muscles of a model as the add-on's muscles in a Blender scene: points on bodies, obstacles, mass and force law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

import physics as ph
from addon.baking import muscles as muscle_bakes
from addon.baking.channels import output_of
from addon.blender import compat, units
from addon.data.references import Body
from addon.making import muscles, obstacles
from addon.reading import snapshot
from addon.reading.muscles import FIGURES
from physics._typing import FloatArray
from physics.analysis.muscle_drawing import muscle_curves, tube_volume
from physics.muscles import Muscle, Sphere, SphereCappedCylinder, Wrap

from .mechanism import shifted_poses
from .production import check
from .staging import plain_material

OBSTACLE = (0.10, 0.42, 0.62)
# Blender keeps a curve's points in single precision, and the tube's rings lie about them
SHOWN_WITHIN = 5e-6


@dataclass(frozen=True)
class Look:
    """How a muscle's tube is drawn.

    Attributes:
        radius: of the belly at the first frame [m]. tendons: shares of the path that are tendon at origin and
            insertion; mass in a belly ends there.
    """

    radius: float
    tendons: tuple[float, float] = (0.15, 0.15)

    @classmethod
    def of_volume(cls, volume: float, length: float, tendons: tuple[float, float]) -> Look:
        """The look of a tube with this volume [m^3] along a path of this length [m]."""
        return cls(float(np.sqrt(volume / tube_volume(length, tendons))), tendons)


def add_muscles(
    scene: bpy.types.Scene,
    model: ph.Model,
    state: ph.State,
    objects: Mapping[str, bpy.types.Object],
    looks: Mapping[str, Look],
    shift: Sequence[float] = (0.0, 0.0, 0.0),
    title: str = "{}",
    surfaces_shown: bool = True,
) -> dict[str, bpy.types.Object]:
    """Add the add-on's muscles, by name, for a model whose bodies' objects have the poses of the state, shifted.

    Mass may lie evenly along the path, or in a belly between the tendons of the muscle's look. Pictures show the
    obstacles if `surfaces_shown`.
    """

    poses = shifted_poses(model, state, shift)
    base = np.eye(4)
    base[:3, 3] = shift
    surfaces: dict[Any, bpy.types.Object] = {}
    made = {}
    for muscle in model.muscles:
        points = []
        for point in muscle.points:
            pose = base if point.body is None else poses[point.body]
            place = pose[:3, :3] @ np.array(point.position) + pose[:3, 3]
            points.append((None if point.body is None else Body(objects[point.body]), place))
        item = muscles.add_muscle(scene, points, title.format(muscle.name))
        _set_figures(item, muscle, looks[muscle.name])
        for number, wrap in muscle.strands.items():
            item.condyle.muscle.smoothing = wrap.smoothing or 0.0
            for surface in _obstacles(scene, wrap, base, poses, objects, surfaces):
                surface.hide_render = not surfaces_shown
                muscles.wrap_over(item, surface, strand=number + 1)
        made[muscle.name] = item
    return made


def _set_figures(item: bpy.types.Object, muscle: Muscle, look: Look) -> None:
    settings = item.condyle.muscle
    settings.radius = look.radius
    settings.origin_tendon, settings.insertion_tendon = look.tendons
    settings.mass, settings.num_points = muscle.mass, max(muscle.num_points, 1)
    if muscle.masses is not None and muscle.masses.offsets.any():
        settings.mass_lies = "BELLY"
    law = settings.law
    law.kind = "none" if muscle.law is None else muscle.law.type
    if muscle.law is not None:
        for key, name in FIGURES.items():
            if hasattr(muscle.law, name):
                setattr(law, key, getattr(muscle.law, name))


def _obstacles(
    scene: bpy.types.Scene,
    wrap: Wrap,
    base: FloatArray,
    poses: Mapping[str, FloatArray],
    objects: Mapping[str, bpy.types.Object],
    known: dict[Any, bpy.types.Object],
) -> list[bpy.types.Object]:
    """Make the surfaces of a wrap; a surface that several muscles share is made once."""

    found = []
    for surface in wrap.obstacles:
        key = str(surface.to_dict())
        if key not in known:
            pose = base if surface.body is None else poses[surface.body]
            figures = {"radius": surface.radius, "side": surface.side}
            if not isinstance(surface, Sphere):
                figures["length"] = surface.length or 0.0
            body = None if surface.body is None else Body(objects[surface.body])
            item = obstacles.add_obstacle(
                scene, body, surface.type, Matrix((pose @ surface.frame).tolist()), **figures
            )
            item.data.materials.clear()
            item.data.materials.append(plain_material("Obstacle", OBSTACLE, 0.35, 0.5))
            known[key] = item
        found.append(known[key])
    return found


def key_excitation(item: bpy.types.Object, frames: Sequence[float], values: Sequence[float]) -> None:
    """Straight lines between keys of a muscle's excitation."""
    for frame, value in zip(frames, values, strict=True):
        item.condyle.muscle.excitation = value
        item.condyle.muscle.keyframe_insert("excitation", frame=frame)

    for curve in compat.curves_in_use(item):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def bake_muscles(
    scene: bpy.types.Scene,
    items: Mapping[str, bpy.types.Object],
    model: ph.Model,
    q: FloatArray,
    frames: FloatArray,
    shift: Sequence[float] = (0.0, 0.0, 0.0),
    activation: FloatArray | None = None,
) -> float:
    """Write the add-on's bake of muscles for a motion that was simulated elsewhere; returns its `check_shown`.

    Args:
        items: the muscles by name. q: coordinates (F, nv) at the frames (F,). activation: (F, muscles), None: at rest.
    """

    lines, lengths = muscle_curves(model, q, muscle_bakes.COUNT)
    made = [items[muscle.name] for muscle in model.muscles]
    entries = [SimpleNamespace(session_uid=item.session_uid, name=item.name) for item in made]
    active = np.zeros(lengths.shape) if activation is None else activation
    view = snapshot.take(scene)
    drawn = muscle_bakes.Drawn(lines + shift, lengths, active)
    found = muscle_bakes.shown(view, SimpleNamespace(muscles=entries), drawn)
    spaces = muscle_bakes.spaces(view, frames, found, [])  # the motion is keyed already
    muscle_bakes.write(frames, found, spaces, output_of(view), units.length_scale(view))
    return check_shown(scene, items, model, q, frames, shift)


def check_shown(
    scene: bpy.types.Scene,
    items: Mapping[str, bpy.types.Object],
    model: ph.Model,
    q: FloatArray,
    frames: FloatArray,
    shift: Sequence[float] = (0.0, 0.0, 0.0),
) -> float:
    """Largest distance [m] of the middles of the tubes' rings as Blender shows them from the model's paths, shifted, at
    coordinates (F, nv), at every eleventh frame. Raises SceneError if it is more than round-off.
    """

    before, largest = scene.frame_current, 0.0
    chosen = range(0, len(frames), 11)
    lines, _ = muscle_curves(model, q[::11], muscle_bakes.COUNT)
    names = [muscle.name for muscle in model.muscles]
    for row, index in enumerate(chosen):
        scene.frame_set(int(frames[index]))
        for name, item in items.items():
            off = middles(item) - lines[row, names.index(name)] - shift
            largest = max(largest, float(np.linalg.norm(off, axis=1).max()))
    scene.frame_set(before)
    return check("the error of the muscles that Blender shows", largest, 0.0, SHOWN_WITHIN, "m")


def middles(item: bpy.types.Object) -> FloatArray:
    """World places (n, 3) of the middles of a tube's rings, as Blender shows it at the current frame."""
    item.data.use_fill_caps = False
    shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    values = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", values)
    shown.to_mesh_clear()
    item.data.use_fill_caps = True
    rings = values.astype(np.float64).reshape(len(item.data.splines[0].points), -1, 3)
    world = np.array(item.matrix_world)
    return np.asarray(rings.mean(axis=1) @ world[:3, :3].T + world[:3, 3])


def capsule_distance(surface: Any, points: FloatArray) -> FloatArray:
    """Distances [m] of points (n, 3) in an obstacle's frame from a sphere, a cylinder or a capsule; below 0 inside."""
    if isinstance(surface, Sphere):
        return np.asarray(np.linalg.norm(points, axis=1) - surface.radius)
    half = 0.5 * surface.length if isinstance(surface, SphereCappedCylinder) else np.inf
    beyond = np.maximum(np.abs(points[:, 2]) - half, 0.0)
    return np.asarray(np.hypot(np.hypot(points[:, 0], points[:, 1]), beyond) - surface.radius)


def clearance(model: ph.Model, q: FloatArray) -> float:
    """Least distance [m] of any muscle's path from the surfaces that it wraps over, at coordinates (n, nv)."""
    least = np.inf
    wrapped = [(m, muscle) for m, muscle in enumerate(model.muscles) if muscle.strands]
    lines, _ = muscle_curves(model, q, 96)
    poses = [ph.body_poses(model, model.state(q=row)) for row in q]
    for m, muscle in wrapped:
        for wrap in muscle.strands.values():
            for surface in wrap.obstacles:
                for t, pose in enumerate(poses):
                    base = np.eye(4) if surface.body is None else pose[model.index(surface.body)]
                    there = base @ surface.frame
                    local = (lines[t, m] - there[:3, 3]) @ there[:3, :3]
                    least = min(least, float(capsule_distance(surface, local).min()))
    return least
