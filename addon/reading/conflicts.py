"""Whether keys would decide the pose of a body: what else of Blender would override them, or carry them away.

Bodies, objects and scenes are those of a snapshot.
"""

from collections.abc import Container, Iterable, Iterator
from typing import Any

import numpy as np
from bpy.types import Constraint, Object, PoseBone, Scene

from ..animation.scene_model import SceneModel
from ..baked import temporarily
from ..blender import compat, physics_access, scales
from ..curves.rotation_channels import rotation_path
from ..data import references
from ..data.joints import FOLLOW_PATH, PRESCRIBED_PATH
from ..data.references import Body, Key, key_of
from . import snapshot

#: what makes keys of a motion that comes from constraints
HOW_TO_KEY = "bake its motion to keys (Animation > Bake Action with Visual Keying), then mute the constraint"
PARENTS = {"VERTEX": "a vertex", "VERTEX_3": "three vertices", "LATTICE": "the lattice"}
LED = f"; where it is to lead the joint (Animated, Animation Influence), {HOW_TO_KEY}"


def check(body: Body) -> None:
    """ModelError where keys of this body would not decide its pose, with the reason."""
    item, owner = body.object, body.owner
    if item.library is not None:
        raise physics_access.model_error(
            f"{body.name} is linked from {item.library.filepath}; make a library override first"
        )
    data = item.animation_data
    temporarily.check_tweaked(item, body.name)
    solo = [track.name for track in data.nla_tracks if track.is_solo] if data is not None else []
    if solo:
        raise physics_access.model_error(
            f"{body.name}: its NLA track {solo[0]!r} plays solo, which would hide the baked keys; turn solo off"
        )
    if body.bone and item.data.pose_position == "REST":
        raise physics_access.model_error(
            f"armature {item.data.name!r} shows its rest position, not its pose; switch it to Pose Position"
        )
    _check_scale(body)
    _check_parents(item)
    if not body.bone and _is_simulated_by_blender(item):
        raise physics_access.model_error(
            f"{body.name}: Blender's own rigid body simulation would override the baked keys; make its Rigid Body "
            "Passive or Animated, or remove it (Object > Rigid Body)"
        )
    paths = ("location", "scale", rotation_path(owner.rotation_mode))
    ours = {f"{body.path_prefix}{path}" for path in paths}
    if compat.is_played(item, f"{body.path_prefix}rotation_mode"):
        raise physics_access.model_error(
            f"{body.name}: its rotation mode is animated, so baked rotations would be read as others; remove its "
            "keys or its driver"
        )
    for curve in data.drivers if data is not None else ():
        if curve.data_path in ours:
            raise physics_access.model_error(
                f"{body.name}: a driver on {curve.data_path!r} would override the baked keys; remove it"
            )
    for constraint in owner.constraints:
        yields = constraint in temporarily.own_constraints(body) or can_mute(body, constraint)
        if not yields and compat.acts(item, constraint):
            raise physics_access.model_error(
                f"{body.name}: the constraint {constraint.name!r} would override the baked keys; mute it first{LED}"
            )
    for below, constraint in bent_by(body.pose_bone) if body.bone else ():
        if not can_mute(body, constraint):
            raise physics_access.model_error(
                f"bone {body.name!r} is moved by inverse kinematics; mute the constraint {constraint.name!r} of bone "
                f"{below.name!r} first{LED}"
            )


def check_all(scene: Scene, bodies: Iterable[Body]) -> None:
    """As `check`, of bodies of a scene of Blender."""
    bodies = list(bodies)
    view = snapshot.take(scene, (body.object.session_uid for body in bodies))
    for body in bodies:
        check(references.find_body_in(view, body.handle(), body.name))


def can_mute(body: Body, constraint: Constraint) -> bool:
    """Whether a bake can mute a constraint that moves a body: of a bone, not along a curve, which neither leads the
    body's joint nor is muted by keys or drivers.
    """
    if not body.bone or constraint.type == "SPLINE_IK" or compat.is_switched(body.object, constraint):
        return False
    every = (joint for scene in body.object.users_scene for joint in references.joints_of(scene))
    return not any(
        references.same(references.resolve(joint.condyle.joint.child), body) and _follows(joint)
        for joint in every
    )


def _follows(joint: Object) -> bool:
    """Whether the animation of a joint's child may lead it."""
    settings = joint.condyle.joint
    played = any(compat.is_played(joint, path) for path in (FOLLOW_PATH, PRESCRIBED_PATH))
    return bool(settings.prescribed or settings.follow > 0.0 or played)


def bending(bodies: Iterable[Body]) -> dict[tuple[str, str], tuple[PoseBone, Constraint, list[PoseBone]]]:
    """The bone, the constraint and what it moves of each constraint that moves a body or is on it, by both's names; and
    of those on bones between bodies, which go along with the upper one, without what they would move.
    """
    bones = [body for body in bodies if body.bone]
    between = {
        key_of(above): above for body in bones for above in between_bodies(body, set(map(key_of, bones)))
    }
    chains = {
        name: list(temporarily.bending(item))
        for name, item in {each.object.name: each.object for each in bones}.items()
    }
    passing = {
        (above.object.name_full, each.path_from_id()): (above.pose_bone, each, list[PoseBone]())
        for above in between.values()
        for each in above.pose_bone.constraints
        if compat.acts(above.object, each)
    }
    return passing | {
        (body.object.name_full, constraint.path_from_id()): (below, constraint, chain)
        for body in bones
        for below, constraint, chain in chains[body.object.name]
        if body.pose_bone in (below, *chain) and compat.acts(body.object, constraint)
    }


def between_bodies(body: Body, keys: Container[Key]) -> list[Body]:
    """Bones between a bone and the nearest above it among bodies, by `key_of`; none if none is above."""
    found: list[Body] = []
    for bone in body.pose_bone.parent_recursive:
        above = Body(body.object, bone.name)
        if key_of(above) in keys:
            return found
        found.append(above)
    return []


def bent_by(bone: PoseBone) -> Iterator[tuple[PoseBone, Constraint]]:
    """The IK constraints that bend a chain with this bone, on a bone further down (`is_in_ik_chain` counts muted ones
    and does not count those along curves).
    """
    for below, constraint, chain in compat.ik_chains(bone.id_data):
        if below != bone and bone in chain and compat.acts(bone.id_data, constraint):
            yield below, constraint


def _is_simulated_by_blender(item: Object) -> bool:
    """Whether an object is an active rigid body of Blender, and at any time not one that follows its animation."""
    rigid: Any = item.rigid_body
    if rigid is None or rigid.type != "ACTIVE" or not rigid.simulated:
        return False
    switched = (curve for curve in compat.curves_in_use(item) if curve.data_path == "rigid_body.kinematic")
    off = any(key.co[1] < 0.5 for curve in switched for key in curve.keyframe_points)
    return off or not rigid.kinematic


def _check_scale(body: Body) -> None:
    """A rigid body has one scale: keys that change it would carry what hangs on the body away."""
    for curve in compat.curves_in_use(body.object):
        if curve.data_path == f"{body.path_prefix}scale" and len(curve.keyframe_points) > 1:
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get("co", points)
            low, high = float(points[1::2].min()), float(points[1::2].max())
            if high - low > scales.TOLERANCE * max(abs(low), abs(high)):
                raise physics_access.model_error(
                    f"{body.name}: its scale is keyed from {low:.4g} to {high:.4g}, but a rigid body keeps its size"
                )


def _check_parents(item: Object) -> None:
    """A parent that is a path moves its children along itself, which keys cannot undo; so does a vertex."""
    if refused := why_not_through(item):
        raise physics_access.model_error(refused)
    while item.parent is not None:
        parent = item.parent
        if parent.type == "CURVE" and parent.data.use_path and item.parent_type == "OBJECT":
            raise physics_access.model_error(
                f"{item.name!r} is carried along the path {parent.name!r}; turn off the curve's Path Animation"
            )
        item = parent


def why_not_through(item: Object) -> str:
    """Why keys cannot undo what an object's parent does to it; empty: they can, or it has none."""
    if item.parent is None or item.parent_type in compat.RIGID_PARENTS:
        return ""
    return (
        f"object {item.name!r} is parented to {PARENTS.get(item.parent_type, item.parent_type.lower())} of "
        f"{item.parent.name!r}; only parents of type object and bone can be baked through: "
        "clear the parent (Alt+P, Keep Transformation)"
    )


def check_carriers(scene: Scene, read: SceneModel) -> None:
    """ModelError where the parent or holder of a simulated body follows another one by a constraint: it would move only
    once the bake is there, so that keys would show another motion. In a scene without its bake.
    """
    found = [body for entry in read.bodies if (body := entry.handle.find_in(scene)) is not None]
    handles = dict.fromkeys([*read.held, *(entry.handle for entry in read.leaders)])
    bases = [body for handle in handles if (body := handle.find_in(scene)) is not None]
    simulated = {key_of(body) for body in found}
    for body in [*found, *bases]:
        carrier = references.carrier(body) if key_of(body) in simulated else body
        while carrier is not None and key_of(carrier) not in simulated:
            for holder, constraint in _moving(carrier):
                led_by = simulated_behind(references.looked_at(constraint), simulated)
                if led_by is not None:
                    whose = "" if holder == carrier.owner else f" of bone {holder.name!r}"
                    raise physics_access.model_error(
                        _told(carrier, body, f"{constraint.name!r}{whose}", led_by)
                    )
            carrier = references.carrier(carrier)


def _told(carrier: Body, body: Body, constraint: str, led_by: Body) -> str:
    what = "holds what is simulated but" if references.same(carrier, body) else f"carries {body.name} and"
    return (
        f"{carrier.name} {what} follows {led_by.name} by the constraint {constraint}, and {led_by.name} is "
        f"simulated: nobody knows before the bake where {carrier.name} will be; {HOW_TO_KEY}"
    )


def _moving(body: Body) -> Iterator[tuple[Object | PoseBone, Constraint]]:
    """Each constraint that moves or turns a body, and the object or bone that has it."""
    for constraint in body.owner.constraints:
        if constraint.type != "COPY_SCALE" and compat.acts(body.object, constraint):
            yield body.owner, constraint
    if body.bone:
        yield from bent_by(body.pose_bone)


def simulated_behind(bodies: Iterable[Body], simulated: set[Key]) -> Body | None:
    """The first simulated body by which any of these is moved, through parents and constraints; None: by none."""
    waiting, known = list(bodies), set()
    while waiting:
        body = waiting.pop()
        if key_of(body) in simulated:
            return body
        if key_of(body) in known:
            continue
        known.add(key_of(body))
        parent = references.carrier(body)
        waiting += [] if parent is None else [parent]
        for _, constraint in _moving(body):
            waiting += references.looked_at(constraint)
    return None


def check_target(item: Object | Scene, target: str) -> None:
    """ModelError where a bake to that target would change what is not its own, or not be seen."""
    temporarily.check_tweaked(item, repr(item.name))
    data = item.animation_data
    if target == "STRIP":
        if data is not None and not data.use_nla:
            raise physics_access.model_error(
                f"{item.name!r}: its NLA is switched off, so a strip would do nothing; switch it on in the NLA "
                "editor, or bake to an action"
            )
        return
    if target != "CURRENT" or data is None or data.action is None or not data.nla_tracks:
        return
    if (data.action_blend_type, data.action_influence) != ("REPLACE", 1.0):
        raise physics_access.model_error(
            f"{item.name!r}: its action {data.action.name!r} is blended with the NLA below it "
            f"({data.action_blend_type.lower()}, influence {data.action_influence:g}), so baked keys would not decide "
            "the pose; bake to a new action"
        )
