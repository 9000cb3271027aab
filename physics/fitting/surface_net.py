"""Tensor-product bases at scattered points: the contribution of each control value of a surface joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from .._typing import FloatArray, IntArray
from ..geometry import splines


@dataclass(frozen=True, eq=False)
class Sites:
    """Bases at N points.

    Attributes:
        index: indices of the control values that act at each point, in C order of the net (N, K).
        bases: value, n first and n (n + 1) / 2 second derivatives of their bases, as far as requested (N, J, K).
        turns: periods by which a control value is shifted into the next turn of a closed direction (N, K, n).
        cell: index of the knot cell of each point (N,): points of one cell share their index.
    """

    index: IntArray
    bases: FloatArray
    turns: FloatArray
    cell: IntArray

    def part(self, points: IntArray) -> Sites:
        """The sites of some points."""
        return Sites(self.index[points], self.bases[points], self.turns[points], self.cell[points])

    def by_cell(self) -> list[IntArray]:
        """Indices of the points in each knot cell that is not empty."""
        order = np.argsort(self.cell, kind="stable")
        return np.split(order, np.nonzero(np.diff(self.cell[order]))[0] + 1)


@dataclass(frozen=True, eq=False)
class Net:
    """Knots of a surface's directions, each (m_i + order_i,), and which directions are closed.

    `winding` (n, 3): whole turns of the angles along one period of each direction [rad].
    """

    knots: tuple[FloatArray, ...]
    orders: tuple[int, ...]
    periodic: tuple[bool, ...]
    winding: FloatArray

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(knots) - order for knots, order in zip(self.knots, self.orders))

    @cached_property
    def domain(self) -> FloatArray:
        """First and last value of each direction (n, 2), or one period of a closed one."""
        ends = [
            (knots[order - 1], knots[-1] if closed else knots[len(knots) - order])
            for knots, order, closed in zip(self.knots, self.orders, self.periodic)
        ]
        return np.array(ends)

    @property
    def extent(self) -> FloatArray:
        return self.domain[:, 1] - self.domain[:, 0]

    @cached_property
    def second_pairs(self) -> tuple[tuple[int, int], ...]:
        """Directions of each second derivative, in the order of `Sites.bases`."""
        return tuple(combinations_with_replacement(range(len(self.knots)), 2))

    @cached_property
    def _pieces(self) -> list[tuple[FloatArray, IntArray, FloatArray]]:
        """For each direction the ends of its knot spans, the first control value of each span, and its bases.

        The bases are polynomials (spans, k, k) by rising powers of the share of the span.
        """
        result = []
        for knots, order, closed in zip(self.knots, self.orders, self.periodic):
            unrolled = splines.unrolled_knots(knots, order) if closed else knots
            breaks, first, cumulative = splines.span_polynomials(unrolled, order, len(unrolled) - order)
            ends = np.zeros((len(first), 1, order))
            one = ends.copy()
            one[:, 0, 0] = 1.0
            result.append((breaks, first, -np.diff(np.concatenate([one, cumulative, ends], axis=1), axis=1)))
        return result

    def inside(self, q: FloatArray) -> FloatArray:
        """Points (N, n) moved into the range: by whole periods, or to the nearest end."""
        lower, upper = self.domain.T
        turned = lower + np.mod(q - lower, upper - lower)
        return np.where(self.periodic, turned, np.clip(q, lower, upper))

    def sites(self, q: FloatArray, derivatives: int = 0) -> Sites:
        """Bases at points (N, n) of the range, with their derivatives up to the given order (0, 1 or 2)."""
        n, count = len(self.knots), len(q)
        tables, firsts, cells = [], [], np.zeros(count, dtype=np.int64)
        for i, (breaks, first, pieces) in enumerate(self._pieces):
            spans = np.clip(np.searchsorted(breaks, q[:, i], side="right") - 1, 0, len(first) - 1)
            scale = 1.0 / np.diff(breaks)[spans]
            x = (q[:, i] - breaks[spans]) * scale
            tables.append([_polynomials(pieces[spans], x, scale, d) for d in range(derivatives + 1)])
            firsts.append(first[spans, None] + np.arange(self.orders[i]))
            cells = cells * len(first) + spans
        index = np.zeros((count, 1), dtype=np.int64)
        turns = np.zeros((count, 1, n))
        for i, local in enumerate(firsts):
            index = (index[:, :, None] * self.shape[i] + (local % self.shape[i])[:, None, :]).reshape(
                count, -1
            )
            over = np.zeros((count, 1, local.shape[1], n))
            over[..., i] = (local // self.shape[i])[:, None, :]
            turns = (turns[:, :, None, :] + over).reshape(count, -1, n)
        wanted: list[tuple[int, ...]] = [()]
        wanted += [(i,) for i in range(n)] if derivatives > 0 else []
        wanted += list(self.second_pairs) if derivatives > 1 else []
        bases = np.stack([self._product(tables, along) for along in wanted], axis=1)
        return Sites(index, bases, turns, cells)

    @staticmethod
    def _product(tables: list[list[FloatArray]], along: tuple[int, ...]) -> FloatArray:
        """Products (N, K) of the directions' bases, differentiated along the given directions."""
        result = np.ones((len(tables[0][0]), 1))
        for i, table in enumerate(tables):
            part = table[along.count(i)]
            result = (result[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        return result

    def jets(self, values: FloatArray, sites: Sites) -> FloatArray:
        """Value and derivatives (N, J, 6) of the six splines with control values (m, 6)."""
        around = values[sites.index]
        if any(self.periodic):
            around = around.copy()
            around[..., :3] += sites.turns @ self.winding
        return sites.bases @ around

    def quadrature(self) -> tuple[FloatArray, FloatArray]:
        """Gauss-Legendre points (Q, n) inside every knot cell and their weights (Q,), `order` points a direction.

        Exact for polynomials of the degree of the squared splines.
        """
        points, weights = np.zeros((1, 0)), np.ones(1)
        for (lower, upper), knots, order in zip(self.domain, self.knots, self.orders):
            breaks = np.unique(knots[(knots >= lower) & (knots <= upper)])
            x, w = _gauss_legendre(order)
            half = 0.5 * np.diff(breaks)[:, None]
            places = (0.5 * (breaks[:-1] + breaks[1:])[:, None] + half * x).ravel()
            points = np.concatenate(
                [np.repeat(points, len(places), axis=0), np.tile(places, len(points))[:, None]], axis=1
            )
            weights = np.outer(weights, (half * w).ravel()).ravel()
        return points, weights


def _polynomials(pieces: FloatArray, x: FloatArray, scale: FloatArray, derivative: int) -> FloatArray:
    """Values (N, k) at x of polynomials (N, k, k) by rising powers, or of a derivative by x / scale."""
    powers = np.arange(pieces.shape[-1], dtype=np.float64)
    for _ in range(derivative):
        pieces = pieces[..., 1:] * powers[1 : pieces.shape[-1]]
    result = np.zeros(pieces.shape[:-1])
    for k in range(pieces.shape[-1] - 1, -1, -1):
        result = result * x[:, None] + pieces[..., k]
    return result * scale[:, None] ** derivative


def _gauss_legendre(count: int) -> tuple[FloatArray, FloatArray]:
    """Points and weights on [-1, 1], from the eigenvectors of Legendre's recursion (Golub & Welsch 1969)."""
    k = np.arange(1.0, count)
    beside = k / np.sqrt(4.0 * k**2 - 1.0)
    points, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    return points, 2.0 * vectors[0] ** 2
