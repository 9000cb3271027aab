"""The block-banded solver against dense least squares."""

import numpy as np
import pytest

from physics.fitting.banded import BlockBandedSystem


def make_system(num_blocks, width, cyclic, rows=60, seed=0):
    """A system from random rows, and the same rows as a dense matrix and right-hand side."""
    rng = np.random.default_rng(seed)
    # rows over every window of neighbours, so that each block is fixed
    last = num_blocks if cyclic else num_blocks - width + 1
    first = np.arange(rows) % last
    index = (first[:, None] + np.arange(width)) % num_blocks
    blocks, residual = rng.normal(size=(rows, width, 6, 6)), rng.normal(size=(rows, 6))
    system = BlockBandedSystem(num_blocks, width, cyclic)
    system.add_rows(index, blocks, residual)
    matrix = np.zeros((rows, 6, num_blocks, 6))
    for a in range(width):
        for n in range(rows):
            matrix[n, :, index[n, a], :] += blocks[n, a]
    return system, matrix.reshape(6 * rows, 6 * num_blocks), residual.ravel()


SIZES = [(4, 4, False), (9, 4, False), (34, 6, False), (9, 2, False)]
SIZES += [(4, 4, True), (5, 4, True), (9, 4, True), (10, 4, True), (34, 4, True), (34, 6, True), (7, 6, True)]


@pytest.mark.parametrize(("num_blocks", "width", "cyclic"), SIZES)
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_solution_is_that_of_the_dense_system(num_blocks, width, cyclic, damping):
    system, matrix, residual = make_system(num_blocks, width, cyclic)
    normal = matrix.T @ matrix + damping * np.eye(6 * num_blocks)
    expected = np.linalg.solve(normal, matrix.T @ residual)
    # the normal equations' condition, up to 1e5 here, multiplies round-off
    np.testing.assert_allclose(system.solve(damping).ravel(), expected, atol=1e-10)


@pytest.mark.parametrize(("num_blocks", "width", "cyclic"), SIZES)
def test_mean_of_the_diagonal(num_blocks, width, cyclic):
    system, matrix, _ = make_system(num_blocks, width, cyclic)
    assert system.diagonal() == pytest.approx(np.trace(matrix.T @ matrix) / (6 * num_blocks))


def test_solving_twice_gives_the_same():
    system, _, _ = make_system(20, 4, True)
    np.testing.assert_array_equal(system.solve(0.1), system.solve(0.1))


@pytest.mark.parametrize(("num_blocks", "cyclic"), [(9, False), (20, True), (6, True)])
def test_a_frame_without_data_needs_damping(num_blocks, cyclic):
    system = BlockBandedSystem(num_blocks, 4, cyclic)
    system.add_rows(np.array([[0, 1, 2, 3]]), np.ones((1, 4, 6, 6)), np.ones((1, 6)))
    with pytest.raises(np.linalg.LinAlgError):
        system.solve(0.0)
    assert np.isfinite(system.solve(1e-3)).all()


def test_storage_grows_with_the_number_of_blocks_only():
    assert BlockBandedSystem(2000, 4, True).band.size == 2000 * 4 * 36
