"""The other side of a body: which body it is, by Blender's names (.L and .R), and how it stands in the mirror.

A reflection S (one axis reversed) takes a pose T to S T S, again a proper rotation and a shift: the image in the mirror
of a body whose own axes are mirrored, too. That is how Blender's symmetrized bones stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Scene
from mathutils.kdtree import KDTree

from ..blender import physics_access, units
from ..data import references
from ..data.references import Body
from ..reading import masses
from . import bodies_and_joints

#: rest poses of bones may differ from mirror images by this share of the bone's length, objects by this share of theirs
SYMMETRIC, STANDING = 0.05, 0.02
#: vertices of two meshes may differ from mirror images by this share of a body's length
SHAPED = 1e-3


@dataclass(frozen=True, eq=False)
class Image:
    """A reflection (4, 4)."""

    matrix: np.ndarray

    @classmethod
    def across(cls, *axes: int) -> Image:
        """The reflection that reverses an axis, or all three: through the origin."""
        flip = np.ones(4)
        flip[list(axes)] = -1.0
        return cls(np.diag(flip))

    def pose(self, poses: np.ndarray) -> np.ndarray:
        """Poses (..., 4, 4) in the mirror."""
        found: np.ndarray = self.matrix @ poses @ self.matrix
        return found

    def onto(self, frame: np.ndarray, other: Image) -> np.ndarray:
        """A frame (4, 4) in the mirror that has in it what another reflection makes of what the given one has in it."""
        found: np.ndarray = self.matrix @ frame @ other.matrix
        return found

    def point(self, vector: Iterable[float]) -> np.ndarray:
        """A point or direction (3,)."""
        found: np.ndarray = self.matrix[:3, :3] @ np.array(vector, dtype=np.float64)
        return found

    def axis(self, vector: Iterable[float]) -> np.ndarray:
        """An axis (3,) that is turned about: it points the other way where a direction would not."""
        return -self.point(vector)


@dataclass(frozen=True, eq=False)
class Offset:
    """How the other side's body stands against this one's image: a constant pose (4, 4), and what was assumed."""

    pose: np.ndarray
    note: str = ""


def flipped(body: Body | None) -> str:
    """What the body of the other side is called; the own name where the name has no side."""
    if body is None:
        return ""
    name: str = bpy.utils.flip_name(body.bone or body.object.name)
    return name


def opposite(scene: Scene, body: Body | None) -> Body | None:
    """The body of the other side by its name; None where there is none."""
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
    """Pose of the other side's body in the image of a body, both as they rest (bones) or stand now (objects).

    Raises:
        ModelError: two bones are no mirror images at rest.
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
            raise physics_access.model_error(
                f"{other.name} is no mirror image of {body.name}: at rest it is {away:.3g} off; symmetrize the armature"
            )
        return Offset(found)
    poses = [units.split_scale(each.matrix, each.name, each.owner)[0] for each in (body, other)]
    found = inverse(image.pose(poses[0])) @ poses[1]
    turned = np.round(found[:3, :3])
    stands = (
        np.linalg.norm(found[:3, 3]) <= STANDING * size and np.abs(found[:3, :3] - turned).max() < STANDING
    )
    if stands:
        found[:3, :3] = turned  # axes may be called otherwise; less than that is the pose of the moment
        return Offset(found)
    shaped = _by_shape(image, body, other, found, SHAPED * size)
    if shaped is not None:
        return Offset(shaped)
    if references.same(body, other):
        return Offset(np.eye(4), f"{body.name} is taken as symmetric about its own axis")
    return Offset(
        np.eye(4), f"{other.name} stands otherwise now; its axes are taken as {body.name}'s, mirrored"
    )


def _by_shape(image: Image, body: Body, other: Body, now: np.ndarray, slack: float) -> np.ndarray | None:
    """Pose (4, 4) of the other side's object in the image of a body's by their meshes, wherever their origins and axes
    are, and however they stand: by vertices in the same order; else where they are images now, or can be laid on each
    other in one way alone. None where they are no images, or symmetric ones.

    Args:
        now: that pose by how they stand now. slack: by how much vertices may be off [Blender units].
    """
    if body.bone or other.bone or {body.object.type, other.object.type} != {"MESH"}:
        return None
    images, points = (
        masses.mesh_arrays(each.object)[0] * units.split_scale(each.matrix, each.name, each.owner)[1]
        for each in (body, other)
    )
    images = images @ image.matrix[:3, :3].T
    if min(len(images), len(points)) < 4:
        return None
    if len(images) == len(points):
        fitted = _fitted(points, images)
        if np.abs(points @ fitted[:3, :3].T + fitted[:3, 3] - images).max() <= slack:
            return fitted
    if _covers(now, points, images, slack):
        return now
    laid = [pose for pose in _by_axes(points, images) if _covers(pose, points, images, slack)]
    return laid[0] if len(laid) == 1 else None


def _covers(pose: np.ndarray, points: np.ndarray, images: np.ndarray, slack: float) -> bool:
    """Whether points (n, 3) at a pose (4, 4) lie on other points (m, 3), each on one, and the other way round."""
    placed = points @ pose[:3, :3].T + pose[:3, 3]
    return _farthest(placed, images) <= slack and _farthest(images, placed) <= slack


def _by_axes(points: np.ndarray, images: np.ndarray) -> list[np.ndarray]:
    """The four poses (4, 4) that lay the principal axes of points (n, 3) on those of their images (n, 3) in another
    order; none of other numbers of points.
    """
    if len(points) != len(images):
        return []
    middles = [each.mean(axis=0) for each in (points, images)]
    own, theirs = (
        np.linalg.svd(each - middle, full_matrices=False)[2].T
        for each, middle in zip((points, images), middles)
    )
    found = []
    for signs in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)):
        pose, turn = np.eye(4), theirs @ np.diag(signs) @ own.T
        pose[:3, :3] = turn * np.linalg.det(turn)  # both sets of axes may be left-handed ones
        pose[:3, 3] = middles[1] - pose[:3, :3] @ middles[0]
        found.append(pose)
    return found


def _fitted(points: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """The pose (4, 4) that takes points (n, 3) nearest to others, one to one (Arun, Huang and Blostein 1987)."""
    pose, middle = np.eye(4), points.mean(axis=0)
    left, _, right = np.linalg.svd((onto - onto.mean(axis=0)).T @ (points - middle))
    pose[:3, :3] = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    pose[:3, 3] = onto.mean(axis=0) - pose[:3, :3] @ middle
    return pose


def _farthest(points: np.ndarray, others: np.ndarray) -> float:
    """The farthest that one of some points (n, 3) is from the nearest of others (m, 3)."""
    tree = KDTree(len(others))
    for k, point in enumerate(others.tolist()):
        tree.insert(point, k)
    tree.balance()
    return max(tree.find(point)[2] for point in points.tolist())
