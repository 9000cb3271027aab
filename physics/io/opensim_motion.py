"""States and motions of a model read from OpenSim, by OpenSim's names of coordinates."""

import warnings
from collections import Counter

import numpy as np

from .._typing import FloatArray
from ..constraints import CouplingConstraint
from ..errors import ModelError
from ..model.model import Model
from ..validation import instance
from .opensim_parts import OpenSimModel
from .storage import Storage


def motion_samples(read: OpenSimModel, model: Model, storage: Storage) -> tuple[FloatArray, FloatArray]:
    """Times (n,) [s] and coordinates (n, nv) of a motion file of this model.

    A column is named by its coordinate or, in files of states, by a path such as ``/jointset/knee/flexion/value``.
    Degrees are converted, as in OpenSim, for coordinates that are angles (``motion`` is ``"rotational"``).
    Coordinates without a column keep their default values, or follow their drivers.

    Warns:
        UserWarning: names the columns that are no coordinates of the model, such as speeds and muscle states.

    Raises:
        ModelError: no column is a coordinate.
    """
    instance(read, OpenSimModel, "read")
    names = instance(model, Model, "model").coordinate_names
    instance(storage, Storage, "storage")
    times = storage.times
    labels = _labels(read, storage)
    found = {name: storage.columns[label] for name, label in labels.items()}
    if not found:
        raise ModelError(f"no column is a coordinate of the model: {', '.join(storage.columns)}")
    left = [label for label in storage.columns if label not in labels.values()]
    if left:
        warnings.warn(
            f"columns that are no coordinates of the model are ignored: {', '.join(left)!s:.300}",
            stacklevel=2,
        )
    factor = np.pi / 180.0 if storage.in_degrees else 1.0
    q = np.tile(read.state(model, assembled=False).q, (len(times), 1))
    for name, column in found.items():
        coordinate = read.coordinates[name]
        unit = factor if coordinate.motion == "rotational" else 1.0
        q[:, names.index(coordinate.coordinate)] = column * unit
    by_ours = {coordinate.coordinate: name for name, coordinate in read.coordinates.items()}
    for constraint in model.constraints.values():
        if isinstance(constraint, CouplingConstraint) and by_ours.get(constraint.coordinate) not in found:
            q[:, names.index(constraint.coordinate)], _ = constraint.followed(names, q, np.zeros_like(q))
    return times, q


def _labels(read: OpenSimModel, storage: Storage) -> dict[str, str]:
    """The column of each coordinate by its name, or by the path of its value, with its joint if its name is shared."""
    by_path: dict[str, str] = {}
    for label in storage.columns:
        if label.endswith("/value"):
            *_, joint, own, _ = ["", *label.split("/")]
            by_path.setdefault(f"{joint}/{own}", label)
            by_path.setdefault(own, label)
    plain = {name: name.rsplit("/", 1)[-1] for name in read.coordinates}
    count = Counter(plain.values())
    labels: dict[str, str] = {}
    for name, coordinate in read.coordinates.items():
        found = by_path.get(f"{coordinate.joint}/{plain[name]}")
        if name in storage.columns:
            found = name
        elif found is None and count[plain[name]] == 1:
            found = by_path.get(name)
        if found is not None:
            labels[name] = found
    return labels
