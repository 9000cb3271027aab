"""The influence of IK constraints that bend a joint's child: 0 while sliders move it, as a switch from IK to FK."""

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.types import Constraint, Object, PoseBone, Scene

from ..blender import compat, physics_access
from ..data import body_reference, references
from ..data.references import Body


def switch_off(scene: Scene, item: Object, child: Body) -> None:
    """Set the influence of the IK constraints that bend a joint's child to 0, with a key at this frame where it has
    keys. Their bones keep the poses that they have.

    Raises:
        ModelError: a driver sets it.
    """
    found = list(_bending(child))
    for _, constraint, _ in found:
        if any(curve.data_path == _path(constraint) for curve in _drivers(child.object)):
            raise physics_access.model_error(
                f"joint {item.name!r}: a driver sets the influence of the constraint {constraint.name!r}; switch the "
                "rig from IK to FK first"
            )
    for below, constraint, chain in found:
        poses = [(bone, bone.matrix.copy()) for bone in reversed(chain)]
        row = item.condyle.joint.switched.add()
        row.bone_uid, row.constraint = body_reference.ensure_uid(below), constraint.name
        row.influence, row.frame = constraint.influence, scene.frame_current
        row.keyed = any(curve.data_path == _path(constraint) for curve in compat.curves_in_use(child.object))
        constraint.influence = 0.0
        if row.keyed:
            constraint.keyframe_insert("influence", frame=row.frame)
        for bone, pose in poses:
            bpy.context.view_layer.update()
            bone.matrix = pose
    bpy.context.view_layer.update()


def switch_back(scene: Scene, item: Object) -> None:
    """Give the constraints that a joint's sliders have switched off their influence, and take the key away; where
    those of another joint move their bones, that joint does it later.
    """
    child = references.resolve(item.condyle.joint.child)
    others = [each for each in references.joints_of(scene) if each != item and each.condyle.joint.driven]
    for row in item.condyle.joint.switched if child is not None and child.bone else ():
        for below, constraint, chain in compat.ik_chains(child.object):
            if (below.condyle.uid, constraint.name) != (row.bone_uid, row.constraint) or constraint.influence:
                continue
            heir = next((each for each in others if _is_in(chain, each, child.object)), None)
            if heir is not None:
                kept = heir.condyle.joint.switched.add()
                for name in ("bone_uid", "constraint", "influence", "keyed", "frame"):
                    setattr(kept, name, getattr(row, name))
                continue
            constraint.influence = row.influence
            if row.keyed:
                constraint.keyframe_delete("influence", frame=row.frame)
    item.condyle.joint.switched.clear()


def _is_in(chain: list[PoseBone], joint: Object, rig: Object) -> bool:
    """Whether a joint moves a bone of a chain."""
    child = references.resolve(joint.condyle.joint.child)
    return child is not None and child.object == rig and child.pose_bone in chain


def _bending(child: Body) -> Iterator[tuple[PoseBone, Constraint, list[PoseBone]]]:
    """The constraints that bend a body at this frame."""
    for below, constraint, chain in compat.ik_chains(child.object) if child.bone else ():
        if child.pose_bone in chain and compat.acts(child.object, constraint) and constraint.influence > 0.0:
            yield below, constraint, chain


def _path(constraint: Constraint) -> str:
    return f"{constraint.path_from_id()}.influence"


def _drivers(item: Object) -> Any:
    return () if item.animation_data is None else item.animation_data.drivers
