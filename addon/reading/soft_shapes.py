"""What is read of soft bodies: the mesh as it is at the first frame, its lattice, and which nodes are attached to what.

Arrays are in the world [m]. Physics gets nothing of this before a shot is planned (`animation.soft_bodies`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from bpy.types import Modifier, Object, Scene
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ..animation.scene_model import SoftShape
from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import references, soft_bodies
from ..data.references import Body
from . import meshes, muscle_points
from .carriers import Carriers, soft_carriers

NODES = 200  # about so many where no size is set
SCALED = 1e-4  # least scale that counts as one that is not applied
LEVEL = 1e-4  # sine below which a point is level with the face at whose edge its nearest place is
#: modifiers that keep the number of vertices; a baked mesh takes the place of what those before all others give
DEFORMING = frozenset(
    {
        *("ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "HOOK", "LATTICE", "MESH_DEFORM", "SHRINKWRAP"),
        *("SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM", "WARP"),
    }
)
#: the body of the model that does not move
HELD = "(held still)"


def gather(scene: Scene, known: Carriers) -> tuple[SoftShape, ...]:
    """The soft bodies of a snapshot, evaluated now; ModelError names one that cannot be read, and why."""
    return tuple(read(scene, item, known) for item in soft_bodies.in_use(scene))


def read(scene: Scene, item: Object, known: Carriers) -> SoftShape:
    """One soft body of a snapshot, or of the scene; raises as `gather`."""
    called, settings, metres = f"soft body {item.name!r}", item.condyle.soft, units.length_scale(scene)
    references.check_evaluated(item, called)
    if any(abs(abs(size) - 1.0) > SCALED for size in item.scale):
        scale = ", ".join(f"{size:.4g}" for size in item.scale)
        raise model_error(f"{called} has the scale ({scale}): apply it (Object > Apply > Scale)")
    vertices, triangles = _as_deformed(item)
    world = units.array4(item.matrix_world)
    vertices = metres * (vertices @ world[:3, :3].T + world[:3, 3])
    near = _group(item, settings.attached_group, vertices, called)
    try:
        nodes, tets, size = lattice(vertices, triangles, metres * settings.lattice_size)
    except physics_access.physics().CondyleError as error:
        raise model_error(f"{called}: {error}") from error
    bodies = soft_carriers(scene, item)
    if not bodies:
        raise model_error(f"{called} has nothing to be attached to: parent it to a bone or an object")
    reach = metres * settings.reach or size
    away = np.array([_distances(body, nodes / metres, len(bodies) == 1) for body in bodies]) * metres
    on = away.min(axis=0) <= reach if near is None else _near(nodes, near) <= reach
    if not on.any() or on.all():
        what = "no node" if not on.any() else "every node"
        near_by = ", ".join(body.name for body in bodies[:3])
        raise model_error(
            f"{called}: {what} of its lattice is within {units.told_length(reach)} of {near_by}; change Reach, Lattice "
            "Size, or the vertex group Attached"
        )
    bases = [known.base(body) for body in bodies]
    names = [known.name(base) or HELD for base in bases]
    best = away.argmin(axis=0)
    attached = {int(node): names[best[node]] for node in np.flatnonzero(on)}
    used = set(attached.values())
    poses = {
        name: units.to_metres(muscle_points.pose_of(base), scene)
        for name, base in zip(names, bases)
        if name in used
    }
    given: dict[str, Any] = {"young": settings.young} if settings.use_young else {"sag": settings.sag}
    given |= {name: getattr(settings, name) for name in ("poisson", "density", "damping", "friction")}
    given["law"] = settings.law.lower()
    longest = float(np.ptp(vertices, axis=0).max())
    return SoftShape(item.session_uid, item.name, vertices, nodes, tets, attached, poses, longest, given)


def lattice(vertices: np.ndarray, triangles: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Nodes (n, 3), tetrahedra (m, 4) and size of the lattice about a mesh; size 0: that of about `NODES` nodes."""
    make = physics_access.physics().soft_lattice
    if size > 0.0:
        return (*make(vertices, triangles, size), size)
    size = float(np.prod(np.maximum(np.ptp(vertices, axis=0), 1e-6)) / NODES) ** (1.0 / 3.0)
    found = []
    for _ in range(5):
        nodes, tets = make(vertices, triangles, size)
        found.append((abs(np.log(len(nodes) / NODES)), nodes, tets, size))
        size *= (len(nodes) / NODES) ** 0.4
    _, nodes, tets, size = min(found, key=lambda each: each[0])
    return nodes, tets, size


def later(item: Object) -> int:
    """Number of the first modifier that may change the number of vertices."""
    kinds = [each.type in DEFORMING for each in item.modifiers]
    return kinds.index(False) if False in kinds else len(kinds)


def _as_deformed(item: Object) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (k, 3) and triangles of an object's mesh as the modifiers before `later` deform it."""
    shown = references.live(item)
    with _without(list(shown.modifiers)[later(shown) :]):
        vertices, triangles = meshes.mesh_arrays(shown)
    if len(vertices) != len(shown.data.vertices):
        raise model_error(f"soft body {item.name!r}: modifiers change its number of vertices")
    return vertices, triangles


@contextmanager
def _without(modifiers: Sequence[Modifier]) -> Iterator[None]:
    """These modifiers do not act meanwhile."""
    off = [each for each in modifiers if each.show_viewport]
    for each in off:
        each.show_viewport = False
    try:
        yield
    finally:
        for each in off:
            each.show_viewport = True
        if off:
            bpy.context.view_layer.update()


def _group(item: Object, name: str, vertices: np.ndarray, called: str) -> np.ndarray | None:
    """Vertices (g, 3) of the group that is attached; None where no group is set."""
    if not name:
        return None
    rows = meshes.in_group(item, name, len(vertices))
    if not rows:
        raise model_error(f"{called}: no vertex has more than half of vertex group {name!r}")
    return vertices[rows]


def _near(nodes: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Distances (n,) of nodes from the nearest of some vertices."""
    return np.array([np.sqrt(((vertices - node) ** 2).sum(axis=1).min()) for node in nodes])


def _distances(body: Body, points: np.ndarray, alone: bool) -> np.ndarray:
    """Distances (n,) of points (n, 3), in Blender units, from a body; negative inside of its mesh or skin.

    A bone is the line from head to tail; where it is the only body, the skin of its armature, if that has one.
    """
    shown = references.live(body.object)
    skins = [shown] if shown.type == "MESH" else []
    if alone and shown.type == "ARMATURE":
        scene = bpy.context.scene
        skins = [each for each in meshes.skins(scene, shown) if not each.condyle.soft.enabled]
    if skins:
        return np.min([_from_surface(each, points) for each in skins], axis=0)
    world = shown.matrix_world
    if not body.bone:
        ends = (world.translation, world.translation)
    else:
        bone = shown.pose.bones[body.bone]
        ends = (world @ bone.head, world @ bone.tail)
    head, along = np.array(ends[0]), np.array(ends[1]) - np.array(ends[0])
    share = np.clip((points - head) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return np.linalg.norm(points - head - share[:, None] * along, axis=1)


def _from_surface(item: Object, points: np.ndarray) -> np.ndarray:
    """Distances (n,) of points from the evaluated mesh of an object, negative behind it."""
    vertices, triangles = meshes.mesh_arrays(item)
    world = units.array4(item.matrix_world)
    tree: Any = BVHTree.FromPolygons(
        (vertices @ world[:3, :3].T + world[:3, 3]).tolist(), triangles.tolist(), all_triangles=True
    )
    found = np.full(len(points), np.inf)
    for row, point in enumerate(points):
        place, normal, _, away = tree.find_nearest(Vector(point))
        if place is not None:
            is_behind = (Vector(point) - place).dot(normal) < -LEVEL * away
            found[row] = -away if is_behind else away
    return found
