"""Poses -> channels -> keyframes."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.types import Scene

from ..baked.channels_back import check_editable, how_to_disconnect
from ..blender import compat, physics_access, units
from ..curves.fit_between_keys import Inside
from ..curves.rotation_channels import led_on, missed_between, rotation_channels, rotation_path
from ..data import references
from ..data.references import Body
from .keys import Output

#: share of a number that several roundings in single precision come to
SINGLE = 2.0**-21


#: location (E, 3) and rotation channels (E, 3 or 4) of frames before a bake; None: a connected bone has no location
Rows = tuple[np.ndarray | None, np.ndarray]


class Channels:
    """What a bake writes for one body: location (F, 3) and the channels of its rotation mode (F, 3 or 4).

    `early`: whole frames (E,) before those of the bake that get keys too.
    """

    def __init__(self, body: Body, matrices: np.ndarray, scene: Scene) -> None:
        """From matrices (F, 4, 4) of the body's own channels; ModelError where they cannot be had by its channels."""
        owner = body.owner
        self.body = body
        self.mode = owner.rotation_mode
        self.path = rotation_path(self.mode)
        self.early = np.empty(0)
        self._before: Rows | None = None
        self.inside: list[Inside] = []
        self._scene = scene
        self._scale = float(np.linalg.norm(matrices[0, :3, 0]))
        rotations, location = self._parts(matrices)
        self.location = None if self._is_connected(scene, location) else location
        self.rotation = rotation_channels(
            rotations, self.mode, np.array(getattr(owner, self.path), dtype=np.float64)
        )
        self.missed = missed_between(rotations, self.rotation, self.mode)

    def _parts(self, matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (F, 3, 3) and locations (F, 3) of the channels without the deltas."""
        linear = matrices[:, :3, :3]
        scale = np.sqrt(np.einsum("fij,fij->fj", linear, linear))
        if np.abs(scale - self._scale).max() > 4.0 * units.SCALE_TOLERANCE * max(scale.max(), self._scale):
            raise physics_access.model_error(
                f"{self.body.name}: a parent's scale changes or is not uniform, so no keys can hold its pose"
            )
        rotations, location = units.orthogonal(linear * self._signs()), matrices[:, :3, 3]
        handed = np.einsum("fi,fi->f", np.cross(rotations[:, 0], rotations[:, 1]), rotations[:, 2])
        if handed.min() < 0.0:
            raise physics_access.model_error(
                f"{self.body.name}: a parent mirrors it, so no keys can hold its pose"
            )
        if not self.body.bone:
            location = location - np.array(self.body.object.delta_location)
            rotations = units.delta_rotation(self.body.object, self.mode).T @ rotations
        return rotations, location

    def _signs(self) -> np.ndarray:
        """Of the body's own scale (3,), which stays: by two that are negative it is turned, and mirrored by one."""
        owner = self.body.owner
        return np.sign(np.array(owner.scale) * np.array(getattr(owner, "delta_scale", 1.0)))

    def early_rows(self, matrices: np.ndarray) -> Rows:
        """Location and rotation at frames just before the bake's, from matrices (E, 4, 4) of the body's own channels.

        Raises:
            ModelError: keys cannot hold them beside those of the bake.
        """
        if not np.isfinite(matrices).all():
            raise physics_access.model_error(f"{self.body.name}: a parent has no size before the bake")
        rotations, location = self._parts(matrices)
        if self.location is None and not self._is_at_parent(location):
            raise physics_access.model_error(
                f"bone {self.body.name!r} is connected, but away from its parent before the bake"
            )
        # backwards, for the rows of the bake stay as they are and these are to lead to them
        turned = rotation_channels(rotations[::-1], self.mode, self.rotation[0])[::-1]
        return (None if self.location is None else location), turned

    def lead(self, early: np.ndarray, rows: Rows) -> None:
        """Let rows of `early_rows` at whole frames (E,) come before those of the bake."""
        self.early, self._before = early, rows

    def see_between(self, rows: np.ndarray, matrices: np.ndarray) -> None:
        """Note what the channels are from the frames of rows (k,), rising, to the next ones, as `inside`, one for each
        of `paths`.

        Args:
            matrices: (k, n + 2, 4, 4) at each of these frames, at even places behind it, and at the next.
        """
        if not len(rows):
            return
        rotations, location = self._parts(matrices.reshape(-1, 4, 4))
        turned = rotation_channels(rotations, self.mode, self.rotation[rows[0]])
        turned = turned.reshape(*matrices.shape[:2], -1)
        turned, same = led_on(turned, self.rotation[rows], self.rotation[rows + 1], self.mode)
        location = location.reshape(*matrices.shape[:2], -1)
        self.inside = [] if self.location is None else [Inside(rows, location[:, 1:-1])]
        self.inside.append(Inside(rows[same], turned[same, 1:-1]))

    def _is_at_parent(self, location: np.ndarray) -> bool:
        """Whether a bone that is connected to its parent stays there."""
        bone, item = self.body.pose_bone.bone, self.body.object
        # Blender holds poses in single precision: in the armature, and in the world, of which the local ones are made
        size = float(np.abs(item.matrix_world.translation).max()) / max(item.matrix_world.median_scale, 1e-9)
        rounding = SINGLE * (
            size + float(np.abs(np.array(bone.matrix_local.translation)).max()) + bone.length
        )
        return float(np.abs(location).max()) <= 1e-4 * bone.length + rounding

    def _is_connected(self, scene: Scene, location: np.ndarray) -> bool:
        """Whether the body is a connected bone, without location of its own; ModelError where it needs one."""
        if not self.body.bone or not self.body.pose_bone.bone.use_connect:
            return False
        if self._is_at_parent(location):
            return True
        if not scene.condyle.simulation.disconnect_bones:
            item = self.body.object
            _, scale = units.split_scale(item.matrix_world, item.name, item)
            away = float(np.linalg.norm(location, axis=1).max()) * scale * units.length_scale(scene)
            raise physics_access.model_error(
                f"bone {self.body.name!r} is connected to its parent and the simulation moves it "
                f"{units.told_length(away)} away; {how_to_disconnect(self.body)}"
            )
        body = Body(references.live(self.body.object), self.body.bone)
        check_editable(body)
        _check_others(body)
        return False

    @property
    def group(self) -> str:
        """Name of the curves' group in the Graph Editor."""
        return self.body.bone or "Object Transforms"

    @property
    def metres(self) -> float:
        """Of a unit of its location, in the world."""
        return units.metres_of(self.body, self._scene)

    def paths(self) -> list[tuple[str, np.ndarray]]:
        """Data paths on the object with their values (E + F, c), those of early frames first."""
        prefix = self.body.path_prefix
        location, rotation = self.location, self.rotation
        if self._before is not None:
            rotation = np.concatenate([self._before[1], rotation])
            if location is not None and self._before[0] is not None:
                location = np.concatenate([self._before[0], location])
        written = [] if location is None else [(f"{prefix}location", location)]
        return [*written, (f"{prefix}{self.path}", rotation)]


def _check_others(body: Body) -> None:
    """ModelError where another rig with the same armature would move if a bone of this one were disconnected: its own
    location of that bone, which the connection hides, would count.
    """
    data, path = body.object.data, f"{body.path_prefix}location"
    for other in bpy.data.objects:
        if other == body.object or other.data != data or other.pose is None:
            continue
        if compat.is_played(other, path) or any(other.pose.bones[body.bone].location):
            raise physics_access.model_error(
                f"bone {body.name!r} cannot be disconnected: {other.name!r} uses the same armature {data.name!r} and "
                "would move, too; make it a single-user copy first (Object > Relations > Make Single User)"
            )


def output_of(scene: Scene) -> Output:
    """The settings of a scene."""
    settings = scene.condyle.simulation.output
    return Output(
        target="CURRENT" if settings.target == "OVERWRITE" else settings.target,
        every=settings.every,
        reduce=settings.reduce,
        distance=1e-3 * settings.tolerance_distance,
        angle=settings.tolerance_angle,
        extras=frozenset(settings.extras),
    )
