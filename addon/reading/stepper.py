"""Takes a scene from frame to frame, and tells what is evaluated there of the things in a snapshot of it."""

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix

from ..baked import temporarily
from ..blender import units
from ..data import references
from ..data.references import Body, Key, key_of
from . import snapshot


class Stepper:
    """What a scene shows at the frame that `go` took it to last."""

    def __init__(self, go: Callable[[float], None]) -> None:
        self.go = go
        self._items: dict[Object, Object] = {}

    def matrix(self, body: Body) -> Matrix:
        """World matrix of a body, with scale."""
        item = self._item(body.object)
        return item.matrix_world @ item.pose.bones[body.bone].matrix if body.bone else item.matrix_world

    def value(self, item: Object, path: str) -> float:
        """The number, or the switch, that a data path of an object leads to."""
        return float(self._item(item).path_resolve(path))

    def slider(self, item: Object, name: str) -> float:
        """Value of a joint's slider."""
        return float(self._item(item)[name])

    def _item(self, item: Object) -> Object:
        known = self._items.get(item)
        if known is None:
            known = self._items[item] = references.live(item)
        return known


@contextmanager
def unbaked(scene_uid: int, frame: int) -> Iterator[Scene]:
    """A snapshot of a scene as `at_start` shows it."""
    with at_start(scene_uid, frame) as scene:
        yield snapshot.take(scene)


@contextmanager
def at_start(scene_uid: int, frame: int) -> Iterator[Scene]:
    """A scene without its bake, evaluated at a whole frame, where it stays meanwhile."""
    scene = references.find_scene(scene_uid)
    with temporarily.without_bake(scene), temporarily.at_frame(scene, frame):
        yield scene


def settle() -> None:
    """Let handlers know of changes up to now; scripts that change our own settings do not reach them."""
    bpy.context.view_layer.update()


def seen_at(view: Scene, frame: float) -> Scene:
    """Another snapshot of the scene of one, at a whole frame."""
    with at_frame(view, frame):
        return snapshot.take(references.find_scene(view.session_uid))


@contextmanager
def at_frame(view: Scene, frame: float) -> Iterator[Stepper]:
    """The scene of a snapshot evaluated at a whole frame, and what takes it to others; see `temporarily.at_frame`."""
    with temporarily.at_frame(references.find_scene(view.session_uid), int(frame)) as go:
        yield Stepper(go)


class Sampler:
    """Collects matrices of objects, and of bones of theirs, at each frame that the scene is taken to.

    Args:
        objects: of Blender, or of a snapshot. bones: by `key_of`, those wanted; None: every one.
    """

    def __init__(self, objects: Iterable[Object], bones: Container[Key] | None = None) -> None:
        self._rows: dict[str, dict[str, list[Any]]] = {}
        self._bones: list[tuple[Object, list[str]]] = []
        for item in map(references.live, objects):
            every = [] if item.pose is None else item.pose.bones.keys()
            names = [name for name in every if bones is None or (item.name_full, name) in bones]
            self._bones.append((item, names))
            own = [f"{kind}:{name}" for name in names for kind in ("pose", "basis")]
            self._rows[item.name_full] = {key: [] for key in ("", "basis", *own)}

    def take(self) -> None:
        """Add a row of all that is evaluated now."""
        for item, names in self._bones:
            rows = self._rows[item.name_full]
            rows[""].append(item.matrix_world.copy())
            rows["basis"].append(item.matrix_basis.copy())
            for bone in map(item.pose.bones.__getitem__, names) if names else ():
                rows[f"pose:{bone.name}"].append(bone.matrix.copy())
                rows[f"basis:{bone.name}"].append(bone.matrix_basis.copy())

    def arrays(self) -> dict[str, dict[str, np.ndarray]]:
        """{object name: {"": world, "basis": basis, "pose:BONE": armature space, "basis:BONE": own channels}}, each
        (F, 4, 4).
        """
        return {
            name: {key: np.array(value, dtype=np.float64) for key, value in row.items()}
            for name, row in self._rows.items()
        }


def matrices(
    view: Scene, bodies: Iterable[Body], frames: np.ndarray, beside: Sampler | None = None
) -> dict[Key, np.ndarray]:
    """World matrices (F, 4, 4) of bodies of a snapshot at whole frames, with scale, in Blender units; `beside` samples
    more in the same pass.
    """
    known = {key_of(body): body for body in bodies}
    rows: dict[Key, list[np.ndarray]] = {key: [] for key in known}
    with at_frame(view, frames[0]) as now:
        for frame in frames:
            now.go(frame)
            for key, body in known.items():
                rows[key].append(units.array4(now.matrix(body)))
            if beside is not None:
                beside.take()
    return {key: np.array(row) for key, row in rows.items()}


def sample_matrices(
    scene: Scene,
    objects: Iterable[Object],
    frames: np.ndarray,
    bones: Container[Key] | None = None,
    baked: bool = False,
) -> dict[str, dict[str, np.ndarray]]:
    """What `Sampler` collects at frames (F,); the frame is put back.

    Args:
        scene: of Blender, or a snapshot. baked: with the bake in place; else without it.
    """
    objects = list(objects)
    if not objects:
        return {}
    scene = references.find_scene(scene.session_uid)
    aside = nullcontext() if baked else temporarily.without_bake(scene)
    with aside, temporarily.at_frame(scene, scene.frame_current) as go:
        sampler = Sampler(objects, bones)
        for frame in frames:
            go(frame)
            sampler.take()
    return sampler.arrays()


def converted(body: Body, matrices: np.ndarray, parent: np.ndarray | None, invert: bool) -> np.ndarray:
    """Poses (F, 4, 4) in the armature of a bone's own matrices under poses of its parent (None: it has none), or, where
    inverted, the other way round: Blender's own conversion, for every kind of inheritance.
    """
    bone = references.live(body.object).data.bones[body.bone]
    counts = [len(matrices), *(() if parent is None else (len(parent),))]
    result = np.empty((max(counts) if min(counts) else 0, 4, 4))
    for row in range(len(result)):
        options: dict[str, Any] = {"invert": invert}
        if parent is not None:
            options["parent_matrix"] = Matrix(parent[row % len(parent)].tolist())
            options["parent_matrix_local"] = bone.parent.matrix_local
        matrix = Matrix(matrices[row % len(matrices)].tolist())
        result[row] = units.array4(bone.convert_local_to_pose(matrix, bone.matrix_local, **options))
    return result
