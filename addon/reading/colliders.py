"""Reads colliders into those of physics: chosen objects and bones, and the links of chains against them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from bpy.types import Scene
from mathutils import Quaternion

from ..animation.depths import BEGINS, depth_of
from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import colliders, references, soft_bodies
from ..data.references import Body
from . import collider_fit, muscle_points
from .carriers import Carriers

#: names of groups that users cannot choose: links of chains, what is not simulated, colliders that something begins in,
#: an armature that carries a chain, members of collections, what touches these alone
LINKS, ANIMATED, INSIDE = "(links)", "(animated)", "(begins in) "
OF_RIG, MEMBERS, ONLY = "(of) ", "(in collection) ", "(only collection) "
USUAL = "default"
# Places on the axis of a capsule that are tried for that.
ALONG = np.linspace(-1.0, 1.0, 9)


@dataclass
class Solid:
    """A collider of the model, or what will be one: its shape and that one's pose (4, 4) in the body of the model [m].

    Attributes:
        base: name of the body in the model, None for the world; moves: whether it is simulated. world: pose (4, 4) of
            the shape in the world [m]. margin: thickness [m].
    """

    body: Body
    base: str | None
    moves: bool
    shape: Any
    pose: np.ndarray
    world: np.ndarray
    margin: float
    groups: list[str] = field(default_factory=list)
    ignores: list[str] = field(default_factory=list)


def add_all(scene: Scene, builder: physics_access.ModelBuilder, known: Carriers) -> None:
    """Add the colliders of a scene that something simulated, or a soft body, can touch; without these none, so that
    nothing is compiled.

    Raises:
        ModelError: a collider cannot be read; names it.
    """
    chosen = colliders.in_use(scene)
    links = [] if not chosen else list(_links(known))
    bases = [known.base(body) for body in chosen]
    moved = any(base is not None and known.simulates(base) for base in bases)
    if not (links or moved or soft_bodies.in_use(scene)):
        return
    solids = [_read(scene, body, known, False) for body in chosen]
    solids += [_read(scene, body, known, True) for body in links]
    _let_roots_be(known, solids)
    _group(solids)
    _let_begin_inside(builder, solids)
    for each in solids:
        settings = each.body.data.collider
        builder.add_collider(
            each.body.name,
            each.base,
            each.shape,
            pose=each.pose,
            friction=settings.friction,
            restitution=settings.restitution,
            margin=each.margin,
            groups=each.groups,
            ignores=each.ignores,
        )


def _links(known: Carriers) -> Iterator[Body]:
    """The links of chains that are simulated, and are no colliders that were chosen."""
    for joint in known.moving.values():
        child = None if joint is None else references.resolve(joint.condyle.joint.child)
        if child is None or joint.condyle.joint.prescribed or not child.data.body.spring.enabled:
            continue
        if child.data.collider.active and not child.data.collider.enabled:
            yield child


def _read(scene: Scene, body: Body, known: Carriers, is_link: bool) -> Solid:
    """The collider of an object or bone as the scene is evaluated now."""
    references.check_evaluated(body.object, f"collider {body.name}")
    base = known.base(body)
    frame = muscle_points.pose_of(base)
    try:
        shape, pose = _shape(scene, body, is_link)
    except physics_access.physics().ModelError as error:
        text = str(error)
        raise model_error(text if body.name in text else f"collider {body.name}: {text}") from error
    world = units.to_metres(pose, scene)
    inside = physics_access.physics().lie.inverse(units.to_metres(frame, scene)) @ world
    moves = base is not None and known.simulates(base)
    margin = body.data.collider.margin * units.length_scale(scene)
    return Solid(body, known.name(base), moves, shape, inside, world, margin, [LINKS] if is_link else [])


def _shape(scene: Scene, body: Body, is_link: bool) -> tuple[Any, np.ndarray]:
    """The shape of physics [m], and its pose (4, 4) in the world, in Blender units."""
    shapes = physics_access.part("contacts")
    settings, metres = body.data.collider, units.length_scale(scene)
    pose, size = collider_fit.frame_of(body.matrix)
    if is_link and body.bone:
        return _of_link(body, pose, size, metres)
    values = {
        name: getattr(settings, name) for name in ("shape", "center", "rotation", "radius", "length", "size")
    }
    if is_link:
        values |= collider_fit.fit(scene, body)
    kind = values["shape"]
    if kind in {"CONVEX", "MESH"}:
        return _of_surface(scene, body, kind, pose, metres)
    place = np.eye(4)
    place[:3, :3] = np.array(Quaternion(values["rotation"]).normalized().to_matrix())
    place[:3, 3] = np.array(values["center"]) * size
    size *= metres
    if kind == "PLANE":
        made = shapes.Plane()
    elif kind == "SPHERE":
        made = shapes.Sphere(values["radius"] * size)
    elif kind == "CAPSULE":
        made = shapes.Capsule(values["radius"] * size, 0.5 * values["length"] * size)
    else:
        made = shapes.Box(0.5 * np.array(values["size"]) * size)
    return made, pose @ place


def _of_link(body: Body, pose: np.ndarray, size: float, metres: float) -> tuple[Any, np.ndarray]:
    """The capsule along a bone, from head to tail; without a radius of its own the one that it weighs as."""
    settings, mass = body.data.collider, body.data.body
    length = body.pose_bone.bone.length * size * metres
    radius = settings.radius * size * metres
    if radius == 0.0:
        radius = float(np.sqrt(mass.mass / (np.pi * length * max(mass.density, 1e-9))))
    place = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])  # its axis is the bone's y
    place[1, 3] = 0.5 * length / metres
    half = max(0.5 * length - radius, 0.0)
    return physics_access.part("contacts").Capsule(radius, half), pose @ place


def _of_surface(
    scene: Scene, body: Body, kind: str, pose: np.ndarray, metres: float
) -> tuple[Any, np.ndarray]:
    """The hull or all triangles of a mesh, or of the skin of a bone."""
    shapes = physics_access.part("contacts")
    points, triangles = collider_fit.surface(scene, body)
    relative = physics_access.physics().lie.inverse(pose) @ units.array4(body.matrix)
    points = metres * (points @ relative[:3, :3].T + relative[:3, 3])
    if kind == "MESH":
        if np.linalg.det(relative[:3, :3]) < 0.0:
            triangles = triangles[:, ::-1]
        corners = points[triangles]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
        return shapes.TriangleMesh(points, triangles[areas > 1e-6 * sides**2]), pose
    try:
        return shapes.Convex(points), pose
    except ImportError as error:
        raise model_error(f"collider {body.name}: a Convex Hull needs SciPy; choose another shape") from error


def _group(solids: list[Solid]) -> None:
    """Set which colliders touch: those with a common name, or with the collection that one is in; neither links
    nor what is animated touch their like.
    """
    homes = {each.body.data.collider.collection for each in solids} - {None}
    members = {home: {item.name_full for item in home.all_objects} for home in homes}
    chosen = [each.body.data.collider for each in solids if LINKS not in each.groups]
    every = sorted({name for settings in chosen for name in names_of(settings) or [USUAL]})
    for each in solids:
        settings = each.body.data.collider
        names = names_of(settings)
        if LINKS in each.groups:
            each.ignores.append(LINKS)
        if not each.moves:
            each.groups.append(ANIMATED)
            each.ignores.append(ANIMATED)
        home = settings.collection
        inside = [MEMBERS + other.name for other in homes if each.body.object.name_full in members[other]]
        if home is None:
            each.groups += names or ([USUAL] if LINKS not in each.groups else every)
        elif MEMBERS + home.name not in inside:
            each.groups += [ONLY + home.name, MEMBERS + home.name]
            each.ignores.append(ONLY + home.name)
        each.groups += inside


def names_of(settings: colliders.ColliderProperties) -> list[str]:
    """Names of a collider's groups; none: it is in that of those without a name."""
    return [name.strip() for name in settings.groups.split(",") if name.strip()]


def _let_roots_be(known: Carriers, solids: list[Solid]) -> None:
    """Let the first link of a chain not touch what is animated in its own armature, which it cannot get out of the way
    of: hair in its head, a tail between the legs.
    """
    for each in (each for each in solids if LINKS in each.groups and each.body.bone):
        above = references.carrier(each.body)
        if above is None or known.simulates(above):
            continue
        each.ignores.append(OF_RIG + each.body.object.name_full)
        for other in solids:
            own = not other.moves and other.body.object == each.body.object
            if own and each.ignores[-1] not in other.groups:
                other.groups.append(each.ignores[-1])


def _let_begin_inside(builder: physics_access.ModelBuilder, solids: list[Solid]) -> None:
    """Let what begins inside a bounded collider not touch it: roots of hair in the head, limbs beside each other."""
    parents = {body.name: body.parent for body in builder.bodies}
    numbers = {None: -1} | {body.name: number for number, body in enumerate(builder.bodies)}
    for each in (each for each in solids if each.moves):
        for other in solids:
            joined = other.base == each.base or (
                other.base is not None
                and (parents[each.base] == numbers[other.base] or parents[other.base] == numbers[each.base])
            )
            if joined or not may_touch(each, other) or depth(each, other) < BEGINS:
                continue
            name = INSIDE + other.body.name
            each.ignores.append(name)
            if name not in other.groups:
                other.groups.append(name)


def may_touch(one: Solid, other: Solid) -> bool:
    """Whether two colliders have a common group, and neither ignores the other."""
    mine, yours = set(one.groups), set(other.groups)
    return bool(mine & yours) and not (mine & set(other.ignores) or yours & set(one.ignores))


def depth(inner: Solid, outer: Solid) -> float:
    """How deep [m] a collider is in a bounded one: the axis of a capsule, or the corners, with radius and thickness;
    below 0 outside.
    """
    core, points = inner.shape.core(), inner.shape.core().vertices
    if len(points) == 2:
        points = points.mean(axis=0) + 0.5 * ALONG[:, None] * (points[1] - points[0])
    place = physics_access.physics().lie.inverse(outer.world) @ inner.world
    return depth_of(points, place, core.radius + inner.margin, outer.shape, outer.margin)
