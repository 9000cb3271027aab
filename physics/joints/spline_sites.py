"""A spline curve at many parameters at once, for coordinate maps and for fits to many poses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray, IntArray
from ..geometry import lie, splines


@dataclass(frozen=True, eq=False)
class Sites:
    """The parameters at which a curve with given knots is evaluated: everything that does not depend on its frames.

    Attributes:
        index: control frames that act at each site (n, order), modulo their number if periodic.
        phi, slope, curve: the order - 1 cumulative bases and their first two derivatives (n, order - 1).
    """

    index: IntArray
    phi: FloatArray
    slope: FloatArray
    curve: FloatArray

    @classmethod
    def at(
        cls, q: FloatArray, knots: FloatArray, order: int, periodic: bool, from_left: bool = False
    ) -> Sites:
        """Sites at parameters q (n,) inside the range (any q of a periodic curve).

        A knot belongs to the span after it; with `from_left` to the one before it, for q within one turn.
        """
        count = len(knots) - order
        unrolled = splines.unrolled_knots(knots, order) if periodic else knots
        breaks, first, coefficients = splines.span_polynomials(unrolled, order, len(unrolled) - order)
        if periodic and not from_left:
            q = breaks[0] + np.mod(q - breaks[0], breaks[-1] - breaks[0])
        span = np.clip(
            np.searchsorted(breaks, q, side="left" if from_left else "right") - 1, 0, len(first) - 1
        )
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
    """z_l = log(F_{l-1}^-1 F_l) (m, 6); the first one closes the curve."""
    return lie.log(lie.inverse(np.roll(frames, 1, axis=0)) @ frames)


def poses(frames: FloatArray, sites: Sites) -> FloatArray:
    """G at every site (n, 4, 4) (eq. 24)."""
    twists = control_twists(frames)
    result: FloatArray = frames[sites.index[:, 0]]
    for k in range(sites.phi.shape[1]):
        result = result @ lie.exp(twists[sites.index[:, k + 1]] * sites.phi[:, k, None])
    return result


def derivatives(frames: FloatArray, sites: Sites) -> tuple[FloatArray, FloatArray]:
    """Joint Jacobian s and Hessian h = ds/dq at every site, each (n, 6) (eqs. 29, 31)."""
    twists = control_twists(frames)[sites.index[:, 1:]]
    s, h = np.zeros((len(twists), 6)), np.zeros((len(twists), 6))
    for k in range(twists.shape[1]):
        s, h, _, _ = advance(twists[:, k], s, h, sites, k)
    return s, h


def advance(
    z: FloatArray, s: FloatArray, h: FloatArray, sites: Sites, k: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """s and h after factor k, and the parts of both that were carried through the factor."""
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
