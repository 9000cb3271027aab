"""Poses of a joint's factors at many places at once, by numpy: in Blender's process kernels run as plain Python and
take 0.25 ms per pose.

A factor with a constant twist is evaluated only through its function, and a straight one only at its ends.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from ..blender import physics_access


def along(blocks: Iterable[physics_access.Block], after: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Poses (n, 4, 4) of a product of factors of one coordinate at its values (n,); after: constant (4, 4)."""
    poses = np.tile(np.eye(4), (len(places), 1, 1))
    for block in blocks:
        poses = poses @ block.frame @ _of_one(block, places)
    return poses @ after


def _of_one(block: physics_access.Block, places: np.ndarray) -> np.ndarray:
    """Poses (n, 4, 4) of one factor, without the frame before it; (1, 4, 4) if it is constant."""
    layout, lie = physics_access.part("kernels.layout"), physics_access.physics().lie
    if block.kind == layout.SCREW:
        rate, lead = block.data
        return np.asarray(lie.exp(np.multiply.outer(places, [0.0, 0.0, rate, 0.0, 0.0, lead])))
    if block.kind == layout.FUNCTION:
        weights, function = weights_and_function(block)
        # a constant is the same at all places
        sums = weights.sum() * places if weights.any() else np.zeros(1)
        return np.asarray(lie.exp(np.multiply.outer(function_values(function, sums), twist(block.data))))
    return along_spline(block.data, places)


def twist(row: np.ndarray) -> np.ndarray:
    """The twist (..., 6) of a row (..., 11) of the kernels."""
    return np.concatenate([row[..., 3:4] * row[..., :3], row[..., 4:7]], axis=-1)


def weights_and_function(block: physics_access.Block) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the coordinates in a factor's argument, and the data of its function."""
    at = physics_access.part("kernels.layout").TWIST_WIDTH
    count = int(block.data[at])
    return block.data[at + 1 : at + 1 + count], block.data[at + 1 + count :]


def is_straight(function: np.ndarray) -> bool:
    """Whether a function is a straight line by its kind."""
    layout = physics_access.part("kernels.layout")
    return bool(
        function[0] == layout.LINEAR_FUNCTION or (function[0] == layout.POLYNOMIAL and function[1] <= 2)
    )


def function_values(function: np.ndarray, places: np.ndarray) -> np.ndarray:
    evaluate = physics_access.part("kernels.joints.functions").evaluate_function
    if is_straight(function):
        first, last = (evaluate(function, 0, place)[0] for place in places[[0, -1]].tolist())
        return np.linspace(first, last, len(places))
    numbers = function.tolist()  # plain Python reads an array's numbers more slowly
    return np.array([evaluate(numbers, 0, place)[0] for place in places.tolist()])


def values_of_two(block: physics_access.Block, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Values of a factor's function of two coordinates, as ``kernels.joints.of_two`` has them with derivatives."""
    at = physics_access.part("kernels.layout")
    which, a, b, c = block.data[at.TWIST_WIDTH :]
    if which in (at.ARC_X, at.ARC_Y, at.ARC_Z):
        (sin_x, cos_x), (sin_y, cos_y) = ((np.sin(each), np.cos(each)) for each in (x + b, y + c))
        cosine = cos_x * cos_y
        sinc = np.sinc(np.arctan2(np.hypot(sin_y, sin_x * cos_y), cosine) / np.pi)
        return (
            a
            * sinc
            * {at.ARC_X: -sin_y / (1.0 + cosine), at.ARC_Z: sin_x * cos_y / (1.0 + cosine)}.get(which, 1.0)
        )
    (sin_x, cos_x), (sin_y, cos_y) = ((np.sin(each), np.cos(each)) for each in (x, y))
    square = (b * cos_x) ** 2 + (c * sin_x) ** 2
    rise, run = sin_y / a, cos_y * np.sqrt(square) / (b * c)
    if which == at.NORMAL_TILT:
        return np.arctan2(rise, run)
    aside = (b * b - c * c) * sin_y * np.hypot(rise, run) * sin_x * cos_x
    return np.arctan2(aside, a / (b * c) * cos_y**2 * square + b * c / a * sin_y**2)


def along_spline(data: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Poses (n, 4, 4) of a spline curve, as ``kernels.joints.factors.curve_factors`` has them one at a time."""
    at, lie = physics_access.part("kernels.layout"), physics_access.physics().lie
    pace = data[int(data[at.SPLINE_PACE]) :] if data[at.SPLINE_PACE] else None
    if pace is not None:
        places = _in_period(places, pace[at.PACE_LOWER], pace[at.PACE_PERIOD])
        places = function_values(pace[at.PACE_FUNCTION :], places)
    lower, upper, period = data[[at.SPLINE_LOWER, at.SPLINE_UPPER, at.SPLINE_PERIOD]]
    places = _in_period(places, lower, period)
    start, rows = physics_access.part("joints.curve_packing").span_rows(data)
    begins, scales = data[start - 2 * (len(rows) + 1) : start].reshape(-1, 2).T
    inside, order = np.clip(places, lower, upper), int(data[at.SPLINE_ORDER])
    span = np.clip(np.searchsorted(begins, inside, side="right") - 1, 0, len(rows) - 1)
    powers = ((inside - begins[span]) * scales[span])[:, None] ** np.arange(order)
    base = np.tile(np.eye(4), (len(rows), 1, 1))
    base[:, :3, :3], base[:, :3, 3] = rows[:, :9].reshape(-1, 3, 3), rows[:, 9:12]
    factors = rows[:, 12:].reshape(len(rows), order - 1, -1)
    steps = [
        lie.exp(twist(factors[span, k]) * (factors[span, k, at.TWIST_WIDTH :] * powers).sum(axis=1)[:, None])
        for k in range(order - 1)
    ]
    ends = data[start + rows.size :][: 2 * (12 + at.TWIST_WIDTH)].reshape(2, -1)
    beyond = (places - inside) * (data[at.SPLINE_OUTSIDE] != at.OUTSIDE_CLAMP)
    further = lie.exp(twist(ends[np.where(beyond > 0.0, 1, 0), 12:]) * beyond[:, None])
    if data[at.SPLINE_INVERTED]:
        return np.asarray(further @ functools.reduce(np.matmul, steps) @ base[span])
    return np.asarray(base[span] @ functools.reduce(np.matmul, steps) @ further)


def _in_period(places: np.ndarray, lower: float, period: float) -> np.ndarray:
    return places - period * np.floor((places - lower) / period) if period > 0.0 else places
