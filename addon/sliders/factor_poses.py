"""Poses of a joint's factors at many places at once. In Blender's process kernels run as plain Python and take 0.25 ms
per pose, while numpy applies a twist at all places in one call.

A factor with a constant twist is evaluated only through its function, and a straight one only at its ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
        return np.asarray(lie.exp(np.multiply.outer(function_values(function, sums), twist(block))))
    return alone(block, 1)(places[:, None])


def twist(block: physics_access.Block) -> np.ndarray:
    """The twist (6,) of a factor with a constant twist."""
    n, rate, v = block.data[:3], block.data[3], block.data[4:7]
    return np.concatenate([rate * n, v])


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
    return np.array([evaluate(function, 0, place)[0] for place in places.tolist()])


def alone(block: physics_access.Block, count: int) -> Callable[[np.ndarray], np.ndarray]:
    """Poses (n, 4, 4) of any one factor at its coordinates (n, count), by the kernels."""
    joints = physics_access.part("joints")

    class Alone(joints.Joint):  # type: ignore[misc, name-defined]
        type = "factor"
        coordinate_names = tuple("abc"[:count])
        coordinate_units = ("1",) * count

        def factorization(self) -> physics_access.Factorization:
            return joints.Factorization((joints.Block(block.kind, 0, np.eye(4), block.data),), np.eye(4))

    return Alone().transform
