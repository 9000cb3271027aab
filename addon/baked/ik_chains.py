"""Chains of bones that Blender's inverse kinematics computes at once, also where their constraint is muted.

None of the chain's bones is done before all are, so what is moved by something that hangs on another bone of its own
chain waits for itself: Blender breaks such a ring anywhere, and shows the bone one change late.
"""

from __future__ import annotations

from collections.abc import Iterator

from bpy.types import Constraint, Object, PoseBone, Scene

from ..data import references
from ..data.references import Body


def chains(item: Object) -> Iterator[tuple[PoseBone, Constraint, list[PoseBone]]]:
    """The bone, the constraint, and all bones that it bends, of each IK constraint of an armature, muted ones, too."""
    for below in item.pose.bones:
        for constraint in below.constraints:
            if constraint.type in {"IK", "SPLINE_IK"}:
                chain = [below, *below.parent_recursive]
                if constraint.type == "IK" and not constraint.use_tail:
                    del chain[0]
                yield below, constraint, chain[: constraint.chain_count or len(chain)]


def why_late(scene: Scene, child: Body | None, parent: Body | None) -> str:
    """Why a joint's slider would move its child one change late; empty: it would not."""
    if child is None or parent is None or not child.bone:
        return ""
    for below, constraint, chain in chains(child.object):
        if constraint.target is None or child.pose_bone not in chain:
            continue
        names = {bone.name for bone in chain}
        met = next(
            (each for each in _moved_by(scene, parent) if each.object == child.object and each.bone in names),
            None,
        )
        if met is not None:
            return (
                f"{child.name} and {met.name} are both bent by the constraint {constraint.name!r} of bone "
                f"{below.name!r}: Blender computes such bones at once, even while it is muted, and would show what "
                "sliders do one change late; remove the constraint, or shorten its chain (Chain Length)"
            )
    return ""


def of_joint(scene: Scene, item: Object) -> str:
    """As `why_late`, of a joint's child and parent."""
    settings = item.condyle.joint
    parent = None if settings.to_world else references.resolve(settings.parent)
    return why_late(scene, references.resolve(settings.child), parent)


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
