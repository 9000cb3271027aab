"""Poses -> channels -> keyframes."""

from collections.abc import Sequence

import bpy
import numpy as np
from bpy.types import Scene

from ..baked.channels_back import check_editable, how_to_disconnect
from ..blender import compat, physics_access, scales, units
from ..curves.fit_between_keys import Inside
from ..curves.rotation_channels import led_on, missed_between, rotation_channels, rotation_path
from ..curves.slopes import Slopes
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

    def __init__(self, body: Body, scale: float, scene: Scene) -> None:
        """Of a body whose matrices have that scale; `of_bodies` gives them numbers."""
        owner = body.owner
        self.body = body
        self.mode = owner.rotation_mode
        self.path = rotation_path(self.mode)
        self.scale = scale
        self.near = tuple(getattr(owner, self.path))
        # of the body's own scale, which stays: by two that are negative it is turned, and mirrored by one
        self.signs = np.sign(np.array(owner.scale) * np.array(getattr(owner, "delta_scale", 1.0)))
        self.early = np.empty(0)
        self._before: Rows | None = None
        self.inside: list[Inside] = []
        self.slopes: list[Slopes] = []
        self._scene = scene

    def set(self, rotations: np.ndarray, location: np.ndarray, channels: np.ndarray) -> None:
        """Take rotations (F, 3, 3), as the mode's channels (F, 3 or 4), and locations (F, 3)."""
        self.location = None if self._is_connected(self._scene, location) else location
        self.rotation = channels
        self.missed = missed_between(rotations, channels, self.mode)

    def early_rows(self, matrices: np.ndarray) -> Rows:
        """Location and rotation at frames just before the bake's, from matrices (E, 4, 4) of the body's own channels.

        Raises:
            ModelError: keys cannot hold them beside those of the bake.
        """
        if not np.isfinite(matrices).all():
            raise physics_access.model_error(f"{self.body.name}: a parent has no size before the bake")
        rotations, location = _parts([self], np.zeros(len(matrices), dtype=np.int64), matrices)
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

    def _is_at_parent(self, location: np.ndarray) -> bool:
        """Whether a bone that is connected to its parent stays there."""
        bone, item = self.body.pose_bone.bone, self.body.object
        # Blender holds poses in single precision: in the armature, and in the world, of which the local ones are made
        size = float(np.abs(item.matrix_world.translation).max()) / max(item.matrix_world.median_scale, 1e-9)
        rounding = SINGLE * (
            size + float(np.abs(np.array(bone.matrix_local.translation)).max()) + bone.length
        )
        return float(np.abs(location).max()) <= 1e-3 * bone.length + rounding

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


def of_bodies(bodies: Sequence[Body], matrices: np.ndarray, scene: Scene) -> list[Channels]:
    """Channels of bodies from matrices (B, F, 4, 4) of these; ModelError where keys of them cannot hold those."""
    scales = np.linalg.norm(matrices[:, 0, :3, 0], axis=1)
    made = [Channels(body, scale, scene) for body, scale in zip(bodies, scales.tolist())]
    which = np.repeat(np.arange(len(made)), matrices.shape[1])
    rotations, locations = _parts(made, which, matrices.reshape(-1, 4, 4))
    rotations, locations = (
        each.reshape(*matrices.shape[:2], *each.shape[1:]) for each in (rotations, locations)
    )
    for mode in {entry.mode for entry in made}:
        rows = [row for row, entry in enumerate(made) if entry.mode == mode]
        turned = rotation_channels(rotations[rows], mode, np.array([made[row].near for row in rows]))
        for row, channels in zip(rows, turned):
            made[row].set(rotations[row], locations[row], channels)
    return made


def see_between(seen: Sequence[tuple[Channels, np.ndarray]], matrices: np.ndarray) -> None:
    """Note what channels are from the frames of rows, rising, to the next ones, as `inside`, one for each of `paths`.

    Args:
        matrices: (k, n + 2, 4, 4) at the frames of all rows, at even places behind each, and at the next.
    """
    made, counts = [entry for entry, _ in seen], [len(rows) for _, rows in seen]
    which, size = np.repeat(np.arange(len(made)), counts), matrices.shape[:2]
    rotations, locations = _parts(made, np.repeat(which, size[1]), matrices.reshape(-1, 4, 4))
    rotations, locations = rotations.reshape(*size, 3, 3), locations.reshape(*size, 3)[:, 1:-1]
    stretches = np.split(np.arange(len(matrices)), np.cumsum(counts)[:-1])
    for mode in {entry.mode for entry in made}:
        own = [(*each, part) for each, part in zip(seen, stretches) if each[0].mode == mode]
        first, last = (np.concatenate([entry.rotation[rows + k] for entry, rows, _ in own]) for k in (0, 1))
        turned = rotation_channels(rotations[np.concatenate([part for *_, part in own])], mode, first)
        turned, same = led_on(turned, first, last, mode)
        begin = 0
        for entry, rows, part in own:
            mine = slice(begin, begin := begin + len(rows))
            entry.inside = [] if entry.location is None else [Inside(rows, locations[part])]
            entry.inside.append(Inside(rows[same[mine]], turned[mine][same[mine], 1:-1]))


def _parts(
    made: Sequence[Channels], which: np.ndarray, matrices: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (n, 3, 3) and locations (n, 3) of channels without the deltas, from matrices (n, 4, 4) of those that
    `which` (n,) numbers. Below what stretches the direction along a bone is kept, which inherits the stretch.
    """
    linear, own = matrices[:, :3, :3], np.array([entry.scale for entry in made])[which, None]
    sizes = np.sqrt(np.einsum("fij,fij->fj", linear, linear))
    limit = 4.0 * scales.TOLERANCE * np.maximum(sizes, own).max(axis=1)
    uneven = np.abs(sizes - own).max(axis=1) > limit
    signs = np.array([entry.signs for entry in made])
    linear = linear * signs[which, None]
    mirrored = np.linalg.det(linear) < 0.0
    if mirrored.any():
        name = made[which[mirrored.argmax()]].body.name
        raise physics_access.model_error(f"{name}: a parent mirrors it, so no keys can hold its pose")
    rotations, locations = np.empty_like(linear), matrices[:, :3, 3].copy()
    rotations[~uneven] = units.orthogonal(linear[~uneven])
    along, across = linear[uneven, :, 1], linear[uneven, :, 0]
    rotations[uneven, :, 1] = along = along / np.linalg.norm(along, axis=1, keepdims=True)
    beside = np.cross(across, along)
    rotations[uneven, :, 2] = beside = beside / np.linalg.norm(beside, axis=1, keepdims=True)
    rotations[uneven, :, 0] = np.cross(along, beside)
    for number, entry in enumerate(made):
        if not entry.body.bone:
            rows, item = which == number, entry.body.object
            locations[rows] -= np.array(item.delta_location)
            rotations[rows] = units.delta_rotation(item, entry.mode).T @ rotations[rows]
    return rotations, locations


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
    settings = scene.condyle.simulation.output
    return Output(
        target="CURRENT" if settings.target == "OVERWRITE" else settings.target,
        every=settings.every,
        reduce=settings.reduce,
        distance=1e-3 * settings.tolerance_distance,
        angle=settings.tolerance_angle,
        extras=frozenset(settings.extras),
    )
