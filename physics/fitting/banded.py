"""Symmetric positive definite systems of 6 x 6 blocks that couple only neighbours, cyclic or not."""

import numpy as np

from .._typing import FloatArray, IntArray

#: blocks up to which one dense system is solved faster
SHORT = 32


class BlockBandedSystem:
    """Normal equations H x = g of m blocks where |i - j| < width; cyclic systems couple across the seam too.

    Beyond `SHORT` blocks cost and memory grow with m width^2, not with m^2.
    """

    def __init__(self, num_blocks: int, width: int, cyclic: bool) -> None:
        self.width = width
        self.cyclic = cyclic
        # the last width - 1 blocks of a cyclic system form a border; a short system is dense
        self.border = width - 1 if cyclic else 0
        self.num_blocks = num_blocks
        short = num_blocks <= max(SHORT, 3 * self.border)
        self.dense = np.zeros((num_blocks, num_blocks, 6, 6)) if short else None
        # band[j, d] is block (j, j + d), the second index modulo m if cyclic
        self.band = np.zeros((num_blocks, width, 6, 6))
        self.right = np.zeros((num_blocks, 6))

    def add_rows(self, index: IntArray, blocks: FloatArray, residual: FloatArray) -> None:
        """Add least-squares rows: blocks (n, width, rows, 6) act on the blocks with indices index (n, width), each one
        more than the one before, modulo m.
        """
        order = np.argsort(index[:, 0], kind="stable")
        rows, wide = blocks.shape[2], 6 * self.width
        flat = blocks[order].transpose(0, 2, 1, 3).reshape(-1, rows, wide)
        first = np.flatnonzero(np.diff(index[order, 0], prepend=-1))  # of those that act on the same blocks
        places = index[order[first]]
        products, sides = (
            np.add.reduceat(flat.transpose(0, 2, 1) @ right, first, axis=0)
            for right in (flat, residual[order, :, None])
        )
        self.add_products(places, products, sides[:, :, 0])

    def add_products(self, places: IntArray, products: FloatArray, sides: FloatArray) -> None:
        """Add products (n, 6 width, 6 width) to H and sides (n, 6 width) to g, of the blocks with indices places
        (n, width) as in `add_rows`, each row of indices once.
        """
        products = products.reshape(-1, self.width, 6, self.width, 6).swapaxes(2, 3)
        for a in range(self.width):
            self.right[places[:, a]] += sides[:, 6 * a : 6 * a + 6]
            for b in range(a if self.dense is None else 0, self.width):
                into, which = (self.band, b - a) if self.dense is None else (self.dense, places[:, b])
                into[places[:, a], which] += products[:, a, b]

    def diagonal(self) -> float:
        """Mean of the diagonal, the unit of damping."""
        blocks = (
            self.band[:, 0]
            if self.dense is None
            else self.dense[np.arange(self.num_blocks), np.arange(self.num_blocks)]
        )
        return float(np.trace(blocks, axis1=1, axis2=2).mean() / 6.0)

    def solve(self, damping: float) -> FloatArray:
        """x (m, 6) with (H + damping I) x = g; LinAlgError if the matrix is not positive definite."""
        return self.solve_columns(damping, self.right[:, :, None])[:, :, 0]

    def solve_columns(self, damping: float, right: FloatArray) -> FloatArray:
        """x (m, 6, columns) with (H + damping I) x = right, of the same shape; LinAlgError as `solve`."""
        m, columns = self.num_blocks, right.shape[2]
        if self.dense is not None:
            matrix = self.dense.transpose(0, 2, 1, 3).reshape(6 * m, 6 * m) + damping * np.eye(6 * m)
            np.linalg.cholesky(matrix)
            return np.linalg.solve(matrix, right.reshape(6 * m, columns)).reshape(right.shape)
        inner = m - self.border
        band = self.band[:inner].copy()
        band[:, 0] += damping * np.eye(6)
        edge = np.zeros((inner, 6, 6 * self.border))
        corner = np.zeros((self.border, 6, self.border, 6))
        self._split_border(edge, corner, damping)
        solved = _band_solve(band, self.width, np.concatenate([edge, right[:inner]], axis=2))
        if not self.border:
            return solved
        wide = 6 * self.border
        flat = edge.reshape(6 * inner, -1)
        by_edge, by_right = solved[:, :, :wide], solved[:, :, wide:]
        schur = corner.reshape(wide, -1) - flat.T @ by_edge.reshape(6 * inner, -1)
        rest = right[inner:].reshape(wide, columns) - flat.T @ by_right.reshape(6 * inner, columns)
        np.linalg.cholesky(0.5 * (schur + schur.T))
        last = np.linalg.solve(schur, rest)
        first = by_right - by_edge @ last
        return np.concatenate([first, last.reshape(-1, 6, columns)])

    def _split_border(self, edge: FloatArray, corner: FloatArray, damping: float) -> None:
        """Sort the blocks that touch the border of a cyclic system into its edge and its corner."""
        m, inner = self.num_blocks, self.num_blocks - self.border
        for j in range(m):
            for d in range(self.width):
                other = (j + d) % m if self.cyclic else j + d
                if other >= m or (j < inner and other < inner):
                    continue
                block = self.band[j, d]
                if j >= inner and other >= inner:
                    corner[j - inner, :, other - inner, :] += block
                    if d:
                        corner[other - inner, :, j - inner, :] += block.T
                elif j < inner:
                    edge[j, :, 6 * (other - inner) : 6 * (other - inner) + 6] += block
                else:
                    edge[other, :, 6 * (j - inner) : 6 * (j - inner) + 6] += block.T
        for b in range(self.border):
            corner[b, :, b, :] += damping * np.eye(6)


def _band_solve(band: FloatArray, width: int, right: FloatArray) -> FloatArray:
    """Solution for right (m, 6, columns) by block Cholesky of a band (m, width, 6, 6), which is overwritten."""
    m = len(band)
    right = right.copy()
    lower = np.zeros_like(band)  # lower[j, d] is the block (j + d, j) of the factor
    for j in range(m):
        reach = min(width, m - j)
        factor = np.linalg.cholesky(band[j, 0])
        lower[j, 0] = factor
        below = np.linalg.solve(factor, band[j, 1:reach]).transpose(0, 2, 1)
        lower[j, 1:reach] = below
        right[j] = np.linalg.solve(factor, right[j])
        for a in range(1, reach):
            right[j + a] -= below[a - 1] @ right[j]
            for b in range(a, reach):
                band[j + a, b - a] -= below[a - 1] @ below[b - 1].T
    for j in range(m - 1, -1, -1):
        for a in range(1, min(width, m - j)):
            right[j] -= lower[j, a].T @ right[j + a]
        right[j] = np.linalg.solve(lower[j, 0].T, right[j])
    return right
