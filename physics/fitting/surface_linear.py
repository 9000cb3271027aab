"""Splines of six separate numbers through scattered data: the naive fit, and how well data determine a net."""

import numpy as np

from .._typing import FloatArray
from .surface_net import Net, Sites
from .surface_system import Problem


def gram(net: Net, sites: Sites, weights: FloatArray, derivative: int = 0) -> FloatArray:
    """Sum over the points of weight times products of the bases, or of one of their derivatives (m, m)."""
    size = int(np.prod(net.shape))
    result = np.zeros((size, size))
    for points in sites.by_cell():
        bases = sites.bases[points, derivative]
        places = sites.index[points[0]]
        result[np.ix_(places, places)] += bases.T @ (weights[points, None] * bases)
    return result


def coverage(net: Net, q: FloatArray, weights: FloatArray) -> float:
    """How well poses at q (N, n) determine a net: from 0 (a control value is free) to about 1 (dense and even poses).

    The least ratio, over all splines of the net, of the mean square at the poses to the mean square over the range.
    """
    points, inner_weights = net.quadrature()
    mass = gram(net, net.sites(points), inner_weights / inner_weights.sum())
    seen = gram(net, net.sites(q), weights / weights.sum())
    inverse = np.linalg.inv(np.linalg.cholesky(mass))
    return max(0.0, float(np.linalg.eigvalsh(inverse @ seen @ inverse.T)[0]))


def separate_splines(problem: Problem, q: FloatArray, numbers: FloatArray) -> FloatArray:
    """Control values (m, 6) of splines fitted to numbers (N, 6) at q (N, n) by least squares, separately.

    Smoothed as by `Problem`, but with the second derivatives of each number.
    """
    net = problem.net
    sites = net.sites(q)
    matrix = gram(net, sites, problem.data_weights)
    whole = net.jets(np.zeros((len(matrix), 6)), sites)[:, 0]  # whole turns of closed directions
    right = np.zeros((len(matrix), 6))
    np.add.at(
        right,
        sites.index,
        sites.bases[:, 0, :, None] * (problem.data_weights[:, None] * (numbers - whole))[:, None],
    )
    if problem.smoothing > 0.0:
        still = net.jets(np.zeros((len(matrix), 6)), problem.inner)
        for k in range(len(net.second_pairs)):
            j = 1 + len(net.knots) + k
            weights = problem.smoothing * problem.inner_weights[:, k]
            matrix += gram(net, problem.inner, weights, j)
            bases = problem.inner.bases[:, j, :, None] * weights[:, None, None]
            np.add.at(right, problem.inner.index, -bases * still[:, None, j])
    return np.linalg.solve(matrix, right)
