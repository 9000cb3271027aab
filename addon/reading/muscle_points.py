"""Points of a muscle: control points of its curve, each attached to an object or bone by a hook modifier.

Hooks are Blender's own, so a muscle follows its bodies without the add-on, too. A point without a hook is fixed in the
world. A strand from one to the next may wrap over obstacles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Curve, Modifier, Object, Scene
from mathutils import Vector

from ..blender import physics_access, units
from ..data import references
from ..data.references import Body
from . import obstacles


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a muscle: its hook's object or bone (None: the world), and its place (3,) now, in Blender units."""

    target: Body | None
    place: np.ndarray


def muscles_of(scene: Scene) -> list[Object]:
    """The muscle curves of a scene, sorted by name."""
    found = [item for item in scene.objects if item.type == "CURVE" and item.condyle.muscle.enabled]
    return sorted(found, key=lambda each: each.name)


def own_curve(item: Object) -> Curve:
    """The curve with a muscle's points: the object's data, or the one that a bake has replaced."""
    return item.condyle.muscle.own_curve or item.data


def coordinates(item: Object) -> np.ndarray:
    """Control points (n, 3) of a muscle's curve, in its space, before hooks; ModelError names the muscle."""
    splines = own_curve(item).splines
    if len(splines) != 1 or splines[0].type != "POLY":
        kinds = ", ".join(spline.type.title() for spline in splines) or "none"
        raise physics_access.model_error(
            f"muscle {item.name!r}: its curve must be one spline of type Poly, but has {len(splines)} ({kinds})"
        )
    points = splines[0].points
    if len(points) < 2:
        raise physics_access.model_error(
            f"muscle {item.name!r} needs at least an origin and an insertion, but has {len(points)} points"
        )
    values = np.empty(4 * len(points), dtype=np.float32)
    points.foreach_get("co", values)
    return values.reshape(-1, 4)[:, :3].astype(np.float64)


def hooks(item: Object) -> dict[int, Modifier]:
    """The hook modifier of each point that has one."""
    found: dict[int, Any] = {}
    for modifier in item.modifiers:
        if modifier.type == "HOOK" and modifier.object is not None:
            for index in modifier.vertex_indices:
                found.setdefault(int(index), modifier)
    return found


def target_of(item: Object, modifier: Modifier) -> Body:
    """The object or bone of a hook; ModelError where the bone is missing."""
    target = Body(modifier.object, modifier.subtarget if modifier.object.type == "ARMATURE" else "")
    if target.bone and (target.object.pose is None or target.bone not in target.object.pose.bones):
        raise physics_access.model_error(
            f"muscle {item.name!r}: the bone {target.bone!r} of its hook {modifier.name!r} is missing"
        )
    return target


def points_of(item: Object) -> list[Point]:
    """Points of a muscle in the evaluated scene, from origin to insertion; ModelError names the muscle."""
    by_index = hooks(item)
    world = item.matrix_world
    found = []
    for index, own in enumerate(coordinates(item).tolist()):
        modifier = by_index.get(index)
        target = None if modifier is None else target_of(item, modifier)
        matrix = world if target is None else target.matrix @ modifier.matrix_inverse
        found.append(Point(target, np.array(matrix @ Vector(own), dtype=np.float64)))
    return found


def places_of(item: Object) -> np.ndarray:
    """Places (n, 3) of a muscle's points now, in the world, in Blender units."""
    return np.array([point.place for point in points_of(item)])


def hook(item: Object, index: int, target: Body, place: Sequence[float] | Vector | np.ndarray) -> None:
    """Hook a point to an object or bone, at a place (3,) in the world."""
    release(item, index)
    name = (target.bone or target.object.name)[:63]
    modifier = next(
        (
            each
            for each in item.modifiers
            if each.type == "HOOK" and _is_same(each, target) and each.name == name
        ),
        None,
    )
    if modifier is None:
        modifier = item.modifiers.new(name, "HOOK")
        modifier.object = target.object
        if target.bone:
            modifier.subtarget = target.bone
        modifier.matrix_inverse = target.matrix.inverted() @ item.matrix_world
    modifier.vertex_indices_set(sorted({*modifier.vertex_indices, index}))
    there = target.matrix @ modifier.matrix_inverse
    own_curve(item).splines[0].points[index].co = (*(there.inverted() @ Vector(place)), 1.0)


def release(item: Object, index: int) -> None:
    """Remove a point from its hook, and the hook if that was its last point."""
    for modifier in [each for each in item.modifiers if each.type == "HOOK"]:
        indices = set(modifier.vertex_indices)
        if index in indices:
            indices.discard(index)
            if indices:
                modifier.vertex_indices_set(sorted(indices))
            else:
                item.modifiers.remove(modifier)


def _is_same(modifier: Modifier, target: Body) -> bool:
    return modifier.object == target.object and modifier.subtarget == target.bone


def carrier(target: Body | None) -> Body | None:
    """The body that carries an object or bone: itself, or the nearest Blender parent that is a body."""
    while target is not None and not target.data.body.enabled:
        target = references.blender_parent(target)
    return target


def pose_of(body: Body | None) -> np.ndarray:
    """World pose (4, 4) of a body without its scale, in Blender units."""
    return np.eye(4) if body is None else units.split_scale(body.matrix, body.name, body.owner)[0]


LENGTHS = ("fibre_length", "tendon_length")


SAMPLES = 33


def smoothing_of(scene: Scene, item: Object) -> float | None:
    """Distance [m] over which contact with obstacles is smoothed; None: the default of physics."""
    set_to = item.condyle.muscle.smoothing
    return set_to * units.length_scale(scene) if set_to > 0.0 else None


def strands_over(item: Object, points: list[Point]) -> dict[int, list[Object]]:
    """The obstacles that each strand of a muscle wraps over, in order, by the index of the strand's first point."""
    placed: list[tuple[int, float, Any]] = []
    shares = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    for row in item.condyle.muscle.obstacles:
        surface = row.obstacle
        if surface is None or not surface.condyle.obstacle.enabled:
            lost = (
                "an obstacle is missing" if surface is None else f"{surface.name!r} is no obstacle any more"
            )
            raise physics_access.model_error(f"{lost}; choose one under Wraps over, or remove the row")
        if row.strand >= len(points):
            raise physics_access.model_error(
                f"it wraps over {surface.name!r} between points {row.strand} and {row.strand + 1}, but has only "
                f"{len(points)} points"
            )
        tried = range(len(points) - 1) if row.strand == 0 else [row.strand - 1]
        if len(points) == 2 and len(item.condyle.muscle.obstacles) == 1:
            return {0: [surface]}
        found = []
        for k in tried:
            line = points[k].place + shares * (points[k + 1].place - points[k].place)
            near = obstacles.nearness(surface, line)
            found.append((float(near.min()), k, float(near.argmin())))
        _, k, along = min(found)
        placed.append((k, along, surface))
    strands: dict[int, list[Any]] = {}
    for k, _, surface in sorted(placed, key=lambda entry: entry[:2]):
        strands.setdefault(k, []).append(surface)
    return strands
