"""Poses of a joint's factors at many places at once, by numpy: in Blender's process kernels run as plain Python and
take 0.25 ms per pose.

A factor with a constant twist is evaluated only through its function, and a straight one only at its ends.
"""

from __future__ import annotations

import functools

import numpy as np

from ..blender import physics_access


def along(joint: physics_access.Joint, places: np.ndarray) -> np.ndarray:
    """Poses (n, 4, 4) of a joint with one coordinate at its values (n,)."""
    joints, lie = physics_access.physics().joints, physics_access.physics().lie
    if isinstance(joint, joints.Inverted):
        return np.asarray(lie.inverse(along(joint.joint, places)))
    if isinstance(joint, joints.Composite):
        return functools.reduce(np.matmul, [along(part, places) for part in joint.joints])
    if isinstance(joint, joints.SplineCurve):
        return _along_curve(joint, places)
    parts = joint.factorization()
    poses = np.tile(np.eye(4), (len(places), 1, 1))
    for block in parts.blocks:
        poses = poses @ block.frame @ _of_one(block, places)
    return poses @ parts.after


def _along_curve(curve: physics_access.SplineCurve, places: np.ndarray) -> np.ndarray:
    """Beyond its ends a curve keeps the twist that it has there, unless it is clamped."""
    splines = physics_access.part("joints.spline_sites")
    q = curve.parameter_at(places)
    inside = q if curve.periodic else np.clip(q, *curve.knots[[curve.order - 1, len(curve.frames)]])
    sites = splines.Sites.at(inside, curve.knots, curve.order, curve.periodic)
    beyond = (q - inside) * (curve.outside != "clamp")
    twists = splines.derivatives(curve.frames, sites)[0] * beyond[:, None]
    return np.asarray(splines.poses(curve.frames, sites) @ physics_access.physics().lie.exp(twists))


def _of_one(block: physics_access.Block, places: np.ndarray) -> np.ndarray:
    """Poses (n, 4, 4) of one factor, without the frame before it; (1, 4, 4) if it is constant."""
    layout, lie = physics_access.part("kernels.layout"), physics_access.physics().lie
    if block.kind == layout.SCREW:
        rate, lead = block.data
        return np.asarray(lie.exp(np.multiply.outer(places, [0.0, 0.0, rate, 0.0, 0.0, lead])))
    if block.kind != layout.FUNCTION:
        raise physics_access.model_error(f"a factor of kind {block.kind} has no pose by one coordinate alone")
    weights, function = weights_and_function(block)
    # a constant is the same at all places
    sums = weights.sum() * places if weights.any() else np.zeros(1)
    return np.asarray(lie.exp(np.multiply.outer(function_values(function, sums), twist(block))))


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


def values_of_two(block: physics_access.Block, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Values of a factor's function of two coordinates, as ``kernels.joints.of_two`` has them with derivatives."""
    at = physics_access.part("kernels.layout")
    which, a, b, c = block.data[at.TWIST_WIDTH :]
    if which in (at.ARC_X, at.ARC_Y, at.ARC_Z):
        (sin_x, cos_x), (sin_y, cos_y) = ((np.sin(each), np.cos(each)) for each in (x + b, y + c))
        cosine = cos_x * cos_y
        sinc = np.sinc(np.arctan2(np.hypot(sin_y, sin_x * cos_y), cosine) / np.pi)
        aside = {at.ARC_X: -sin_y, at.ARC_Y: 1.0 + cosine, at.ARC_Z: sin_x * cos_y}[which]
        return a * sinc * aside / (1.0 + cosine)
    (sin_x, cos_x), (sin_y, cos_y) = ((np.sin(each), np.cos(each)) for each in (x, y))
    square = (b * cos_x) ** 2 + (c * sin_x) ** 2
    rise, run = sin_y / a, cos_y * np.sqrt(square) / (b * c)
    if which == at.NORMAL_TILT:
        return np.arctan2(rise, run)
    aside = (b * b - c * c) * sin_y * np.hypot(rise, run) * sin_x * cos_x
    return np.arctan2(aside, a / (b * c) * cos_y**2 * square + b * c / a * sin_y**2)
