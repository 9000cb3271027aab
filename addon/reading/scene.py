"""Reads a Blender scene into a physics model, with the scene's body for each body of the model.

What is not simulated and stands still is not in the model: its children hang on the world, or on the simulated body
that carries it. What is animated is followed, see `carriers`. The scene must be evaluated at the first frame of the
simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..animation.scene_model import Leaders, ModelBody, PoseSpring, SceneModel
from ..blender import compute_process, physics_access, scales, units
from ..blender.compute_process import Breath, Steps
from ..data import references, soft_bodies
from ..data.joints import title_of
from ..data.references import Body, Handle, Key, key_of
from ..data.stored_joints import child_in_joint as child_in_joint
from ..data.stored_joints import control_frames as control_frames
from ..data.stored_joints import laws_of, read_joint, start_of
from ..data.stored_joints import stored_knots as stored_knots
from . import (
    carriers,
    colliders,
    connections,
    feedback,
    force_fields,
    joint_motors,
    missing_joints,
    muscle_points,
    pose_springs,
    soft_shapes,
)
from . import muscles as muscle_reading
from .carriers import Carriers
from .masses import add_forces, add_soft_parts, mass_properties, skeleton

#: mass properties of what is followed: whatever moves it bears the forces, and energies are those of what is simulated
NEXT_TO_NOTHING = {"mass": 1e-6, "inertia": 1e-6 * np.eye(3)}


@dataclass(frozen=True)
class _Link:
    """A body of the model with its joint's Empty (None: it is free, or followed), its parent, and the body of the model
    that it hangs on by that (None: the world).
    """

    body: Body
    joint: Any
    parent: Body | None
    base: Body | None = None
    is_followed: bool = False


def read(
    scene: Scene, curves: Mapping[int, physics_access.Joint] | None = None, followed: Leaders | None = None
) -> SceneModel:
    """The model of a scene.

    Args:
        curves: spline curves (of physics, in metres) that replace the control frames of joints, by session uid.
        followed: what is animated (`followed`); None: nothing does.

    Raises:
        ModelError: a thing cannot be read; names it and its value. The scene is unchanged.
    """
    return compute_process.run(read_steps(scene, curves, followed))


def read_steps(
    scene: Scene,
    curves: Mapping[int, physics_access.Joint] | None,
    followed: Leaders | None,
    motors: bool = False,
) -> Steps[SceneModel]:
    """Steps of `read`; motors: as `always` of `joint_motors.add`."""
    followed = followed or Leaders()
    known = Carriers(scene, carriers.simulated(scene), followed)
    links = _links(scene, known)
    soft = soft_bodies.in_use(scene)
    if not (links or soft):
        raise physics_access.model_error(f"scene {scene.name!r}: {missing_joints.why_nothing(scene)}")
    links = _ordered([*(_Link(body, None, None, base, True) for body, base in known.leaders()), *links])
    moving = {key_of(link.body) for link in links if not link.is_followed}
    builder = physics_access.physics().ModelBuilder(
        gravity=np.array(scene.condyle.simulation.gravity, dtype=np.float64)
    )
    start: dict[str, Any] = {}
    speed: dict[str, Any] = {}
    found, leaders = list[ModelBody](), list[ModelBody]()
    factors: dict[Key, float] = {}
    joints: dict[int, connections.Coordinates] = {}
    for index, link in enumerate(links):
        body = link.body
        _, scale = units.split_scale(body.matrix, body.name, body.owner)
        if link.is_followed:
            name = carriers.name_of(body)
            builder.add_body(name, **_of_leader(scene, link, known, followed))
            leaders.append(ModelBody(index, body.handle(), name, scale, body.name))
            continue
        scales.check_own_scale(body)
        scale *= _unstretched(body, scale, factors)
        arguments = _arguments(scene, link, known, curves or {})
        builder.add_body(body.name, **arguments)
        if link.joint is not None:
            joint_motors.add(builder, link.joint, body.name, arguments, motors)
            start[body.name], speed[body.name] = start_of(link.joint, arguments["joint"])
            uid = link.joint.session_uid
            joints[uid] = connections.Coordinates(body.name, arguments["joint"], start[body.name])
            found.append(ModelBody(index, body.handle(), body.name, scale, link.joint.name, uid))
        else:
            found.append(ModelBody(index, body.handle(), body.name, scale, ""))
    yield Breath()
    links = [link for link in links if not link.is_followed]
    if soft:
        builder.add_body(soft_shapes.HELD, joint=physics_access.physics().joints.Fixed(), **NEXT_TO_NOTHING)
    for item in references.loop_joints(scene):
        start[item.name], speed[item.name], joint = _close_loop(scene, item, builder, known, curves or {})
        joints[item.session_uid] = connections.Coordinates(item.name, joint, start[item.name])
    settled, springs = _add_to_joints(scene, builder, links, joints)
    start |= settled
    connections.add_all(scene, builder, known, joints)
    colliders.add_all(scene, builder, known)
    fields = force_fields.add_all(scene, builder, known, [link.body for link in links])
    muscles = muscle_reading.add_all(scene, builder, known, joints)
    feedback.add_all(scene, builder, known, joints, soft)
    model = builder.build()
    state = model.state(q=start, qd=speed)
    held = _held(links, moving)
    shapes = soft_shapes.gather(scene, known)
    return SceneModel(
        model, state, tuple(found), held, muscles, tuple(leaders), followed, springs, fields, shapes
    )


def _unstretched(body: Body, scale: float, factors: dict[Key, float]) -> float:
    """By what the scale of a body changes when the constraints of simulated bones are muted.

    factors: other than 1, of bones above; that of this one is added.
    """
    bone = body.pose_bone
    if bone is None:
        return 1.0
    keys = (key_of(Body(body.object, each.name)) for each in bone.parent_recursive) if factors else ()
    found = next((factors[key] for key in keys if key in factors), 1.0)
    if scales.is_scaled(bone):
        above = Body(body.object, bone.parent.name if bone.parent else "")
        _, carried = units.split_scale(above.matrix, above.name, above.owner)
        found *= carried * float(np.cbrt(np.abs(np.prod(np.array(bone.scale))))) / scale
    if found != 1.0:
        factors[key_of(body)] = found
    return found


def _held(links: list[_Link], moving: set[Key]) -> tuple[Handle, ...]:
    """Handles of the parents of joints that are not simulated."""
    bases = [link.parent or Body(link.joint) for link in links if link.joint is not None]
    return tuple({key_of(base): base.handle() for base in bases if key_of(base) not in moving}.values())


def _add_to_joints(
    scene: Scene,
    builder: physics_access.ModelBuilder,
    links: list[_Link],
    joints: Mapping[int, connections.Coordinates],
) -> tuple[dict[str, np.ndarray], tuple[PoseSpring, ...]]:
    """Add rolling, wobbling masses, controllers, springs to the animation, drag and shares of gravity; of the springs
    as `pose_springs.add`.
    """
    for item in references.joints_of(scene):
        if item.condyle.joint.no_slip and item.session_uid in joints:
            rolling = physics_access.part("constraints").RollingConstraint(joints[item.session_uid].body)
            builder.add_constraint(f"{item.name} rolls", rolling)
    for body in (link.body for link in links if link.body.data.body.wobbling.enabled):
        add_soft_parts(scene, builder, body.name, body.data.body.wobbling, mass_properties(scene, body))
    for link in links:
        if link.joint is not None:
            start = joints[link.joint.session_uid].start
            _add_controller(builder, link.joint, link.body.name, start)
    bodies = {link.body.name: link.body for link in links}
    add_forces(builder, bodies)
    hung = {link.body.name: link.joint for link in links if link.joint is not None}
    return pose_springs.add(scene, builder, bodies, hung)


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


def _of_leader(scene: Scene, link: _Link, known: Carriers, followed: Leaders) -> dict[str, Any]:
    """Arguments of add_body for what is followed."""
    joint, frame = (carriers.joint_of(link.body.handle(), followed), carriers.relative(link.body, link.base))
    place = {"parent": known.name(link.base), "joint_in_parent": units.to_metres(frame, scene)}
    return {**NEXT_TO_NOTHING, "joint": joint, **place}


def _arguments(
    scene: Scene, link: _Link, known: Carriers, curves: Mapping[int, physics_access.Joint]
) -> dict[str, Any]:
    """Arguments of add_body for one body."""
    mass = skeleton(link.body.data.body.wobbling, mass_properties(scene, link.body), link.body.name)
    arguments: dict[str, Any] = {"mass": mass.mass, "com": mass.center, "inertia": mass.inertia}
    if link.joint is None:
        pose, _ = units.split_scale(link.body.matrix, link.body.name, link.body.owner)
        free = physics_access.physics().joints.Free()
        return {**arguments, "joint": free, "joint_in_parent": units.to_metres(pose, scene)}
    return {**arguments, **_hung(scene, link.joint, link.base, known, curves)}


def _hung(
    scene: Scene, item: Object, base: Body | None, known: Carriers, curves: Mapping[int, physics_access.Joint]
) -> dict[str, Any]:
    """Arguments of a joint from its Empty, on a body of the model: parent, joint, frames, springs, limits."""
    frame, _ = units.split_scale(item.matrix_world, f"joint {item.name!r}", item)
    arguments: dict[str, Any] = {}
    if base is not None:
        arguments["parent"] = known.name(base)
        frame = physics_access.part("geometry.lie").inverse(muscle_points.pose_of(base)) @ frame
    fitted = curves.get(item.session_uid)
    for number, row in enumerate(item.condyle.joint.frames if fitted is None else ()):
        if references.in_scene(scene, row.object):
            name = f"control point {number} ({row.object.name!r})"
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
    known: Carriers,
    curves: Mapping[int, physics_access.Joint],
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Add a joint that closes a loop between bodies of the model; returns its start, its start velocity, and itself."""
    child, parent = ends(scene, item)
    if not known.simulates(child):
        raise physics_access.model_error(
            f"joint {item.name!r} closes a loop, but its child {child.name} is fixed: swap parent and child"
        )
    arguments = _hung(scene, item, known.under(item, parent), known, curves)
    builder.add_loop_joint(item.name, child.name, arguments.pop("parent", None), **arguments)
    return *start_of(item, arguments["joint"]), arguments["joint"]


def ends(scene: Scene, item: Object) -> tuple[Body, Body | None]:
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
    arguments = _arguments(scene, _Link(body, joint, None), Carriers(scene, {}, Leaders()), curves or {})
    return {key: value for key, value in arguments.items() if key != "parent"}


def _passive(item: Object, joint: physics_access.Joint) -> dict[str, Any]:
    """Springs, dampers and limits of a joint."""
    rows = item.condyle.joint.coordinates
    if len(rows) != joint.num_coordinates:
        raise physics_access.model_error(
            f"joint {item.name!r} has {joint.num_coordinates} coordinates but settings for {len(rows)}: "
            "set its type again"
        )
    names = ("stiffness", "rest", "damping", "armature", "limit_stiffness", "limit_damping")
    table = np.array([[getattr(row, name) for name in names] for row in rows], dtype=np.float64)
    values = dict(zip(names, table.reshape(-1, len(names)).T))
    for name in names[-2:]:
        values[name] = values[name] if values[name].any() else None
    settings = item.condyle.joint
    restitution = settings.restitution if settings.hard_limits else None
    limited = {"limits": limits_of(item, joint), "limit_restitution": restitution}
    return {**values, **laws_of(item), **limited}


def limits_of(item: Object, joint: physics_access.Joint) -> list[tuple[float, float]]:
    """Lower and upper limits of a joint's readings."""
    limits = []
    for row, (lower, upper) in zip(item.condyle.joint.coordinates, joint.range):
        if row.limits == "CUSTOM":
            lower, upper = row.lower, row.upper
            if not lower <= upper:
                raise physics_access.model_error(
                    f"joint {item.name!r}: the lower limit of {title_of(row)} must be below the upper, got "
                    f"{units.figure(lower, row.unit)} and {units.figure(upper, row.unit)}"
                )
        elif row.limits == "NONE":
            lower, upper = -np.inf, np.inf
        limits.append((lower, upper))
    return limits


def _links(scene: Scene, known: Carriers) -> list[_Link]:
    """Every simulated body with its joint and parent, checked."""
    links: dict[Key, _Link] = {}
    for item in references.carrying_joints(scene):
        child, parent = ends(scene, item)
        other = links.get(key_of(child))
        if other is not None:
            raise physics_access.model_error(references.two_movers(other.joint, item, child))
        if (circle := carriers.circle(item, known.moving)) is not None:
            raise physics_access.model_error(circle.text)
        links[key_of(child)] = _Link(child, item, parent, known.under(item, parent))
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
        ready = [link for link in waiting.values() if link.base is None or key_of(link.base) not in waiting]
        if not ready:
            names = ", ".join(link.body.name for link in waiting.values())
            raise physics_access.model_error(f"a cycle of joints {names}: remove one, or let it close a loop")
        ordered += ready
        for link in ready:
            del waiting[key_of(link.body)]
    return ordered
