"""The spaces of muscles' objects in a bake, in which the shapes of the muscles are kept."""

from collections.abc import Sequence

import numpy as np
from bpy.types import Object, Scene

from ..blender import compat, physics_access, units
from ..data.references import Body
from ..reading import stepper
from .local_matrices import Samples

#: of a space's largest stretch, what counts as none: single precision
FLAT = 1e-6


def _check(view: Scene, frames: np.ndarray, items: Sequence[Object], bodies: Sequence[Object]) -> None:
    """ModelError where a muscle's object is flat, or nowhere, at a frame (F,) of a bake: no points can be kept in it.

    bodies: objects that the bake will move; what their keys are now does not matter.
    """
    carried = [item for item in items if _is_carried(item)]
    above = {item.name_full: _first_above(item, bodies) for item in carried}
    looked = {each.name_full: each for each in (*carried, *above.values()) if each is not None}
    samples = stepper.sample_matrices(view, looked.values(), frames)
    for item in items:
        worlds = samples[item.name_full][""] if item in carried else units.array4(item.matrix_world)[None]
        bad = ~_usable(worlds)
        body = above.get(item.name_full)
        if body is not None:
            bad &= _usable(samples[body.name_full][""])
        if bad.any():
            when = f" at frame {frames[bad.argmax()]:g}" if item in carried else ""
            raise physics_access.model_error(
                f"muscle {item.name!r}: its scale, or that of a parent, is zero along some axis{when}, or its place "
                "not finite; make it greater, or begin the bake later"
            )


def _first_above(item: Object, bodies: Sequence[Object]) -> Object | None:
    """The nearest of these bodies that carries an object; None: none does."""
    while item.parent is not None:
        item = item.parent
        if item in bodies:
            return item
    return None


def _moved(matrices: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (S, n, 3) moved by matrices (S, 4, 4), or by one for all."""
    return points @ matrices[:, :3, :3].swapaxes(1, 2) + matrices[:, None, :3, 3]


def _usable(worlds: np.ndarray) -> np.ndarray:
    """Mask (F,) of the spaces (F, 4, 4) that can hold points: finite, and not flat along any axis."""
    finite = np.isfinite(worlds).all(axis=(1, 2))
    stretch = np.linalg.svd(np.where(finite[:, None, None], worlds, 0.0)[:, :3, :3], compute_uv=False)
    return stretch[:, 2] > FLAT * stretch[:, 0]


class Spaces:
    """The spaces of muscles' objects at the rising frames (F,) of a bake, looked at where something carries them."""

    def __init__(
        self, view: Scene, frames: np.ndarray, items: Sequence[Object], bodies: Sequence[Body]
    ) -> None:
        """Of items of a snapshot of the scene without its bake, in which these bodies will move; ModelError where one
        is flat or nowhere.
        """
        _check(view, frames, items, [body.object for body in bodies])
        moved = [body.object for body in bodies if not body.bone]
        self.items, self._view, self._frames = items, view, frames
        self._carried = [item for item in items if _is_carried(item) or _first_above(item, moved) is not None]
        self._samples: Samples = {}

    def look(self) -> None:
        """See where they are, with the bake of their bodies in place."""
        self._samples = stepper.sample_matrices(self._view, self._carried, self._frames, baked=True)

    def local(self, item: Object, points: np.ndarray) -> np.ndarray:
        """Points (F, n, 3) in a muscle's space, of such in the world."""
        return _moved(units.inverses(self._worlds(item)), points)

    def sized(self, item: Object, local: np.ndarray) -> np.ndarray:
        """Points of `local` as large as in the world."""
        linear = self._worlds(item)[0, :3, :3]
        return local * np.cbrt(abs(np.linalg.det(linear)))

    def is_carried(self, item: Object) -> bool:
        """Whether a muscle's object may move."""
        return item.name_full in self._samples

    def _worlds(self, item: Object) -> np.ndarray:
        """Spaces (F, 4, 4), or one for all frames; one that holds no points counts as the nearest that does."""
        if self.is_carried(item):
            worlds = self._samples[item.name_full][""]
        else:
            worlds = units.array4(item.matrix_world)[None]
        good = np.flatnonzero(_usable(worlds))
        if not len(good):
            return np.eye(4)[None]
        nearest = np.abs(np.arange(len(worlds))[:, None] - good).argmin(axis=1)
        return worlds[good[nearest]]


def _is_carried(item: Object) -> bool:
    """Whether a muscle's object may move: not by bones that it is not parented to."""
    while item is not None:
        data = item.animation_data
        played = () if data is None else (*compat.curves_in_use(item), *data.drivers)
        if any(not curve.data_path.startswith(("pose.", "condyle.")) for curve in played):
            return True
        if item.rigid_body is not None or any(not constraint.mute for constraint in item.constraints):
            return True
        if data is not None and data.nla_tracks:
            return True
        above = item.parent
        if above is not None and (item.parent_type not in ("OBJECT", "ARMATURE") or above.type == "CURVE"):
            return True
        item = above
    return False
