"""Muscles that a controller excites: how far a joint is from its target, which may be keyed."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import core, forcing, muscle_points
from .scene_to_model import SceneModel

TARGET = "condyle.muscle.control.target"


def controllers(scene: Any, read: SceneModel, frames: np.ndarray, times: np.ndarray) -> dict[str, Any]:
    """The controllers of physics by muscle, their targets at the frames (F,) and times (F,) [s]; the scene is put back.

    A target is read as the joint's coordinates are, in radians or metres.
    """
    chosen = [
        (entry, muscle_points.find_muscle(entry.session_uid, entry.name))
        for entry in read.muscles
        if entry.controlled is not None
    ]
    if not chosen:
        return {}
    values = forcing.values_of(scene, [(item, TARGET) for _, item in chosen], frames)
    kind, keyframes = core.physics().muscles.Proportional, core.physics().muscles.Keyframes
    found = {}
    for k, (entry, item) in enumerate(chosen):
        settings = item.condyle.muscle.control
        found[entry.name] = kind(
            entry.controlled,
            settings.gain,
            target=keyframes(read.state.time + times, values[:, k]),
            damping=settings.damping,
            rest=settings.rest,
        )
    return found


def excited(read: SceneModel, made: dict[str, Any], result: Any, keyed: np.ndarray) -> np.ndarray:
    """Excitation (F, muscles) of each muscle along a simulation: keyed (F, muscles), or what its controller said."""
    found = keyed.copy()
    for k, entry in enumerate(read.muscles):
        if entry.name in made:
            signal = made[entry.name].signal(read.model)
            found[:, k] = [signal(*row) for row in zip(result.t, result.q, result.qd)]
    return found
