"""Torques of ball and free joints about the axes of the joint's frame: moments on the child and its parent, by inputs.

On the rotation vector they would change their axes as the joint turns, and jump where its chart changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bpy.types import Object

from ..blender import compat, physics_access
from ..data.joints import torque_path, torques_keep_axes


def input_of(coordinate: str) -> str:
    """The input in place of a coordinate's generalized force."""
    return f"torque of {coordinate}"


def add(
    builder: physics_access.ModelBuilder, item: Object, body: str, hung: Mapping[str, Any], always: bool
) -> None:
    """Add the motors of a joint whose torques keep their axes; hung: arguments of add_body. always: also where no
    torque is set.
    """
    settings, names = item.condyle.joint, hung["joint"].coordinate_names
    turning = [k for k, name in enumerate(names) if name.startswith("r_")]
    rows = settings.coordinates
    if not torques_keep_axes(settings) or not (
        always or any(rows[k].torque or compat.is_played(item, torque_path(k)) for k in turning)
    ):
        return
    axes = "world" if hung.get("parent") is None else "other"
    sense = -1.0 if settings.inverted else 1.0  # that of the sliders
    for k, axis in zip(turning, np.asarray(hung["joint_in_parent"])[:3, :3].T):
        name = input_of(f"{body}.{names[k]}")
        builder.add_input(name)
        builder.add_wrench(
            name, body, sense * axis, (0.0, 0.0, 0.0), name, axes=axes, other=hung.get("parent")
        )


def on_coordinates(model: physics_access.Model, q: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Generalized forces (F, nv) of all motors at coordinates (F, nv), forces and inputs (F, nv + inputs): dual to the
    rotation vector's rate (Kim, Lee & Park 2014, eqs. 14, 71).
    """
    found, names = np.zeros_like(q), model.coordinate_names
    given = {name: values[:, len(names) + k] for k, name in enumerate(model.input_names)}
    turned = physics_access.part("geometry.exponential_coordinates").body_velocity  # by the transpose of J_s
    for body, joint in zip(model.body_names, model.joints):
        own = model.coordinate_slice(body)
        columns = [k for k in range(own.start, own.stop) if input_of(names[k]) in given]
        if columns:
            sense = -1.0 if joint.type == "inverted" else 1.0
            torque = np.array([given[input_of(names[k])] for k in columns]).T
            found[:, columns] = turned(sense * q[:, columns], torque)
    return found
