"""Changes of pose, Jacobian and Hessian of a spline curve with its control frames.

Frames move by body twists, F_j <- F_j exp(u_j). The twist z_l = log(F_{l-1}^-1 F_l) between two frames then changes by
J_r(z_l)^-1 (u_l - Ad_{exp(z_l)}^-1 u_{l-1}), exactly; Lee & Terzopoulos 2008 drop both Jacobians (eqs. 33, 34, 37).
"""

import numpy as np

from .._typing import FloatArray, IntArray
from ..geometry import lie
from ..joints.spline_sites import Sites, advance, control_twists, derivatives, poses

__all__ = [
    "Sites",
    "by_frames",
    "control_twists",
    "derivatives",
    "hessian_jacobian",
    "pose_jacobian",
    "poses",
    "velocity_jacobian",
]


def _to_frames(twists: FloatArray, index: IntArray, by_twist: FloatArray) -> FloatArray:
    """Blocks (n, order, 6, 6) that act on the twists u of the frames with indices index (n, order), from blocks
    (n, order - 1, 6, 6) that act on dz, with all twists z (m, 6).
    """
    by_next = lie.right_jacobian_inverse(twists)
    by_previous = by_next @ lie.adjoint_inverse(lie.exp(twists))
    moving = index[:, 1:]
    result = np.zeros((len(by_twist), by_twist.shape[1] + 1, 6, 6))
    result[:, 1:] += by_twist @ by_next[moving]
    result[:, :-1] -= by_twist @ by_previous[moving]
    return result


def by_frames(twists: FloatArray, index: IntArray) -> FloatArray:
    """The first frame's twist u and the dz that act at a site, by all u there (n, 6 order, 6 order).

    From all twists z (m, 6) and the indices (n, order) of the frames.
    """
    n, order = index.shape
    units = np.tile(np.eye(order)[:, 1:, None, None] * np.eye(6), (n, 1, 1, 1))
    result = _to_frames(twists, np.repeat(index, order, axis=0), units)
    result[::order, 0] = np.eye(6)
    return result.reshape(n, order, order, 6, 6).swapaxes(2, 3).reshape(n, 6 * order, 6 * order)


def pose_jacobian(frames: FloatArray, sites: Sites) -> FloatArray:
    """Blocks (n, order, 6, 6): body twist of G at each site per body twist of each frame that acts there."""
    twists = control_twists(frames)[sites.index[:, 1:]]
    tail = np.broadcast_to(np.eye(6), (len(twists), 6, 6))  # Ad^-1 of the factors after k
    by_twist = np.zeros((len(twists), twists.shape[1], 6, 6))
    for k in range(twists.shape[1] - 1, -1, -1):
        scaled = twists[:, k] * sites.phi[:, k, None]
        by_twist[:, k] = tail @ lie.right_jacobian(scaled) * sites.phi[:, k, None, None]
        tail = tail @ lie.adjoint_inverse(lie.exp(scaled))
    result = _to_frames(control_twists(frames), sites.index, by_twist)
    result[:, 0] += tail
    return result


def velocity_jacobian(frames: FloatArray, sites: Sites) -> tuple[FloatArray, FloatArray]:
    """s (n, 6), and blocks (n, order, 6, 6): its exact change per body twist of each frame that acts there."""
    s, _, ds, _ = _derivatives_by_twist(frames, sites)
    return s, _to_frames(control_twists(frames), sites.index, ds)


def hessian_jacobian(frames: FloatArray, sites: Sites) -> tuple[FloatArray, FloatArray]:
    """h (n, 6), and blocks (n, order, 6, 6): its exact change per body twist of each frame that acts there."""
    _, h, _, dh = _derivatives_by_twist(frames, sites)
    return h, _to_frames(control_twists(frames), sites.index, dh)


def _derivatives_by_twist(
    frames: FloatArray, sites: Sites
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """s and h (n, 6), and blocks (n, order - 1, 6, 6) of their changes per change of the twists z."""
    twists = control_twists(frames)[sites.index[:, 1:]]
    n, factors = twists.shape[:2]
    s, h = np.zeros((n, 6)), np.zeros((n, 6))
    ds, dh = np.zeros((n, factors, 6, 6)), np.zeros((n, factors, 6, 6))
    for k in range(factors):
        z = twists[:, k]
        phi, slope, curve = (table[:, k, None, None] for table in (sites.phi, sites.slope, sites.curve))
        carry = lie.adjoint_inverse(lie.exp(z * sites.phi[:, k, None]))[:, None]
        turn = lie.right_jacobian(z * sites.phi[:, k, None]) * phi  # body twist of exp(z phi) per dz
        before_s, before_ds = s, ds
        s, h, carried_s, carried_h = advance(z, s, h, sites, k)
        dh = carry @ (dh - slope[:, None] * (lie.ad(z)[:, None] @ before_ds))
        ds = carry @ ds
        dh[:, k] += curve * np.eye(6) + slope * (carry[:, 0] @ lie.ad(before_s)) + lie.ad(carried_h) @ turn
        ds[:, k] += slope * np.eye(6) + lie.ad(carried_s) @ turn
    return s, h, ds, dh
