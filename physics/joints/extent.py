"""Search boxes: they contain every pose of a joint within a distance."""

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from .composite import Composite
from .inverted import Inverted
from .joint import Joint
from .spline_curve import SplineCurve
from .spline_surface import SplineSurface

# bounds the search along a screw with almost no pitch
MOST_TURNS = 50.0


def periods(joint: Joint) -> FloatArray:
    """Period of each coordinate (n,), whatever the others are; 0 where it has none."""
    if isinstance(joint, Composite):
        return np.concatenate([*(periods(part) for part in joint.joints), np.zeros(0)])
    if isinstance(joint, Inverted):
        return periods(joint.joint)
    if isinstance(joint, SplineSurface):
        return np.array(joint.periods)
    if isinstance(joint, SplineCurve):
        return np.array([joint.period])
    result = np.zeros(joint.num_coordinates)
    place = np.clip(0.3 + 0.2 * np.arange(len(result)), *joint.range.reshape(-1, 2).T)
    for i, unit in enumerate(joint.coordinate_units):
        if unit == "rad" and not np.isfinite(joint.range[i]).any():
            beside = place + 2.0 * np.pi * np.eye(len(result))[i]
            same = np.abs(np.diff(joint.transform(np.stack([place, beside])), axis=0)).max() < 1e-9
            result[i] = 2.0 * np.pi if same else 0.0
    return result


def extent(joint: Joint, distance: float) -> FloatArray:
    """Lower and upper ends (n, 2): the range where it is finite, one turn or period, else `distance` [m] both ways.

    A screw has as many turns as the distance takes; other angles, rotation vectors among them, have -pi to pi.
    """
    if isinstance(joint, Composite):
        parts = [extent(part, distance) for part in joint.joints]
        return np.concatenate([*parts, np.zeros((0, 2))])
    if isinstance(joint, Inverted):
        return extent(joint.joint, distance)
    if isinstance(joint, SplineSurface):
        return joint.domain
    if isinstance(joint, SplineCurve):
        return joint.domain[None]
    box: FloatArray = np.array(joint.range, dtype=np.float64).reshape(-1, 2)
    for i, unit in enumerate(joint.coordinate_units):
        half = distance if unit == "m" else np.pi * _turns(joint, i, distance)
        low, high = np.isfinite(box[i])
        if not low:
            box[i, 0] = box[i, 1] - 2.0 * half if high else -half
        if not high:
            box[i, 1] = box[i, 0] + 2.0 * half
    return box


def _turns(joint: Joint, coordinate: int, distance: float) -> float:
    """Turns in which a screw surely advances farther than the distance; 1 for a coordinate that is not a screw."""
    places = np.zeros((2, joint.num_coordinates))
    places[1, coordinate] = 2.0 * np.pi
    ends = joint.transform(np.clip(places, *joint.range.reshape(-1, 2).T))
    step = lie.log(lie.inverse(ends[0]) @ ends[1])
    advance = float(np.linalg.norm(step[3:]))
    if np.abs(step[:3]).max() > 1e-9 or advance <= 1e-6 * distance:
        return 1.0
    return 1.0 + min(2.0 * distance / advance, MOST_TURNS)
