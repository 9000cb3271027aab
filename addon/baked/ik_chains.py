"""Bones that wait for their children: Blender breaks such a ring anywhere, and shows the bone one change late.

Its inverse kinematics computes a chain of bones at once, also where their constraint is muted: none of them is done
before all are. A bendy bone is not done before the bones by which its curve ends, its connected child as a rule.
"""

from collections.abc import Iterator

from bpy.types import Object, PoseBone, Scene

from ..blender import compat
from ..data import references
from ..data.references import Body


def _ring(scene: Scene, child: Body | None, parent: Body | None) -> tuple[str, str] | None:
    """Why a joint's child waits for a body that moves its parent, and what to do about it."""
    if child is None or parent is None or not child.bone:
        return None
    for below, constraint, chain in compat.ik_chains(child.object):
        if constraint.target is None or child.pose_bone not in chain:
            continue
        names = {bone.name for bone in chain}
        for each in _moved_by(scene, parent):
            if each.object == child.object and each.bone in names:
                return (
                    f"{child.name} and {each.name} are both bent by the constraint {constraint.name!r} of bone "
                    f"{below.name!r}: Blender computes such bones at once, even while it is muted,",
                    "remove the constraint, or shorten its chain (Chain Length)",
                )
    if parent.bone and parent.object == child.object and _is_curved_by(parent.pose_bone, child.pose_bone):
        return (
            f"{parent.name} is a bendy bone whose curve ends by {child.name}: Blender computes that one first,",
            "give the bendy bone one segment",
        )
    return None


def _is_curved_by(bendy: PoseBone, bone: PoseBone) -> bool:
    """Whether the curve of a bendy bone ends by another bone."""
    rest = bendy.bone
    if rest.bbone_segments < 2:
        return False
    if rest.bbone_handle_type_end == "AUTO" and bone.parent == bendy and bone.bone.use_connect:
        return True
    ends = [
        (rest.bbone_handle_type_start, rest.bbone_custom_handle_start),
        (rest.bbone_handle_type_end, rest.bbone_custom_handle_end),
    ]
    return any(kind != "AUTO" and by is not None and by.name == bone.name for kind, by in ends)


def moves_by_channels(scene: Scene, child: Body | None, parent: Body | None) -> bool:
    """Whether sliders are to set the channels of a joint's child, so that it does not wait for its parent.

    That suffices where the joint's parent is the parent in Blender. Elsewhere sliders set poses in the world.
    """
    if child is None or not references.same(references.blender_parent(child), parent):
        return False
    return _ring(scene, child, parent) is not None and child.pose_bone.bone.use_inherit_rotation


def are_free(item: Object) -> bool:
    """Whether the followers of a joint hang on nothing, for a child that they move by its channels."""
    follower = item.condyle.joint.follower
    while follower is not None and follower.parent is not None:
        follower = follower.parent
    return follower is not None and follower.condyle.frame_of == item


def why_late(scene: Scene, child: Body | None, parent: Body | None) -> str:
    """Why a joint's slider would move its child one change late; empty: it would not."""
    if moves_by_channels(scene, child, parent):
        return ""
    return _late(_ring(scene, child, parent))


def of_joint(scene: Scene, item: Object) -> str:
    """As `why_late`, of a joint's child and parent, and of the followers that it has."""
    settings = item.condyle.joint
    parent = None if settings.to_world else references.resolve(settings.parent)
    child = references.resolve(settings.child)
    if not settings.driven or are_free(item) or not moves_by_channels(scene, child, parent):
        return why_late(scene, child, parent)
    return _late(_ring(scene, child, parent), "refresh its sliders (condyle.drive)")


def _late(ring: tuple[str, str] | None, remedy: str = "") -> str:
    return (
        ""
        if ring is None
        else f"{ring[0]} and would show what sliders do one change late; {remedy or ring[1]}"
    )


def _moved_by(scene: Scene, body: Body) -> Iterator[Body]:
    """A body, and all by which it is moved in turn: parents in Blender, and of joints whose sliders move them."""
    waiting, known = [body], set()
    while waiting:
        each = waiting.pop()
        key = references.key_of(each)
        if key in known:
            continue
        known.add(key)
        yield each
        joint = references.joint_of(scene, each)
        parents = [references.blender_parent(each)]
        if joint is not None and joint.condyle.joint.driven and not joint.condyle.joint.to_world:
            parents.append(references.resolve(joint.condyle.joint.parent))
        waiting += [parent for parent in parents if parent is not None]
