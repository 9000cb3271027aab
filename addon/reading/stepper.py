"""Takes a scene from frame to frame, and tells what is evaluated there of the things in a snapshot of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix

from ..baked import temporarily
from ..blender import units
from ..data import references
from ..data.references import Body, Key, key_of


class Stepper:
    """What a scene shows at the frame that `go` took it to last."""

    def __init__(self, go: Callable[[float], None]) -> None:
        self.go = go
        self._bodies: dict[Body, Body] = {}
        self._items: dict[Object, Object] = {}

    def matrix(self, body: Body) -> Matrix:
        """World matrix of a body, with scale."""
        known = self._bodies.get(body)
        if known is None:
            known = self._bodies[body] = Body(self._item(body.object), body.bone)
        return known.matrix

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
def at_frame(view: Scene, frame: float) -> Iterator[Stepper]:
    """The scene of a snapshot evaluated at a whole frame, and what takes it to others; see `temporarily.at_frame`."""
    with temporarily.at_frame(references.find_scene(view.session_uid), int(frame)) as go:
        yield Stepper(go)


def matrices(view: Scene, bodies: Iterable[Body], frames: np.ndarray) -> dict[Key, np.ndarray]:
    """World matrices (F, 4, 4) of bodies of a snapshot at whole frames, with scale, in Blender units."""
    known = {key_of(body): body for body in bodies}
    rows: dict[Key, list[np.ndarray]] = {key: [] for key in known}
    with at_frame(view, frames[0]) as now:
        for frame in frames:
            now.go(frame)
            for key, body in known.items():
                rows[key].append(units.array4(now.matrix(body)))
    return {key: np.array(row) for key, row in rows.items()}
