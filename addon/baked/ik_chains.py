"""Chains of bones that Blender's inverse kinematics computes at once, also where their constraint is muted.

None of the chain's bones is done before all are, so what is moved by something that hangs on another bone of its own
chain waits for itself: Blender breaks such a ring anywhere, and shows the bone one change late.
"""

from collections.abc import Iterator

from bpy.types import Constraint, Object, PoseBone, Scene

from ..blender import compat
from ..data import references
from ..data.references import Body


def _ring(scene: Scene, child: Body | None, parent: Body | None) -> tuple[PoseBone, Constraint, Body] | None:
    """The bone and the constraint that bend a joint's child and a body that moves its parent, and that body."""
    if child is None or parent is None or not child.bone:
        return None
    for below, constraint, chain in compat.ik_chains(child.object):
        if constraint.target is None or child.pose_bone not in chain:
            continue
        names = {bone.name for bone in chain}
        for each in _moved_by(scene, parent):
            if each.object == child.object and each.bone in names:
                return below, constraint, each
    return None


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
    return _late(
        _ring(scene, child, parent), child, "remove the constraint, or shorten its chain (Chain Length)"
    )


def of_joint(scene: Scene, item: Object) -> str:
    """As `why_late`, of a joint's child and parent, and of the followers that it has."""
    settings = item.condyle.joint
    parent = None if settings.to_world else references.resolve(settings.parent)
    child = references.resolve(settings.child)
    if not settings.driven or are_free(item) or not moves_by_channels(scene, child, parent):
        return why_late(scene, child, parent)
    return _late(_ring(scene, child, parent), child, "refresh its sliders (condyle.drive)")


def _late(ring: tuple[PoseBone, Constraint, Body] | None, child: Body | None, remedy: str) -> str:
    if ring is None or child is None:
        return ""
    below, constraint, met = ring
    return (
        f"{child.name} and {met.name} are both bent by the constraint {constraint.name!r} of bone {below.name!r}: "
        "Blender computes such bones at once, even while it is muted, and would show what sliders do one change late; "
        f"{remedy}"
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
