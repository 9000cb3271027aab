"""Shots as JSON and arrays, and back: only values, and records of the kinds named here; nothing that is read is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..animation.follow_weights import Strength
from ..animation.led_joints import Followed
from ..animation.scene_model import Leaders, ModelBody, ModelField, ModelMuscle, SceneModel, SoftShape
from ..animation.start_states import Seen
from ..blender import physics_access
from ..data.findings import Finding
from ..data.handles import Handle
from .shot import Shot

KINDS = {
    kind.__name__: kind
    for kind in (
        *(Shot, SceneModel, ModelBody, ModelMuscle, ModelField, SoftShape, Leaders),
        *(Followed, Strength, Seen, Handle, Finding),
    )
}
ROWS = {"tuple": tuple, "list": list, "frozenset": frozenset}
#: what only the scene itself has a use for: springs are those of a live run's sliders
LEFT_OUT = {"view", "carried", "changes", "springs"}
#: numbers of objects, by which Blender knows them in this session: in a file they are counted anew
NUMBERS = {"session_uid", "joint_uid", "maker"}


def described(shot: Shot, arrays: dict[str, np.ndarray]) -> Any:
    """A shot as values of JSON; its arrays are added by names of their own."""
    return _Writer(arrays).written(shot)


def restored(described: Any, arrays: Mapping[str, np.ndarray]) -> Shot:
    """The shot that was described; it can be planned, but not written to a scene. FormatError if it is none."""
    try:
        found = _Reader(arrays).read(described)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise physics_access.physics().FormatError(f"not a shot, or damaged: {error!r:.200}") from error
    if not isinstance(found, Shot):
        raise physics_access.physics().FormatError("not a shot, or damaged")
    return found


class _Writer:
    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays, self._numbers = arrays, {0: 0}

    def written(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            name = f"array_{len(self._arrays)}"
            self._arrays[name] = value
            return {"array": name}
        if isinstance(value, (tuple, list)):
            return {type(value).__name__: list(map(self.written, value))}
        if isinstance(value, frozenset):
            return {"frozenset": list(map(self.written, sorted(value)))}
        if isinstance(value, Mapping):
            return {"map": [[self.written(key), self.written(each)] for key, each in value.items()]}
        if type(value) in KINDS.values():
            names = (each.name for each in dataclasses.fields(value) if each.name not in LEFT_OUT)
            return {type(value).__name__: {name: self._field(name, getattr(value, name)) for name in names}}
        return self._of_physics(value)

    def _field(self, name: str, value: Any) -> Any:
        return self._numbers.setdefault(value, len(self._numbers)) if name in NUMBERS else self.written(value)

    def _of_physics(self, value: Any) -> Any:
        physics = physics_access.physics()
        if isinstance(value, physics.State):
            return {"state": physics_access.part("io.model_file").state_to_dict(value)}
        kinds = {
            "model": physics.Model,
            "joint": physics.joints.Joint,
            "controller": physics.muscles.Proportional,
        }
        for name, kind in kinds.items():
            if isinstance(value, kind):
                return {name: value.to_dict()}
        raise TypeError(f"a shot cannot be saved with a {type(value).__name__}")


class _Reader:
    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._arrays, self._model = arrays, None

    def read(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, inside),) = value.items()
        if kind in KINDS:
            own = {name: self.read(each) for name, each in inside.items()}
            missing = {"view": None, "carried": None} if kind == "Shot" else {}
            return KINDS[kind](**own, **missing)
        if kind in ROWS:
            return ROWS[kind](map(self.read, inside))
        if kind == "map":
            return {self.read(key): self.read(each) for key, each in inside}
        if kind in ("array", "float"):
            return self._arrays[inside] if kind == "array" else float(inside)
        return self._of_physics(kind, inside)

    def _of_physics(self, kind: str, inside: dict[str, Any]) -> Any:
        physics = physics_access.physics()
        if kind == "model":
            self._model = physics.ModelBuilder.from_dict(inside).build()
            return self._model
        if kind == "state":
            return physics_access.part("io.model_file").state_from_dict(self._model, inside)
        kinds = {"joint": physics.joints, "controller": physics.muscles.Proportional}
        return kinds[kind].from_dict(inside)
