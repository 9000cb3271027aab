"""Simulated world poses -> the matrices that an object's or bone's own channels must give, through its parents.

What is not simulated and not animated stands still; what is animated is sampled, and only then is the scene
evaluated frame by frame. All matrices float64, in Blender units; (F, 4, 4) over the frames, or (1, 4, 4) where
nothing changes.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from bpy.types import Object, PoseBone, Scene
from mathutils import Matrix

from ..blender import compat, physics_access, units
from ..data.references import Body, Key, key_of
from ..reading import conflicts, stepper

#: of `stepper.sample_matrices`
Samples = Mapping[str, Mapping[str, np.ndarray]]


def is_animated(item: Object) -> bool:
    """Whether an object may move of its own, by action, NLA, drivers, constraints, or on a mesh that deforms."""
    data = item.animation_data
    if data is not None and (data.action or data.drivers or data.nla_tracks):
        return True
    if item.pose is not None and any(bone.constraints for bone in item.pose.bones):
        return True
    if item.parent is not None and item.parent_type not in compat.RIGID_PARENTS:
        return True  # a mesh or lattice that deforms carries it along
    return bool(item.constraints) or item.rigid_body is not None


def _at(matrices: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
    """Rows of matrices (F, 4, 4), or what is the same in all of them (1, 4, 4)."""
    return matrices if rows is None or len(matrices) == 1 else matrices[rows]


class LocalPoses:
    """Turns world poses of simulated bodies into matrices of their own channels.

    Args:
        scene: the scene at its first frame, or a snapshot of it, as of the bodies that are asked for.
        frames: (F,).
        worlds: world matrices (F, 4, 4) with scale, in Blender units, of each simulated body by `key_of`.
        sampled: False: what else is animated is taken as it stands now.
        samples: of `stepper.sample_matrices` at the frames, of all that carries the bodies (`carriers`), where
            they are had; kept as an attribute.
    """

    def __init__(
        self,
        scene: Scene,
        frames: np.ndarray,
        worlds: Mapping[Key, np.ndarray],
        sampled: bool = True,
        samples: Samples | None = None,
    ) -> None:
        self.scene = scene
        self.frames = frames
        self.worlds = dict(worlds)
        self._object_worlds: dict[str, np.ndarray] = {}
        self._inverse_worlds: dict[str, np.ndarray] = {}
        self._bone_poses: dict[Key, np.ndarray] = {}
        if samples is None:
            samples = {}
            if sampled:
                objects, bones = what_carries(scene, self.worlds)
                samples = stepper.sample_matrices(scene, objects, frames, bones)
        self.samples = samples

    def basis(self, body: Body, rows: np.ndarray | None = None) -> np.ndarray:
        """Matrices (F, 4, 4) of the body's own channels; at some of the frames alone, if rows (k,) are given."""
        if not body.bone:
            around = _at(self._effect_of_parent(body.object), rows)
            return units.inverses(around) @ _at(self.worlds[key_of(body)], rows)
        return self._bone_basis(body, rows)

    def bases(self, bodies: Sequence[Body], rows: Sequence[np.ndarray]) -> np.ndarray:
        """Matrices (n, 4, 4) of the channels of bodies, at rows (k,) of the frames for each, one after the other."""
        counts = [len(each) for each in rows]
        found, begins = np.empty((sum(counts), 4, 4)), np.cumsum(counts) - counts
        together: list[tuple[Any, ...]] = []
        for body, row, begin in zip(bodies, rows, begins.tolist()):
            ends = self._with_parent(body)
            if ends is None:
                found[begin : begin + len(row)] = self.basis(body, row)
            else:
                together.append((body.pose_bone, *(each[row] for each in ends), begin + np.arange(len(row))))
        if together:
            bones, above, own, places = zip(*together)
            offsets = _rest_offsets(bones).repeat([len(each) for each in places], axis=0)
            inverse = units.inverses(np.concatenate(above) @ offsets)
            found[np.concatenate(places)] = inverse @ np.concatenate(own)
        return found

    def object_world(self, item: Object) -> np.ndarray:
        simulated = self.worlds.get((item.name_full, ""))
        if simulated is not None:
            return simulated
        if item.name_full not in self._object_worlds:
            self._object_worlds[item.name_full] = self._unsimulated_world(item)
        return self._object_worlds[item.name_full]

    def _unsimulated_world(self, item: Object) -> np.ndarray:
        samples = self.samples.get(item.name_full)
        if not self._hangs_on_simulated(item):
            return samples[""] if samples else units.array4(item.matrix_world)[None]
        if any(not constraint.mute for constraint in item.constraints):
            raise physics_access.model_error(
                f"object {item.name!r} stands between simulated bodies and has constraints; remove or mute them"
            )
        basis = samples["basis"] if samples else units.array4(item.matrix_basis)[None]
        return self._effect_of_parent(item) @ basis

    def _effect_of_parent(self, item: Object) -> np.ndarray:
        if item.parent is None:
            return np.eye(4)[None]
        if refused := conflicts.why_not_through(item):
            raise physics_access.model_error(refused)
        parent = self.object_world(item.parent)
        inverse = units.array4(item.matrix_parent_inverse)
        if item.parent_type in {"OBJECT", "ARMATURE"}:
            return parent @ inverse
        bones: Any = () if item.parent.pose is None else item.parent.pose.bones
        if item.parent_bone not in bones:
            raise physics_access.model_error(
                f"object {item.name!r} is parented to the bone {item.parent_bone!r} of {item.parent.name!r}, "
                "which is gone; choose another"
            )
        bone = bones[item.parent_bone]
        pose = self.bone_pose(Body(item.parent, bone.name))
        if bone.bone.use_relative_parent:
            offset = units.inverses(units.array4(bone.bone.matrix_local))
        else:
            offset = units.array4(Matrix.Translation((0.0, bone.bone.length, 0.0)))
        return parent @ pose @ offset @ inverse

    def bone_pose(self, body: Body) -> np.ndarray:
        """Matrices of any pose bone in its armature's space."""
        key = key_of(body)
        if key not in self._bone_poses:
            simulated = self.worlds.get(key)
            self._bone_poses[key] = (
                self._unsimulated_pose(body)
                if simulated is None
                else self._into_object(body.object) @ simulated
            )
        return self._bone_poses[key]

    def _into_object(self, item: Object) -> np.ndarray:
        """Inverse world matrices of an armature, which all of its bones ask for."""
        if item.name_full not in self._inverse_worlds:
            self._inverse_worlds[item.name_full] = units.inverses(self.object_world(item))
        return self._inverse_worlds[item.name_full]

    def _unsimulated_pose(self, body: Body) -> np.ndarray:
        samples = self.samples.get(body.object.name_full)
        bone = body.pose_bone
        if not any((body.object.name_full, parent.name) in self.worlds for parent in bone.parent_recursive):
            return samples[f"pose:{bone.name}"] if samples else units.array4(bone.matrix)[None]
        acting = (each for each in bone.constraints if compat.acts(body.object, each))
        if held := [each.name for each in acting if not conflicts.can_mute(body, each)]:
            raise physics_access.model_error(
                f"bone {body.name!r} stands between simulated bones, and keys or a curve decide on its constraint "
                f"{held[0]!r}; remove or mute it"
            )
        basis = samples[f"basis:{bone.name}"] if samples else units.array4(bone.matrix_basis)[None]
        parent = self.bone_pose(Body(body.object, bone.parent.name))
        if _inherits_plainly(bone):
            return parent @ _rest_offsets([bone])[0] @ basis
        return stepper.converted(body, basis, parent, invert=False)

    def _bone_basis(self, body: Body, rows: np.ndarray | None) -> np.ndarray:
        bone = body.pose_bone
        simulated = self._with_parent(body)
        if simulated is not None:
            parent, world = (_at(each, rows) for each in simulated)
            return units.inverses(parent @ _rest_offsets([bone])[0]) @ world
        pose = _at(self.bone_pose(body), rows)
        if bone.parent is None:
            if bone.bone.use_local_location:
                return units.inverses(units.array4(bone.bone.matrix_local)) @ pose
            return stepper.converted(body, pose, None, invert=True)
        parent = _at(self.bone_pose(Body(body.object, bone.parent.name)), rows)
        if _inherits_plainly(bone):
            return units.inverses(parent @ _rest_offsets([bone])[0]) @ pose
        return stepper.converted(body, pose, parent, invert=True)

    def _with_parent(self, body: Body) -> tuple[np.ndarray, np.ndarray] | None:
        """World matrices of the parent and of a bone that are both simulated, if it inherits plainly; the armature does
        not matter then.
        """
        bone = body.pose_bone
        if bone is None or bone.parent is None or not _inherits_plainly(bone):
            return None
        parent = self.worlds.get(key_of(Body(body.object, bone.parent.name)))
        world = self.worlds.get(key_of(body))
        return None if parent is None or world is None else (parent, world)

    def _hangs_on_simulated(self, item: Object) -> bool:
        simulated = {name for name, _ in self.worlds}
        while item.parent is not None:
            item = item.parent
            if item.name_full in simulated:
                return True
        return False


def carriers(scene: Scene, keys: Iterable[Key]) -> list[Object]:
    """Every object up the chains of simulated bodies, by `key_of`, that may move with time; of a scene or snapshot."""
    keys = set(keys)
    found: dict[str, Object] = {}
    for name, bone in keys:
        item = scene.objects[name]
        item = item if bone else item.parent
        while item is not None:
            if _is_carrier(item, keys):
                found[item.name_full] = item
            item = item.parent
    return list(found.values())


def nearest_above(body: Body, keys: Container[Key]) -> Key | None:
    """Which of the simulated bodies, by `key_of`, carries one; None: the world."""
    return next((key for key in _above(body) if key in keys), None)


def what_carries(scene: Scene, keys: Collection[Key]) -> tuple[list[Object], set[Key]]:
    """Objects and bones that carry the simulated bodies, by `key_of`, and are not simulated, see `stepper.Sampler`."""
    between = {key for name, bone in keys for key in carried_by(Body(scene.objects[name], bone), keys)}
    return carriers(scene, keys), between


def carried_by(body: Body, keys: Container[Key]) -> Iterator[Key]:
    """What carries a body, from the nearest on, up to a simulated one, by `key_of`."""
    return takewhile(lambda key: key not in keys, _above(body))


def _above(body: Body) -> Iterator[Key]:
    """What carries a body, from the nearest on: bones and objects, by their `key_of`."""
    item, bone = body.object, body.pose_bone if body.bone else None
    while item is not None:
        while bone is not None and bone.parent is not None:
            bone = bone.parent
            yield item.name_full, bone.name
        if body.bone or item != body.object:
            yield item.name_full, ""
        name, item = item.parent_bone if item.parent_type == "BONE" else "", item.parent
        bone = item.pose.bones.get(name) if item is not None and item.pose is not None else None
        if bone is not None:
            yield item.name_full, name


def _is_carrier(item: Object, keys: set[Key]) -> bool:
    """Whether an object that is not simulated is animated, or carried by one that is."""
    while item is not None and (item.name_full, "") not in keys:
        if is_animated(item):
            return True
        item = item.parent
    return False


def _inherits_plainly(bone: PoseBone) -> bool:
    rest = bone.bone
    return rest.use_inherit_rotation and rest.inherit_scale == "FULL" and rest.use_local_location


def _rest_offsets(bones: Sequence[PoseBone]) -> np.ndarray:
    """Matrices (n, 4, 4) of bones at rest in their parents."""
    rests = (
        [units.array4(each.bone.matrix_local) for each in row] for row in ([b.parent for b in bones], bones)
    )
    above, own = map(np.array, rests)
    return units.inverses(above) @ own
