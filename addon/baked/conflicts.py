"""Whether keys would decide the pose of a body: what else of Blender would override them, or carry them away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from bpy.types import Constraint, Object, PoseBone

from ..blender import compat, physics_access, units
from ..curves.rotation_channels import rotation_path
from ..data import references
from ..data.joints import FOLLOW_PATH, PRESCRIBED_PATH
from ..data.references import Body
from . import ik_chains, targets
from .parents import check_parent

#: what makes keys of a motion that comes from constraints
HOW_TO_KEY = "bake its motion to keys (Animation > Bake Action with Visual Keying), then mute the constraint"
LED = f"; where it is to lead the joint (Animated, Animation Influence), {HOW_TO_KEY}"


def check(body: Body) -> None:
    """ModelError where keys of this body would not decide its pose, with the reason."""
    item, owner = body.object, body.owner
    if item.library is not None:
        raise physics_access.model_error(
            f"{body.name} is linked from {item.library.filepath}; make a library override first"
        )
    data = item.animation_data
    targets.check_tweaked(item, body.name)
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
    if is_played(item, f"{body.path_prefix}rotation_mode"):
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
        yields = constraint in own_constraints(body) or can_mute(body, constraint)
        if not yields and acts(item, constraint):
            raise physics_access.model_error(
                f"{body.name}: the constraint {constraint.name!r} would override the baked keys; mute it first{LED}"
            )
    for below, constraint in bent_by(body.pose_bone) if body.bone else ():
        if not can_mute(body, constraint):
            raise physics_access.model_error(
                f"bone {body.name!r} is moved by inverse kinematics; mute the constraint {constraint.name!r} of bone "
                f"{below.name!r} first{LED}"
            )


def acts(item: Object, constraint: Constraint) -> bool:
    """Whether a constraint of an object or of one of its bones does anything, now or at another frame: not one that is
    muted, that looks at nothing, or whose influence is 0, as a switch between FK and IK leaves it.
    """
    if getattr(constraint, "target", item) is None:
        return False
    path = constraint.path_from_id()
    if constraint.mute and not any(is_played(item, f"{path}.{name}") for name in ("mute", "enabled")):
        return False
    return bool(constraint.influence > 0.0 or is_played(item, f"{path}.influence"))


def is_played(item: Object, path: str) -> bool:
    """Whether keys, drivers or strips of the NLA move what a data path leads to."""
    data = item.animation_data
    if data is None:
        return False
    strips = compat.flat_strips(strip for track in data.nla_tracks for strip in track.strips)
    played = [curve for strip in strips for curve in compat.curves(strip.action, compat.slot_of(strip))]
    return any(curve.data_path == path for curve in (*compat.curves_in_use(item), *data.drivers, *played))


def can_mute(body: Body, constraint: Constraint) -> bool:
    """Whether a bake can mute a constraint that bends a body: of inverse kinematics, which neither leads the body's
    joint nor is muted by keys or drivers.
    """
    path = constraint.path_from_id()
    if constraint.type != "IK" or any(
        is_played(body.object, f"{path}.{name}") for name in ("mute", "enabled")
    ):
        return False
    every = (joint for scene in body.object.users_scene for joint in references.joints_of(scene))
    return not any(
        references.same(references.resolve(joint.condyle.joint.child), body) and _follows(joint)
        for joint in every
    )


def _follows(joint: Object) -> bool:
    """Whether the animation of a joint's child may lead it."""
    settings = joint.condyle.joint
    played = any(is_played(joint, path) for path in (FOLLOW_PATH, PRESCRIBED_PATH))
    return bool(settings.prescribed or settings.follow > 0.0 or played)


def bending(bodies: Iterable[Body]) -> dict[tuple[str, str], tuple[PoseBone, Constraint, list[PoseBone]]]:
    """The bone, the constraint and the chain of each IK constraint that bends a body or is on it, by both's names."""
    return {
        (body.object.name_full, constraint.path_from_id()): (below, constraint, chain)
        for body in bodies
        if body.bone
        for below, constraint, chain in ik_chains.chains(body.object)
        if body.pose_bone in (below, *chain) and acts(body.object, constraint)
    }


def bent_by(bone: PoseBone) -> Iterator[tuple[PoseBone, Constraint]]:
    """The IK constraints that bend a chain with this bone, on a bone further down (`is_in_ik_chain` counts muted ones
    and does not count those along curves).
    """
    for below, constraint, chain in ik_chains.chains(bone.id_data):
        if below != bone and bone in chain and acts(bone.id_data, constraint):
            yield below, constraint


def _is_simulated_by_blender(item: Object) -> bool:
    """Whether an object is an active rigid body of Blender, and at any time not one that follows its animation."""
    rigid = item.rigid_body
    if rigid is None or rigid.type != "ACTIVE":
        return False
    switched = (curve for curve in compat.curves_in_use(item) if curve.data_path == "rigid_body.kinematic")
    if rigid.kinematic and not any(key.co[1] < 0.5 for curve in switched for key in curve.keyframe_points):
        return False
    worlds = [scene.rigidbody_world for scene in item.users_scene]
    on = [world for world in worlds if world is not None and world.enabled and world.collection is not None]
    return any(each == item for world in on for each in world.collection.all_objects)


def _check_scale(body: Body) -> None:
    """A rigid body has one scale: keys that change it would carry what hangs on the body away."""
    for curve in compat.curves_in_use(body.object):
        if curve.data_path == f"{body.path_prefix}scale" and len(curve.keyframe_points) > 1:
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get("co", points)
            low, high = float(points[1::2].min()), float(points[1::2].max())
            if high - low > units.SCALE_TOLERANCE * max(abs(low), abs(high)):
                raise physics_access.model_error(
                    f"{body.name}: its scale is keyed from {low:.4g} to {high:.4g}, but a rigid body keeps its size"
                )


def _check_parents(item: Object) -> None:
    """A parent that is a path moves its children along itself, which keys cannot undo; so does a vertex."""
    check_parent(item)
    while item.parent is not None:
        parent = item.parent
        if parent.type == "CURVE" and parent.data.use_path and item.parent_type == "OBJECT":
            raise physics_access.model_error(
                f"{item.name!r} is carried along the path {parent.name!r}; turn off the curve's Path Animation"
            )
        item = parent


def is_armature_linked(item: Object) -> bool:
    """Whether the bones of a rig belong to another file, as those of a library override do, so that none of them can be
    connected or disconnected here.
    """
    return item.data.library is not None or item.data.override_library is not None


def how_to_disconnect(body: Body) -> str:
    """What to do so that keys can move a connected bone away from its parent."""
    data = body.object.data
    if not is_armature_linked(body.object):
        return "disconnect it, or turn on Disconnect Bones"
    library = data.library or data.override_library.reference.library
    return (
        f"disconnect it in {library.filepath}, of which its armature {data.name!r} is linked, and reload that"
    )


def own_constraints(body: Body) -> list[Constraint]:
    """The constraints by which a joint's slider moves a body."""
    return [constraint for constraint in body.owner.constraints if constraint.name.startswith("Condyle")]
