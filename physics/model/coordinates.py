"""Properties of each coordinate of a model, in arrays."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import BoolArray, FloatArray
from ..bodies.body import Body
from ..errors import ModelError
from ..joints.packing import Arrays
from ..kernels import layout
from ..muscles.view import ModelView
from ..validation import float_array


class CoordinateTable(NamedTuple):
    """The coordinates of all joints, and their readings, which are as many; read-only arrays.

    Attributes:
        ranges: of the joints (nv, 2). limits: of the bodies, on the readings (nv, 2); infinite where there is none.
        held: whether equal limits hold it (nv,). timed: whether it is the time of a moving surface (nv,).
        angles: whether it is an angle (nv,). ordered: whether its reading is an Euler angle, which depends on three.
        vectors: indices of the coordinates of all rotation vectors, three for each.
    """

    ranges: FloatArray
    limits: FloatArray
    held: BoolArray
    timed: BoolArray
    angles: BoolArray
    ordered: BoolArray
    vectors: NDArray[np.int64]

    def defaults(self) -> FloatArray:
        """Coordinates (nv,) that are not given: 0, or else in the middle of their range, or where they are held."""
        lower, upper = np.where(self.held[:, None], self.limits, self.ranges).T
        within: FloatArray = np.zeros(len(self.held))
        away = (lower > 0.0) | (upper < 0.0)
        within[away] = 0.5 * (lower[away] + upper[away])
        return within


class HasCoordinates(Protocol):
    """A model, which has this table."""

    @property
    def coordinate_table(self) -> CoordinateTable: ...


def make_coordinate_table(bodies: Sequence[Body], arrays: Arrays) -> CoordinateTable:
    """The table of these bodies' joints, of which `arrays` are the kernels' arrays."""
    joints = [body.joint for body in bodies]

    def flags(values: Any) -> BoolArray:
        return np.array(list(values), dtype=np.bool_)

    def ends(pairs: Any) -> FloatArray:
        return np.concatenate([np.zeros((0, 2)), *(np.reshape(each, (-1, 2)) for each in pairs)])

    ordered = []
    for joint in joints:
        of_three = {first + k for first, _ in joint.angle_groups for k in range(3)}
        ordered += [d in of_three for d in range(joint.num_coordinates)]
    table = CoordinateTable(
        ranges=ends(joint.range for joint in joints),
        limits=ends(body.limits for body in bodies),
        held=flags(flag for body in bodies for flag in body.held),
        timed=flags(flag for joint in joints for flag in joint.prescribed),
        angles=flags(unit == "rad" for joint in joints for unit in joint.coordinate_units),
        ordered=flags(ordered),
        vectors=_rotation_vectors(arrays),
    )
    for column in table:
        column.flags.writeable = False
    return table


def _rotation_vectors(arrays: Arrays) -> NDArray[np.int64]:
    body_int, _, block_int, _, _ = arrays
    result: list[int] = []
    for row in body_int:
        for b in range(row[layout.BLOCK_START], row[layout.BLOCK_START] + row[layout.BLOCK_COUNT]):
            if block_int[b, layout.KIND] == layout.ROTATION_VECTOR:
                first = int(row[layout.DOF_START] + block_int[b, layout.COORDINATE])
                result += [first, first + 1, first + 2]
    return np.array(result, dtype=np.int64)


def rotation_coordinates(model: HasCoordinates) -> NDArray[np.int64]:
    """Indices of the coordinates of all rotation vectors of the model, three for each."""
    return model.coordinate_table.vectors


def readings_of(model: ModelView, q: Any) -> FloatArray:
    """Readings of all joints (..., nv) at coordinates (..., nv)."""
    q = float_array(q, "coordinates")
    if q.ndim == 0 or q.shape[-1] != model.num_coordinates:
        raise ModelError(f"coordinates must have shape (..., {model.num_coordinates}), got {q.shape}")
    parts, first = [], 0
    for body in model.bodies:
        last = first + body.joint.num_coordinates
        if last > first:
            parts.append(body.joint.readings(q[..., first:last]))
        first = last
    return np.concatenate(parts, axis=-1) if parts else q
