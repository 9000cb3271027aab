"""Position controllers of a joint's coordinates."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body
from ..bodies.laws import Laws
from ..errors import ModelError
from ..joints.functions import record_with
from ..kernels import layout
from ..validation import per_coordinate
from .base import ForceElement, body_index, new_name
from .inputs import Input


@dataclass(frozen=True, eq=False)
class PositionController(ForceElement):
    """Drives each coordinate of a joint by stiffness (target - q) + damping (target rate - q'), at most force_limit.

    Target and target rate of every coordinate are inputs of the model, named ``controller.coordinate.target`` and
    ``controller.coordinate.rate``, so that they follow tables and keyframes in every integrator. The controller does
    work and stores no energy. On rotation vectors it acts on r in the current chart, as springs do (`Body`).

    Attributes:
        name: unique among the model's controllers. body: index of the body whose joint it moves.
        stiffness, damping: (n,) one per coordinate, not negative [N m/rad, N m s/rad; for lengths N/m, N s/m].
        force_limit: (n,) positive, infinite without a limit [N m or N].
        target: (n,) default values of the target inputs; their rates are 0 by default.
    """

    stiffness: FloatArray
    damping: FloatArray
    force_limit: FloatArray
    target: FloatArray

    def inputs(self, bodies: Sequence[Body]) -> list[Input]:
        """The inputs for target and rate of each coordinate."""
        names = [f"{self.name}.{name}" for name in bodies[self.body].joint.coordinate_names]
        return [
            each
            for name, value in zip(names, self.target.tolist())
            for each in (Input(f"{name}.target", value), Input(f"{name}.rate"))
        ]

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        limits = [x if np.isfinite(x) else None for x in self.force_limit.tolist()]
        return super().to_dict(names) | {"force_limit": limits}


def make_controller(
    name: Any,
    bodies: Sequence[Body],
    numbers: Mapping[str, int],
    names: Container[str],
    controlled: Container[int],
    values: Mapping[str, Any],
) -> PositionController:
    """Check all values and make the controller; ModelError names controller, thing and value.

    numbers: of bodies by name. names: of controllers so far. controlled: numbers of the bodies that have one.
    """
    of = f"of controller {new_name(name, 'controller', names)!r}"
    body = body_index(values["body"], numbers, f"body {of}")
    if body in controlled:
        raise ModelError(f"body {of}, {bodies[body].name!r}, has a controller already")
    joint = bodies[body].joint
    n = joint.num_coordinates
    if not n:
        raise ModelError(f"body {of}, {bodies[body].name!r}, has no coordinates to move")
    if any(joint.prescribed):
        raise ModelError(f"body {of}, {bodies[body].name!r}, has prescribed coordinates: no force moves them")
    arrays = {
        key: per_coordinate(values[key], n, f"{key} {of}", not_negative=True)
        for key in ("stiffness", "damping")
    }
    limit = values["force_limit"]
    if isinstance(limit, list | tuple) and len(limit) == n:
        limit = [np.finfo(np.float64).max if entry is None else entry for entry in limit]
    if limit is None:
        limits = np.full(n, np.inf)
    else:
        limits = per_coordinate(limit, n, f"force_limit {of}")
        limits[limits == np.finfo(np.float64).max] = np.inf
    if (limits <= 0.0).any():
        raise ModelError(f"force_limit {of} must be positive, got {limits[limits <= 0.0][0]:g}")
    target = per_coordinate(values["target"], n, f"target {of}")
    return PositionController(name, body, force_limit=limits, target=target, **arrays).lock()


def law_records(
    elastic: Laws, damper: Laws, viscosity: Laws, controller: PositionController | None, first_input: int
) -> list[FloatArray | None]:
    """The record of each coordinate of a joint (``kernels.layout``, LAW_...), None if it has no law."""
    records: list[FloatArray | None] = []
    for d, (spring, resistance, thickness) in enumerate(zip(elastic, damper, viscosity)):
        if spring is None and resistance is None and thickness is None and controller is None:
            records.append(None)
            continue
        header = np.zeros(layout.LAW_HEADER)
        header[[layout.LAW_TARGET, layout.LAW_TARGET_RATE]] = -1.0
        if controller is not None and d < len(controller.stiffness):
            header[layout.LAW_GAIN] = controller.stiffness[d]
            header[layout.LAW_RATE_GAIN] = controller.damping[d]
            header[layout.LAW_MOST] = controller.force_limit[d]
            header[layout.LAW_TARGET] = first_input + 2 * d
            header[layout.LAW_TARGET_RATE] = first_input + 2 * d + 1
        functions = {
            layout.LAW_ELASTIC: None if spring is None else spring.integral("elastic"),
            layout.LAW_DAMPER: None if resistance is None else resistance.data(),
            layout.LAW_VISCOSITY: None if thickness is None else thickness.data(),
        }
        records.append(record_with(header, functions))
    return records


def laws_of(
    bodies: Sequence[Body], controllers: Iterable[PositionController], first: int
) -> list[list[FloatArray | None]]:
    """Records of the laws of each body's coordinates; first is the number of the controllers' first input."""
    driven = {}
    for controller in controllers:
        driven[controller.body] = controller, first
        first += len(controller.inputs(bodies))
    return [
        law_records(body.elastic, body.damper, body.viscosity, *driven.get(i, (None, 0)))
        for i, body in enumerate(bodies)
    ]
