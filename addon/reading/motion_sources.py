"""Reads what says between frames what joints do: curves of their sliders or of their child's own channels, or looks."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np
from bpy.types import Object, Scene

from ..animation.led_joints import Followed
from ..animation.motion_curves import MotionCurves, Source
from ..blender import units
from ..curves import fcurve_values, rotation_channels
from ..curves.fcurve_values import SEEN
from ..data.joints import slider_names
from . import driving_keys, looks, stepper


@contextmanager
def sources(scene: Scene, followed: list[Followed], frames: np.ndarray) -> Iterator[list[Source]]:
    """The sources of joints as they were seen at whole frames (F,); scene: a snapshot at the first of them."""
    keyed = [read(scene, each) for each in followed]
    unknown = [each for each, by in zip(followed, keyed) if by is None]
    with stepper.at_frame(scene, frames[0]) if unknown else nullcontext() as now:
        own = iter(looks.Looks(scene, unknown, now))
        yield [
            Source(
                by,
                looks.strength_curves(scene, each),
                next(own) if by is None else by.shown,
                partial(_keys, scene, each),
            )
            for each, by in zip(followed, keyed)
        ]


def _keys(scene: Scene, each: Followed) -> list[np.ndarray]:
    source = looks.source_of(scene, each)
    return driving_keys.of_joint(looks.item_of(scene, each), source.child, source.parent, each.frames)


def read(scene: Scene, each: Followed) -> MotionCurves | None:
    """The curves that lead a joint as it was seen at whole frames; None where there are none, or where something else
    has a say in it, as a driver, limits, or constraints.
    """
    found = _child(scene, each) if each.readings is None else _sliders(scene, looks.item_of(scene, each))
    if not any(curve is not None for curve in found.curves):
        return None
    seen, said = each.poses if each.readings is None else each.readings, found.shown(each.frames)
    return None if np.abs(said - seen).max() > SEEN * max(1.0, np.abs(said).max()) else found


def _sliders(scene: Scene, item: Object) -> MotionCurves:
    """The curves of a joint's sliders."""
    names = slider_names(item.condyle.joint)
    curves = [fcurve_values.alone(item, f'["{name}"]') for name in names]
    still = [float(item[name]) for name in names]

    def shown(frames: np.ndarray) -> np.ndarray:
        return looks.measured(scene, item, fcurve_values.columns(curves, still, frames))

    return MotionCurves(shown, curves)


def _child(scene: Scene, each: Followed) -> MotionCurves:
    """The curves of the child's own channels: they move it as it was seen, where nothing else moves it in the joint."""
    body = looks.source_of(scene, each).child
    owner, mode = body.owner, body.owner.rotation_mode
    turn = rotation_channels.rotation_path(mode)
    still = [*owner.location, *getattr(owner, turn)]
    paths = [("location", k) for k in range(3)] + [(turn, k) for k in range(len(still) - 3)]
    curves = [fcurve_values.alone(body.object, f"{body.path_prefix}{path}", k) for path, k in paths]
    metres = units.metres_of(body, scene)
    delta = np.eye(3) if body.bone else units.delta_rotation(body.object, mode)

    def own(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = fcurve_values.columns(curves, still, frames)
        return metres * values[:, :3], delta @ rotation_channels.matrices(values[:, 3:], mode)

    places, turns = own(each.frames[:1])
    frame = each.poses[0, :3, :3] @ turns[0].T
    origin = each.poses[0, :3, 3] - frame @ places[0]

    def shown(frames: np.ndarray) -> np.ndarray:
        places, turns = own(frames)
        found = np.tile(np.eye(4), (len(frames), 1, 1))
        found[:, :3, :3], found[:, :3, 3] = frame @ turns, places @ frame.T + origin
        return found

    return MotionCurves(shown, curves)
