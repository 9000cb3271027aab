"""The spline curve at many parameters at once, and how pose and Hessian move when the control frames do.

Frames move by body twists, F_j <- F_j exp(u_j). Between two frames z_l = log(F_{l-1}^-1 F_l) then changes by
J_r(z_l)^-1 (u_l - Ad_{exp(z_l)}^-1 u_{l-1}), exactly; Lee & Terzopoulos 2008 drop both Jacobians (eqs. 33, 34, 37).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import lie, splines
from .._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Sites:
    """Where a curve with given knots is evaluated, and all that does not depend on its frames.

    Attributes:
        index: control frames that act at each site (n, order), around the ring where periodic.
        phi, slope, curve: the order - 1 cumulative bases and their first two derivatives (n, order - 1).
    """

    index: IntArray
    phi: FloatArray
    slope: FloatArray
    curve: FloatArray

    @classmethod
    def at(cls, q: FloatArray, knots: FloatArray, order: int, periodic: bool) -> Sites:
        """Sites at parameters q (n,) inside the range (any q of a periodic curve)."""
        count = len(knots) - order
        unrolled = splines.unrolled_knots(knots, order) if periodic else knots
        breaks, first, coefficients = splines.span_polynomials(unrolled, order, len(unrolled) - order)
        if periodic:
            q = breaks[0] + np.mod(q - breaks[0], breaks[-1] - breaks[0])
        span = np.clip(np.searchsorted(breaks, q, side="right") - 1, 0, len(first) - 1)
        width = (breaks[span + 1] - breaks[span])[:, None]
        powers = ((q - breaks[span])[:, None] / width) ** np.arange(order)
        steps = np.arange(order)
        first_powers = np.concatenate([np.zeros((len(q), 1)), powers[:, :-1]], axis=1) * steps
        second_powers = np.concatenate([np.zeros((len(q), 1)), first_powers[:, :-1]], axis=1) * steps
        here = coefficients[span]
        return cls(
            index=(first[span][:, None] + np.arange(order)) % count,
            phi=np.einsum("nkp,np->nk", here, powers),
            slope=np.einsum("nkp,np->nk", here, first_powers) / width,
            curve=np.einsum("nkp,np->nk", here, second_powers) / width**2,
        )


def control_twists(frames: FloatArray) -> FloatArray:
    """z_l = log(F_{l-1}^-1 F_l) (m, 6); the first one closes the ring."""
    return lie.log(lie.inverse(np.roll(frames, 1, axis=0)) @ frames)


def poses(frames: FloatArray, sites: Sites) -> FloatArray:
    """G at every site (n, 4, 4) (eq. 24)."""
    twists = control_twists(frames)
    result: FloatArray = frames[sites.index[:, 0]]
    for k in range(sites.phi.shape[1]):
        result = result @ lie.exp(twists[sites.index[:, k + 1]] * sites.phi[:, k, None])
    return result


def _to_frames(frames: FloatArray, sites: Sites, by_twist: FloatArray) -> FloatArray:
    """Blocks (n, order, 6, 6) acting on the frames' twists u from blocks (n, order - 1, 6, 6) acting on dz."""
    twists = control_twists(frames)
    ahead = lie.right_jacobian_inverse(twists)
    behind = ahead @ lie.adjoint_inverse(lie.exp(twists))
    moving = sites.index[:, 1:]
    result = np.zeros((len(by_twist), by_twist.shape[1] + 1, 6, 6))
    result[:, 1:] += by_twist @ ahead[moving]
    result[:, :-1] -= by_twist @ behind[moving]
    return result


def pose_jacobian(frames: FloatArray, sites: Sites) -> FloatArray:
    """Blocks (n, order, 6, 6): body twist of G at each site per body twist of each frame that acts there."""
    twists = control_twists(frames)[sites.index[:, 1:]]
    tail = np.broadcast_to(np.eye(6), (len(twists), 6, 6))  # Ad^-1 of the factors behind
    by_twist = np.zeros((len(twists), twists.shape[1], 6, 6))
    for k in range(twists.shape[1] - 1, -1, -1):
        scaled = twists[:, k] * sites.phi[:, k, None]
        by_twist[:, k] = tail @ lie.right_jacobian(scaled) * sites.phi[:, k, None, None]
        tail = tail @ lie.adjoint_inverse(lie.exp(scaled))
    result = _to_frames(frames, sites, by_twist)
    result[:, 0] += tail
    return result


def derivatives(frames: FloatArray, sites: Sites) -> tuple[FloatArray, FloatArray]:
    """Joint Jacobian s and Hessian h = ds/dq at every site, each (n, 6) (eqs. 29, 31)."""
    twists = control_twists(frames)[sites.index[:, 1:]]
    s, h = np.zeros((len(twists), 6)), np.zeros((len(twists), 6))
    for k in range(twists.shape[1]):
        s, h, _, _ = _advance(twists[:, k], s, h, sites, k)
    return s, h


def _advance(
    z: FloatArray, s: FloatArray, h: FloatArray, sites: Sites, k: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """s and h behind factor k, and what of each was carried through the factor."""
    carry = lie.adjoint_inverse(lie.exp(z * sites.phi[:, k, None]))
    turned = h + sites.slope[:, k, None] * (lie.ad(s) @ z[..., None])[..., 0]
    carried_s = (carry @ s[..., None])[..., 0]
    carried_h = (carry @ turned[..., None])[..., 0]
    return (
        z * sites.slope[:, k, None] + carried_s,
        z * sites.curve[:, k, None] + carried_h,
        carried_s,
        carried_h,
    )


def hessian_jacobian(frames: FloatArray, sites: Sites) -> tuple[FloatArray, FloatArray]:
    """h (n, 6), and blocks (n, order, 6, 6): its change per body twist of each frame that acts there, exactly."""
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
        s, h, carried_s, carried_h = _advance(z, s, h, sites, k)
        dh = carry @ (dh - slope[:, None] * (lie.ad(z)[:, None] @ before_ds))
        ds = carry @ ds
        dh[:, k] += curve * np.eye(6) + slope * (carry[:, 0] @ lie.ad(before_s)) + lie.ad(carried_h) @ turn
        ds[:, k] += slope * np.eye(6) + lie.ad(carried_s) @ turn
    return h, _to_frames(frames, sites, dh)
