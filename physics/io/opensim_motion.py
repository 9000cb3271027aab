"""States and motions of a model that came from OpenSim, by OpenSim's names of its coordinates."""

from __future__ import annotations

import warnings

import numpy as np

from .._typing import FloatArray
from ..constraints import CouplingConstraint
from ..errors import ModelError
from ..model.model import Model
from .opensim_parts import OpenSimModel
from .storage import Storage


def motion_samples(read: OpenSimModel, model: Model, storage: Storage) -> tuple[FloatArray, FloatArray]:
    """Times (n,) [s] and coordinates (n, nv) of a motion file of this model.

    A coordinate's column has its name, or, in files of states, a path such as ``/jointset/knee/flexion/value``.
    Angles in degrees are converted, as OpenSim does, for coordinates that are angles (``motion`` is
    ``"rotational"``); coordinates that the file lacks keep their default values, or follow those that lead them.

    Warns:
        UserWarning: names columns that are no coordinate of the model; states of muscles and speeds are none.

    Raises:
        ModelError: the file has a column for none of the coordinates.
    """
    names = model.coordinate_names
    times = storage.times
    found = {name: storage.columns[label] for name in read.coordinates if (label := _label(storage, name))}
    if not found:
        raise ModelError(f"no column is a coordinate of the model: {', '.join(storage.columns)}")
    used = {_label(storage, name) for name in found}
    left = [label for label in storage.columns if label not in used]
    if left:
        warnings.warn(
            f"columns that are no coordinate of the model are left out: {', '.join(left)!s:.300}",
            stacklevel=2,
        )
    factor = np.pi / 180.0 if storage.in_degrees else 1.0
    q = np.tile(read.state(model).q, (len(times), 1))
    for name, column in found.items():
        coordinate = read.coordinates[name]
        q[:, names.index(coordinate.coordinate)] = column * (
            factor if coordinate.motion == "rotational" else 1.0
        )
    by_ours = {coordinate.coordinate: name for name, coordinate in read.coordinates.items()}
    for constraint in model.constraints.values():
        if isinstance(constraint, CouplingConstraint) and by_ours.get(constraint.coordinate) not in found:
            lead = sum(weight * q[:, names.index(name)] for name, weight in constraint.drivers.items())
            q[:, names.index(constraint.coordinate)] = constraint.function(lead)
    return times, q


def _label(storage: Storage, name: str) -> str | None:
    """The column of a coordinate, by its name or by the path of its value."""
    ends = f"/{name}/value"
    return next((label for label in storage.columns if label == name or label.endswith(ends)), None)
