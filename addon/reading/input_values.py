"""What pushes a simulation from outside, as it is set or keyed: torques of coordinates, targets of controllers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from bpy.types import Scene

from ..animation.scene_model import SceneModel
from ..blender import compat, physics_access
from ..curves import fcurve_values
from ..data import references
from ..data.joints import torque_path
from . import joint_motors, stepper

TARGET = "condyle.muscle.control.target"
EXCITATION = "condyle.muscle.excitation"


def values_of(scene: Scene, wanted: Sequence[tuple[Any, str]], frames: np.ndarray) -> np.ndarray:
    """Values (F, n) of animatable numbers, given as (object, data path), at rising frames (F,). The scene, or
    that of a snapshot, is put back.

    What more than a curve of its own moves is seen at whole frames, of which the first and the last are two, and goes
    evenly between them.
    """
    values = np.zeros((len(frames), len(wanted)))
    watched = []
    for k, (item, path) in enumerate(wanted):
        values[:, k] = item.path_resolve(path)
        data = item.animation_data
        if data is None or not (data.action or data.drivers or data.nla_tracks):
            continue
        curve = next((each for each in compat.curves_in_use(item) if each.data_path == path), None)
        plain = not data.drivers and not data.nla_tracks
        if plain and curve is not None and not curve.mute and data.action_influence == 1.0:
            values[:, k] = fcurve_values.values(curve.evaluate, frames.tolist())
        elif not plain:
            watched.append((k, item, path))
    if watched:
        whole = frames[frames % 1.0 == 0.0]
        seen = np.zeros((len(whole), len(watched)))
        with stepper.at_frame(scene, frames[0]) as now:
            for row, frame in enumerate(whole):
                now.go(frame)
                seen[row] = [now.value(item, path) for _, item, path in watched]
        for column, (k, _, _) in zip(seen.T, watched):
            values[:, k] = np.interp(frames, whole, column)
    return values


def torque_places(scene: Scene, read: SceneModel) -> list[tuple[Any, int, int]]:
    """Joint's Empty, number of its coordinate and column of the model's forces and inputs, for each coordinate that a
    torque can act on: of its motor where it has one.

    Not where what is read off a joint (angles of a ball joint) are not the coordinates that it is simulated with, and
    not on a time that runs by itself.
    """
    places, names, known = [], read.model.coordinate_names, columns(read.model)
    for entry in read.bodies:
        item = references.object_in(scene, entry.joint_uid)
        joint = read.model.joints[entry.index]
        if item is None or joint.reading_names != joint.coordinate_names:
            continue
        first = read.model.coordinate_slice(entry.name).start
        places += [
            (item, number, known.get(joint_motors.input_of(names[first + number]), first + number))
            for number in range(joint.num_coordinates)
            if not read.model.prescribed[first + number]
        ]
    return places


def columns(model: physics_access.Model) -> dict[str, int]:
    """The columns of a model's forces and inputs by their names."""
    return {name: k for k, name in enumerate((*model.coordinate_names, *model.input_names))}


def excitation_places(scene: Scene, read: SceneModel, coordinates: Collection[str]) -> list[tuple[Any, str]]:
    """Curve and input of the model, for each muscle with a force that crosses a joint of some coordinates."""
    pulling = physics_access.part("worker.goals").pulling(read.model, coordinates)
    return [
        (references.object_in(scene, entry.session_uid), pulling[entry.name])
        for entry in read.muscles
        if entry.name in pulling and entry.controlled is None
    ]


def torques(scene: Scene, read: SceneModel, frames: np.ndarray) -> np.ndarray:
    """Torques and forces of the model's coordinates at the frames (F,), and by how much the strengths of force fields
    differ there from those of the model (F, nv + inputs).

    Raises:
        ModelError: a torque is set on a coordinate that none can act on.
    """
    places = torque_places(scene, read)
    known = {(item.session_uid, number) for item, number, _ in places}
    for entry in read.bodies:
        item = references.object_in(scene, entry.joint_uid)
        for number, row in enumerate(item.condyle.joint.coordinates if item is not None else ()):
            if row.torque != 0.0 and (item.session_uid, number) not in known:
                raise physics_access.model_error(
                    f"joint {item.name!r}: no torque can act on {row.label!r}, which is only read off it or runs by "
                    "itself; set its torque to 0"
                )
    model = read.model
    found = np.zeros((len(frames), model.num_coordinates + model.num_inputs))
    own = [column for _, _, column in places]
    found[:, own] = values_of(scene, [(item, torque_path(number)) for item, number, _ in places], frames)
    strengths = [(references.object_in(scene, each.session_uid), each.path) for each in read.fields]
    own = [columns(model)[each.input] for each in read.fields]
    found[:, own] = values_of(scene, strengths, frames) - model.with_inputs(None)[own]
    return found


def controllers(scene: Scene, read: SceneModel, frames: np.ndarray, times: np.ndarray) -> dict[str, Any]:
    """The controllers of physics by muscle, their targets at the frames (F,) and times (F,) [s].

    A target is read as the joint's coordinates are, in radians or metres.
    """
    chosen = [
        (entry, references.object_in(scene, entry.session_uid))
        for entry in read.muscles
        if entry.controlled is not None
    ]
    if not chosen:
        return {}
    values = values_of(scene, [(item, TARGET) for _, item in chosen], frames)
    kind, keyframes = (
        physics_access.physics().muscles.Proportional,
        physics_access.physics().muscles.Keyframes,
    )
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
