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
        names = {
            "model": physics.Model,
            "joint": physics.joints.Joint,
            "controller": physics.muscles.Proportional,
        }
        for name, kind in names.items():
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
        return getattr(self, f"_read_{kind}")(inside)

    def _read_float(self, inside: str) -> float:
        return float(inside)

    def _read_array(self, inside: str) -> np.ndarray:
        return self._arrays[inside]

    def _read_tuple(self, inside: list[Any]) -> tuple[Any, ...]:
        return tuple(map(self.read, inside))

    def _read_list(self, inside: list[Any]) -> list[Any]:
        return list(map(self.read, inside))

    def _read_frozenset(self, inside: list[Any]) -> frozenset[Any]:
        return frozenset(map(self.read, inside))

    def _read_map(self, inside: list[Any]) -> dict[Any, Any]:
        return {self.read(key): self.read(each) for key, each in inside}

    def _read_model(self, inside: dict[str, Any]) -> Any:
        self._model = physics_access.physics().ModelBuilder.from_dict(inside).build()
        return self._model

    def _read_state(self, inside: dict[str, Any]) -> Any:
        return physics_access.part("io.model_file").state_from_dict(self._model, inside)

    def _read_joint(self, inside: dict[str, Any]) -> Any:
        return physics_access.physics().joints.from_dict(inside)

    def _read_controller(self, inside: dict[str, Any]) -> Any:
        return physics_access.physics().muscles.Proportional.from_dict(inside)
