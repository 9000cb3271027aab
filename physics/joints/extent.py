"""Where to look for coordinates: a box that holds every pose of a joint within a distance."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from .base import Joint
from .composite import Composite
from .inverted import Inverted
from .spline_curve import SplineCurve
from .spline_surface import SplineSurface

# beyond this a screw with next to no pitch would be searched for ever
MOST_TURNS = 50.0


def extent(joint: Joint, distance: float) -> FloatArray:
    """Lower and upper ends (n, 2): the range where it is finite, one turn or period, else `distance` [m] both ways.

    Of a joint that advances as it turns (a screw) as many turns as it takes for the distance.
    """
    if isinstance(joint, Composite):
        parts = [extent(part, distance) for part in joint.joints]
        return np.concatenate([*parts, np.zeros((0, 2))])
    if isinstance(joint, Inverted):
        return extent(joint.joint, distance)
    box: FloatArray = np.array(joint.range, dtype=np.float64).reshape(-1, 2)
    if isinstance(joint, SplineSurface):
        box[list(joint.periodic)] = joint.domain[list(joint.periodic)]
    for i, unit in enumerate(joint.coordinate_units):
        if np.isfinite(box[i]).all():
            continue
        if isinstance(joint, SplineCurve):
            half = 0.5 * joint.period
            whole = (joint.knots[joint.order - 1], joint.knots[joint.order - 1] + joint.period)
        else:
            half = distance if unit == "m" else np.pi * _turns(joint, i, distance)
            whole = (-half, half)
        open_ends = ~np.isfinite(box[i])
        if open_ends.all():
            box[i] = whole
        else:
            box[i, open_ends] = box[i, ~open_ends] + (-2.0 * half if open_ends[0] else 2.0 * half)
    return box


def _turns(joint: Joint, coordinate: int, distance: float) -> float:
    """Turns of one coordinate after which the joint is surely farther than the distance; 1 where it comes back."""
    places = np.zeros((3, joint.num_coordinates))
    places[:, coordinate] = [0.0, np.pi, 2.0 * np.pi]
    inner = np.clip(places, *joint.range.T)
    advance = float(np.abs(np.diff(joint.transform(inner)[[0, 2], :3, 3], axis=0)).max())
    return 1.0 + min(2.0 * distance / advance, MOST_TURNS) if advance > 1e-6 * distance else 1.0
