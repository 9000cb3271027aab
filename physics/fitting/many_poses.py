"""Residuals of many poses and their squares by compiled kernels, with the results of `linearization` to round-off.

Fewer poses are as fast without: importing Numba takes half a second, compiling the kernels once some seconds.
"""

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..geometry import lie
from ..geometry.twist_metric import TwistMetric
from . import linearization
from .banded import BlockBandedSystem
from .linearization import Sites, by_frames, control_twists, poses

#: poses from which on the kernels pay
MANY = 500


def compiled(count: int) -> bool:
    """Whether the kernels compute a fit to so many poses: not where they would run as plain Python."""
    return count >= MANY and kernels.joints.fitted_curve.JITTED


def residuals(
    frames: FloatArray, sites: Sites, targets: FloatArray, twists: FloatArray | None = None
) -> FloatArray:
    """log(G^-1 target) at each site (n, 6), for targets (n, 4, 4); twists: those between frames, if known."""
    if not compiled(len(targets)):
        return lie.log(lie.inverse(poses(frames, sites)) @ targets)
    result, given = np.empty((len(targets), 6)), np.ascontiguousarray(targets).reshape(-1, 16)
    inverses, twists = (
        lie.inverse(frames).reshape(-1, 16),
        control_twists(frames) if twists is None else twists,
    )
    kernels.joints.fitted_curve.curve_residuals(inverses, twists, sites.index, sites.phi, given, result)
    return result


def derivatives(frames: FloatArray, sites: Sites, count: int) -> tuple[FloatArray, FloatArray]:
    """s and h = ds/dq at every site, each (n, 6), in a fit to `count` poses."""
    if not compiled(count):
        return linearization.derivatives(frames, sites)
    s, h = np.empty((len(sites.index), 6)), np.empty((len(sites.index), 6))
    tables = sites.index, sites.phi, sites.slope, sites.curve
    kernels.joints.fitted_curve.curve_derivatives(control_twists(frames), *tables, s, h)
    return s, h


def add_squares(
    system: BlockBandedSystem,
    frames: FloatArray,
    metric: TwistMetric,
    sites: Sites,
    weights: FloatArray,
    targets: FloatArray,
) -> None:
    """Add weighted squares (n,) of residuals, linearized, to the system of the frames' scaled twists.

    All sites of a knot span share the changes of twists between frames with the frames, which multiply their sum.
    """
    _, first, span = np.unique(sites.index[:, 0], return_index=True, return_inverse=True)
    width, twists, kernel = 6 * system.width, control_twists(frames), kernels.joints.fitted_curve
    total = np.zeros((len(first), width + 1, width + 1))
    squares = total, metric.factor, np.zeros((6, width + 1)), np.zeros((kernel.ROWS, 18))
    r = residuals(frames, sites, targets, twists)
    kernel.add_pose_squares(twists, sites.index, sites.phi, r, weights, span, squares)
    total += np.tril(total, -1).swapaxes(1, 2)
    places = sites.index[first]
    changes = by_frames(twists, places)
    changes = metric.right(changes.reshape(-1, width, system.width, 6)).reshape(changes.shape)
    turned = changes.swapaxes(1, 2)
    system.add_products(places, turned @ total[:, :-1, :-1] @ changes, (turned @ total[:, :-1, -1:])[:, :, 0])
