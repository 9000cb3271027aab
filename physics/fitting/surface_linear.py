"""Splines of six separate numbers through scattered data: the naive fit, and how well data fix a net at all."""

from __future__ import annotations

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
    """Least share of a spline's mean square over the range that poses at q (N, n) see, over all splines of the net.

    1 where they are dense and even, 0 where they leave some control value free.
    """
    points, inner_weights = net.quadrature()
    mass = gram(net, net.sites(points), inner_weights / inner_weights.sum())
    seen = gram(net, net.sites(q), weights / weights.sum())
    inverse = np.linalg.inv(np.linalg.cholesky(mass))
    return max(0.0, float(np.linalg.eigvalsh(inverse @ seen @ inverse.T)[0]))


def separate_splines(problem: Problem, q: FloatArray, numbers: FloatArray) -> FloatArray:
    """Control values (m, 6) whose splines pass numbers (N, 6) at q (N, n), each number for itself, by least squares.

    Smoothed as `Problem` says, but for the second derivatives of each number.
    """
    net = problem.net
    sites = net.sites(q)
    matrix = gram(net, sites, problem.data_weights)
    whole = net.jets(np.zeros((len(matrix), 6)), sites)[:, 0]  # what whole turns of closed directions bring
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
    result: FloatArray = np.linalg.solve(matrix, right)
    return result
