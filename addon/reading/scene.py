"""Reads a Blender scene into a physics model, with the scene's body for each body of the model.

Fixed bodies (no joint, not free) are not bodies of the model: their children are attached to the world. The scene must
be evaluated at the first frame of the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..data import references
from ..data.names import title_of
from ..data.references import Body, Handle, Key, key_of
from . import connections, missing_joints, wobbling_masses
from . import muscles as muscle_reading
from .joints import child_in_joint as child_in_joint
from .joints import control_frames as control_frames
from .joints import read_joint, start_of
from .joints import stored_knots as stored_knots
from .masses import mass_properties


@dataclass(frozen=True)
class ModelBody:
    """One body of the model: its handle in the scene, its uniform scale there, and name and session uid of its joint's
    Empty (a free body: empty and 0).
    """

    handle: Handle
    name: str
    scale: float
    joint_name: str
    joint_uid: int = 0

    @property
    def culprit(self) -> Handle:
        """Subject of a finding about its motion: its joint, or the free body."""
        return Handle(self.joint_uid) if self.joint_uid else self.handle


@dataclass(frozen=True)
class SceneModel:
    """A model with its start state, and the scene's bodies and muscles in the model's order.

    ``held``: fixed parents of joints: fixed bodies, and the Empties of joints to the world.
    """

    model: Any
    state: Any
    bodies: tuple[ModelBody, ...]
    held: tuple[Handle, ...] = ()
    muscles: tuple[muscle_reading.ModelMuscle, ...] = ()

    def handle_of(self, index: int) -> Handle | None:
        """The scene's body of a body of the model; of soft parts and loop ends, the body that carries them."""
        while index >= len(self.bodies):
            index = int(self.model.parent[index])
        return self.bodies[index].handle if index >= 0 else None


@dataclass(frozen=True)
class _Link:
    """A moving body with its joint's Empty (None: a free body) and its parent (None: the world)."""

    body: Body
    joint: Any
    parent: Body | None


def read(scene: Scene, curves: Mapping[int, physics_access.Joint] | None = None) -> SceneModel:
    """The model of a scene.

    Args:
        curves: spline curves (of physics, in metres) that replace the control frames of joints, by session uid.

    Raises:
        ModelError: a thing cannot be read; names it and its value. The scene is unchanged.
    """
    links = _ordered(_links(scene))
    if not links:
        raise physics_access.model_error(f"scene {scene.name!r}: {missing_joints.why_nothing(scene)}")
    builder = physics_access.physics().ModelBuilder(
        gravity=np.array(scene.condyle.simulation.gravity, dtype=np.float64)
    )
    moving = {key_of(link.body): link.body.name for link in links}
    start: dict[str, Any] = {}
    speed: dict[str, Any] = {}
    found = []
    joints: dict[int, connections.Coordinates] = {}
    for link in links:
        body = link.body
        _, scale = units.split_scale(body.matrix, body.name, body.owner)
        arguments = _arguments(scene, link, moving, curves or {})
        builder.add_body(body.name, **arguments)
        if link.joint is not None:
            start[body.name], speed[body.name] = start_of(link.joint, arguments["joint"])
            uid = link.joint.session_uid
            joints[uid] = connections.Coordinates(body.name, arguments["joint"], start[body.name])
            found.append(ModelBody(body.handle(), body.name, scale, link.joint.name, uid))
        else:
            found.append(ModelBody(body.handle(), body.name, scale, ""))
    for item in references.loop_joints(scene):
        start[item.name], speed[item.name], joint = _close_loop(scene, item, builder, moving, curves or {})
        joints[item.session_uid] = connections.Coordinates(item.name, joint, start[item.name])
    for item in references.joints_of(scene):
        if item.condyle.joint.no_slip and item.session_uid in joints:
            rolling = physics_access.part("constraints").RollingConstraint(joints[item.session_uid].body)
            builder.add_constraint(f"{item.name} rolls", rolling)
    for body in (link.body for link in links if link.body.data.body.wobbling.enabled):
        wobbling_masses.add(scene, builder, body.name, body.data.body.wobbling, mass_properties(scene, body))
    for link in links:
        if link.joint is not None:
            _add_controller(builder, link.joint, link.body.name, start[link.body.name])
    connections.add_all(scene, builder, moving, joints)
    muscles = muscle_reading.add_all(scene, builder, moving, joints)
    model = builder.build()
    held = {
        key_of(base): base.handle()
        for base in (link.parent or Body(link.joint) for link in links if link.joint is not None)
        if key_of(base) not in moving
    }
    return SceneModel(model, model.state(q=start, qd=speed), tuple(found), tuple(held.values()), muscles)


def _add_controller(builder: physics_access.ModelBuilder, item: Object, body: str, start: np.ndarray) -> None:
    """Add the controller of a joint, if it has one; its default target is the start."""
    settings = item.condyle.joint.controller
    if settings.enabled and len(start):
        limit = settings.limit if settings.limit > 0.0 else None
        builder.add_controller(
            item.name,
            body,
            stiffness=settings.stiffness,
            damping=settings.damping,
            force_limit=limit,
            target=start,
        )


def _arguments(
    scene: Scene, link: _Link, moving: Mapping[Key, str], curves: Mapping[int, physics_access.Joint]
) -> dict[str, Any]:
    """Arguments of add_body for one body."""
    mass = wobbling_masses.skeleton(
        link.body.data.body.wobbling, mass_properties(scene, link.body), link.body.name
    )
    arguments: dict[str, Any] = {"mass": mass.mass, "com": mass.center, "inertia": mass.inertia}
    if link.joint is None:
        pose, _ = units.split_scale(link.body.matrix, link.body.name, link.body.owner)
        free = physics_access.physics().joints.Free()
        return {**arguments, "joint": free, "joint_in_parent": units.to_metres(pose, scene)}
    return {**arguments, **_hung(scene, link.joint, link.parent, moving, curves)}


def _hung(
    scene: Scene,
    item: Object,
    parent: Body | None,
    moving: Mapping[Key, str],
    curves: Mapping[int, physics_access.Joint],
) -> dict[str, Any]:
    """Arguments of a joint from its Empty: parent, joint, frames, springs, limits."""
    frame, _ = units.split_scale(item.matrix_world, f"joint {item.name!r}", item)
    arguments: dict[str, Any] = {}
    if parent is not None and key_of(parent) in moving:
        base, _ = units.split_scale(parent.matrix, parent.name, parent.owner)
        arguments["parent"] = moving[key_of(parent)]
        frame = physics_access.physics().lie.inverse(base) @ frame
    fitted = curves.get(item.session_uid)
    for number, row in enumerate(item.condyle.joint.frames if fitted is None else ()):
        if references.in_scene(scene, row.object):
            name = f"control frame {number} ({row.object.name!r})"
            references.check_evaluated(row.object, f"joint {item.name!r}: {name}")
    joint = fitted if fitted is not None else read_joint(scene, item)
    arguments["joint"] = joint
    arguments["joint_in_parent"] = units.to_metres(frame, scene)
    if fitted is None:
        arguments["body_in_joint"] = units.to_metres(child_in_joint(item), scene)
    return {**arguments, **_passive(item, joint)}


def _close_loop(
    scene: Scene,
    item: Object,
    builder: physics_access.ModelBuilder,
    moving: Mapping[Key, str],
    curves: Mapping[int, physics_access.Joint],
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Add a joint that closes a loop between bodies of the model; returns its start, its start velocity, and itself."""
    child, parent = _ends(scene, item)
    if key_of(child) not in moving:
        raise physics_access.model_error(
            f"joint {item.name!r} closes a loop, but its child {child.name} is fixed: swap parent and child"
        )
    arguments = _hung(scene, item, parent, moving, curves)
    builder.add_loop_joint(item.name, moving[key_of(child)], arguments.pop("parent", None), **arguments)
    return *start_of(item, arguments["joint"]), arguments["joint"]


def _ends(scene: Scene, item: Object) -> tuple[Body, Body | None]:
    """Child and parent (None: the world) of a joint, checked."""
    settings = item.condyle.joint
    references.check_evaluated(item, f"joint {item.name!r}")
    child, parent = references.resolve(settings.child), references.resolve(settings.parent)
    references.check_role(scene, f"joint {item.name!r}", child, "child")
    if settings.to_world:
        return child, None
    references.check_role(scene, f"joint {item.name!r}", parent, "parent")
    if references.same(child, parent):
        raise physics_access.model_error(f"joint {item.name!r}: {child.name} is its own parent")
    return child, parent


def alone(
    scene: Scene, body: Body, joint: Object | None, curves: Mapping[int, physics_access.Joint] | None = None
) -> dict[str, Any]:
    """Arguments of add_body for a body with its joint's Empty (None: free), as if all other bodies were fixed."""
    arguments = _arguments(scene, _Link(body, joint, None), {}, curves or {})
    return {key: value for key, value in arguments.items() if key != "parent"}


def _passive(item: Object, joint: physics_access.Joint) -> dict[str, Any]:
    """Springs, dampers and limits of a joint."""
    rows = item.condyle.joint.coordinates
    if len(rows) != joint.num_coordinates:
        raise physics_access.model_error(
            f"joint {item.name!r} has {joint.num_coordinates} coordinates but settings for {len(rows)}: "
            "set its type again"
        )
    values = {
        name: np.array([getattr(row, name) for row in rows], dtype=np.float64)
        for name in ("stiffness", "rest", "damping", "armature", "limit_stiffness", "limit_damping")
    }
    for name in ("limit_stiffness", "limit_damping"):
        if not values[name].any():
            values[name] = None
    settings = item.condyle.joint
    restitution = settings.restitution if settings.hard_limits else None
    return {**values, "limits": limits_of(item, joint), "limit_restitution": restitution}


def limits_of(item: Object, joint: physics_access.Joint) -> list[tuple[float, float]]:
    """Lower and upper limits of a joint's readings."""
    limits = []
    for row, (lower, upper) in zip(item.condyle.joint.coordinates, joint.range):
        if row.limits == "CUSTOM":
            lower, upper = row.lower, row.upper
            if not lower < upper:
                raise physics_access.model_error(
                    f"joint {item.name!r}: the lower limit of {title_of(row)} must be below the upper, got "
                    f"{units.figure(lower, row.unit)} and {units.figure(upper, row.unit)}"
                )
        elif row.limits == "NONE":
            lower, upper = -np.inf, np.inf
        limits.append((lower, upper))
    return limits


def _links(scene: Scene) -> list[_Link]:
    """Every moving body with its joint and parent, checked."""
    links: dict[Key, _Link] = {}
    for item in references.carrying_joints(scene):
        child, parent = _ends(scene, item)
        other = links.get(key_of(child))
        if other is not None:
            raise physics_access.model_error(references.two_movers(other.joint, item, child))
        links[key_of(child)] = _Link(child, item, parent)
    for body in references.bodies_of(scene):
        if body.data.body.motion == "FREE" and key_of(body) not in links:
            references.check_evaluated(body.object, body.name)
            links[key_of(body)] = _Link(body, None, None)
    return list(links.values())


def _ordered(links: list[_Link]) -> list[_Link]:
    """Links with parents first; ModelError names the bodies of a cycle."""
    waiting = {key_of(link.body): link for link in links}
    ordered: list[_Link] = []
    while waiting:
        ready = [
            link for link in waiting.values() if link.parent is None or key_of(link.parent) not in waiting
        ]
        if not ready:
            names = ", ".join(link.body.name for link in waiting.values())
            raise physics_access.model_error(
                f"joints form a cycle between {names}: remove one, or let it close a loop"
            )
        ordered += ready
        for link in ready:
            del waiting[key_of(link.body)]
    return ordered
