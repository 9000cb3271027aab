"""Figures of a simulation as keyed custom properties: to be seen in the Graph Editor, and for drivers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..animation import inputs as forcing
from ..animation.scene_model import SceneModel
from ..blender import physics_access
from ..data import references
from ..data.joints import label_of, title_of
from ..reading import joint_motors
from .keys import Output

GROUP = "Condyle"
PREFIX = "Baked"
ENERGIES = ("kinetic energy", "potential energy", "total energy")
#: of a generalized force by the unit of its coordinate; without one it is work per coordinate
FORCE_UNITS = {"rad": "N·m", "m": "N"}


@dataclass(frozen=True, eq=False)
class Figure:
    """Values (F,) to be shown as a property of this name on an object or scene."""

    item: Any
    name: str
    values: np.ndarray


def figures(
    scene: Scene,
    read: SceneModel | None,
    result: physics_access.Result,
    drawn: Iterable[Any],
    output: Output,
    inputs: physics_access.Table | None,
) -> list[Figure]:
    """What the scene's settings ask for.

    Args:
        scene: it, or a snapshot of it, to whose objects the figures belong.
        read: the `SceneModel`. result: of its simulation, at F times. drawn: of muscles (`muscle_bakes.Shown`).
        inputs: the `Table` of generalized forces and inputs of the model; None: there was none.
    """
    found = []
    if output.extras & {"COORDINATES", "TORQUES"}:
        pushed = torques(result, inputs) if "TORQUES" in output.extras else None
        for entry in read.bodies:
            item = references.object_in(scene, entry.joint_uid)
            if item is not None:
                found += _of_joint(item, read.model, entry.name, result, pushed, output)
    if "ENERGY" in output.extras:
        found += [Figure(scene, f"{name} [J]", result.energy[:, k]) for k, name in enumerate(ENERGIES)]
    if "MUSCLES" in output.extras:
        for entry in drawn:
            item = references.find_in(scene, entry.session_uid, f"muscle {entry.name!r}")
            found += [Figure(item, "length [m]", entry.lengths), Figure(item, "activation", entry.activation)]
    return found


def _of_joint(
    item: Object,
    model: physics_access.Model,
    body: str,
    result: physics_access.Result,
    pushed: np.ndarray | None,
    output: Output,
) -> list[Figure]:
    joint, where = model.joints[model.index(body)], model.coordinate_slice(body)
    found = []
    if "COORDINATES" in output.extras:
        columns = joint.readings(result.q[:, where]).T
        for name, unit, values in zip(_titles(item, joint.reading_names), joint.reading_units, columns):
            found.append(Figure(item, f"{name} [{unit}]", values))
    if pushed is not None:
        names = _titles(item, joint.coordinate_names)
        for k, (name, unit) in enumerate(zip(names, joint.coordinate_units)):
            force = FORCE_UNITS.get(unit, "J")
            found.append(Figure(item, f"torque of {name} [{force}]", pushed[:, where][:, k]))
    return found


def _titles(item: Object, names: Sequence[str]) -> list[str]:
    """Coordinates as the panel calls them; those that it would call the same by their labels."""
    rows = {row.label: row for row in item.condyle.joint.coordinates}
    titles = [title_of(rows[name]) if name in rows else label_of(name) for name in names]
    return [title if titles.count(title) == 1 else label_of(name) for title, name in zip(titles, names)]


def torques(result: physics_access.Result, inputs: physics_access.Table | None) -> np.ndarray:
    """Generalized forces (F, nv) of springs, dampers, limits, controllers and given motions, and those of `inputs`."""
    passive_force = physics_access.part("kernels.forces.passive").passive_force
    model = result.model
    _, _, _, data, dof_float = model.arrays
    count = model.num_coordinates
    values = forcing.sampled(model, inputs, result.t)
    found = values[:, :count] + joint_motors.on_coordinates(model, result.q, values)
    for row, (q, qd, tau) in enumerate(zip(result.q, result.qd, values)):
        for d in range(count):
            found[row, d] += passive_force(dof_float, data, tau, d, q[d], qd[d])
    if result.efforts is not None:
        found += result.efforts
    return found
