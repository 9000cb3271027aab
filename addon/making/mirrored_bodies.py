"""The opposite side of a body: the body itself, by Blender's names (.L and .R), and its pose in the mirror.

A reflection S (one axis reversed) maps a pose T to S T S, again a proper rotation and a translation. This is the image
of a body whose own axes are mirrored too, as those of Blender's symmetrized bones are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Scene

from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import references
from ..data.references import Body
from . import bodies_and_joints

#: tolerances of mirror images: of bones' rest poses and of objects, as a share of their length
SYMMETRIC, STANDING = 0.05, 0.02


@dataclass(frozen=True, eq=False)
class Image:
    """A reflection (4, 4)."""

    matrix: np.ndarray

    @classmethod
    def across(cls, *axes: int) -> Image:
        """The reflection that reverses one axis, or all three (through the origin)."""
        flip = np.ones(4)
        flip[list(axes)] = -1.0
        return cls(np.diag(flip))

    def pose(self, poses: np.ndarray) -> np.ndarray:
        """Poses (..., 4, 4) in the mirror."""
        return self.matrix @ poses @ self.matrix

    def onto(self, frame: np.ndarray, other: Image) -> np.ndarray:
        """A frame (4, 4) in the mirror, with its own axes reflected by `other`."""
        return self.matrix @ frame @ other.matrix

    def point(self, vector: Iterable[float]) -> np.ndarray:
        """A point or direction (3,) in the mirror."""
        return self.matrix[:3, :3] @ np.array(vector, dtype=np.float64)

    def axis(self, vector: Iterable[float]) -> np.ndarray:
        """A rotation axis (3,) in the mirror, a pseudovector: opposite to a direction."""
        return -self.point(vector)


@dataclass(frozen=True, eq=False)
class Offset:
    """Constant pose (4, 4) of the other side's body in this one's image, and a note of any assumption."""

    pose: np.ndarray
    note: str = ""


def flipped(body: Body | None) -> str:
    """Name of the body on the other side; the same name if it has no side."""
    if body is None:
        return ""
    return bpy.utils.flip_name(body.bone or body.object.name)


def opposite(scene: Scene, body: Body | None) -> Body | None:
    """The body on the other side by name; None without one."""
    if body is None:
        return None
    if body.bone:
        name = bpy.utils.flip_name(body.bone)
        if name != body.bone:
            return Body(body.object, name) if name in body.object.pose.bones else None
    name = bpy.utils.flip_name(body.object.name)
    other = scene.objects.get(name)
    if name == body.object.name or other is None:
        return None
    if body.bone:
        return Body(other, body.bone) if other.pose is not None and body.bone in other.pose.bones else None
    return Body(other)


def offset(image: Image, body: Body | None, other: Body | None) -> Offset:
    """Pose of the other side's body in the image of a body, both in rest pose (bones) or at present (objects).

    Raises:
        ModelError: the rest poses of two bones are not mirror images.
    """
    if body is None or other is None:
        return Offset(np.eye(4))
    inverse = physics_access.physics().lie.inverse
    size = bodies_and_joints.typical_length(body)
    if body.bone and other.object == body.object:
        _, scale = units.split_scale(body.object.matrix_world, body.object.name, body.object)
        rests = [
            units.scaled_translation(units.array4(each.pose_bone.bone.matrix_local), scale)
            for each in (body, other)
        ]
        found = inverse(image.pose(rests[0])) @ rests[1]
        away = float(np.linalg.norm(found[:3, 3]))
        if away > SYMMETRIC * size * scale:
            raise model_error(
                f"{other.name} is {away:.3g} from the mirror image of {body.name} in rest pose; symmetrize the armature"
            )
        return Offset(found)
    poses = [units.split_scale(each.matrix, each.name, each.owner)[0] for each in (body, other)]
    found = inverse(image.pose(poses[0])) @ poses[1]
    turned = np.round(found[:3, :3])
    stands = (
        np.linalg.norm(found[:3, 3]) <= STANDING * size and np.abs(found[:3, :3] - turned).max() < STANDING
    )
    if stands:
        found[:3, :3] = turned  # axes may be permuted; the remainder is the present pose
        return Offset(found)
    if references.same(body, other):
        return Offset(np.eye(4), f"{body.name} is assumed symmetric about its own axis")
    return Offset(
        np.eye(4),
        f"{other.name} is not at the mirrored pose now; its axes are assumed to mirror {body.name}'s",
    )
