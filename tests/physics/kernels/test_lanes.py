"""Operations on vector registers match those on three numbers, and ignore the fourth."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physics.kernels.algebra import lanes
from physics.kernels.compiler import jit

from .test_arrays import checked

pytestmark = pytest.mark.skipif(jit.LINKING is None, reason="kernels are compiled as Numba does it")

ROOM = 4  # numbers of a vector in an array; the last is padding
ROWS = 21  # of results
SERIES = 1.0, -0.5, 0.25, -0.125, 0.0625, -0.03125, 0.015625


def everything(x, row, factor, out):  # type: ignore[no-untyped-def]
    """Every operation, each result in a row of out."""
    a, b = lanes.load_lanes(x, row, 0), lanes.load_lanes(x, row, 4)
    c, d = lanes.load_lanes(x, row, 8), lanes.flat_lanes(x[row], 12)
    lanes.store_lanes(out, 0, 0, lanes.scale_lanes(factor, a))
    lanes.store_lanes(out, 1, 0, lanes.add_lanes(a, b))
    lanes.store_lanes(out, 2, 0, lanes.scale_add_lanes(a, factor, b))
    lanes.store_lanes(out, 3, 0, lanes.cross_lanes(a, b))
    lanes.store_lanes(out, 4, 0, lanes.lanes_of((out[0, 1], out[1, 2], out[2, 0])))
    n = lanes.numbers_of(d)
    lanes.store_lanes(out, 5, 0, lanes.columns_times((a, b, c), n))
    p = lanes.screwed_pair(a, b, d)
    lanes.store_pair(out, 6, 0, lanes.bracket_pair(p, (c, d)))
    lanes.store_pair(
        out, 7, 0, lanes.scale_add_pair(lanes.load_pair(x, row, 0), factor, lanes.add_pair(p, (b, c)))
    )
    turned = lanes.turned_columns(lanes.axes_of(lanes.rotation_of((a, b, c))), n[0], n[1])
    product = lanes.columns_product(turned, lanes.rotation_of((b, c, d)))
    for k in range(3):
        lanes.store_lanes(out, 8 + k, 0, product[k])
    lanes.store_pair(out, 11, 0, lanes.scale_pair(factor, lanes.pair_of(lanes.twist_of(p))))
    lanes.store_pair(out, 12, 0, (lanes.times_lanes(a, b), lanes.cross_sum(a, b, c, d)))
    skew, transposed, diagonal = lanes.skew_columns(a), lanes.skew_rows(a), lanes.diagonal_columns(factor)
    for k in range(3):
        lanes.store_pair(out, 13 + k, 0, (skew[k], transposed[k]))
        lanes.store_lanes(out, 16 + k, 0, diagonal[k])
    lanes.store_lanes(out, 19, 0, lanes.add_columns_times(d, (a, b, c), n))
    flat = lanes.flat_from(x, row)
    lanes.store_lanes(
        out, 20, 0, lanes.series_lanes(lanes.scale_lanes(0.1, lanes.flat_lanes(flat, 4)), SERIES)
    )
    return lanes.dot_lanes(a, b, c, d) + lanes.dot_pair((a, b), (d, c))


def by_numpy(x: Any, row: int, factor: float, out: Any) -> float:
    """The results of `everything` by NumPy."""
    a, b, c, d = x[row].reshape(4, ROOM)[:, :3]
    results = out.reshape(ROWS, 2, ROOM)[..., :3]
    matrix = np.stack([a, b, c], axis=1)
    results[:4, 0] = factor * a, a + b, a + factor * b, np.cross(a, b)
    results[4, 0] = results[0, 0, 1], results[1, 0, 2], results[2, 0, 0]
    results[5, 0] = matrix @ d
    motion = b + np.cross(d, a)
    results[6] = np.cross(a, c), np.cross(a, d) + np.cross(motion, c)
    results[7] = a + factor * (a + b), b + factor * (motion + c)
    turned = np.stack([d[1] * a + d[0] * b, d[1] * b - d[0] * a, c], axis=1)
    results[8:11, 0] = (turned @ np.stack([b, c, d], axis=1)).T
    results[11] = factor * a, factor * motion
    results[12] = a * b, np.cross(a, b) + np.cross(c, d)
    skew = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
    results[13:16, 0], results[13:16, 1] = skew.T, skew
    results[16:19, 0] = factor * np.eye(3)
    results[19, 0] = d + matrix @ d
    results[20, 0] = np.polynomial.polynomial.polyval(0.1 * b, SERIES)
    return float(a @ b + c @ d + a @ d + b @ c)


EVERYTHING = jit.compiled(everything)


@settings(deadline=None)  # the first one compiles
@given(st.integers(0, 2**32 - 1), st.floats(-10.0, 10.0), st.integers(0, 2))
def test_operations_are_those_on_three_numbers(seed: int, factor: float, row: int) -> None:
    x = np.random.default_rng(seed).normal(size=(3, 4 * ROOM))
    x[:, 3::ROOM] = np.nan  # padding
    mine, plain = np.zeros((2, ROWS, 2 * ROOM))
    dots = EVERYTHING(x, row, factor, mine), by_numpy(x, row, factor, plain)
    used = np.arange(2 * ROOM) % ROOM < 3
    # products that are fused with sums round once less, in sums of a few terms
    scale = 1.0 + abs(factor)
    assert np.abs(mine - plain)[:, used].max() < 1e-12 * scale
    assert abs(dots[0] - dots[1]) < 1e-13


def test_arrays_in_another_order_are_refused() -> None:
    with pytest.raises(Exception, match="lanes lie in arrays of numbers in C order"):
        EVERYTHING(np.zeros((16, 3)).T, 0, 1.0, np.zeros((12, 8)))


# A vector at the end of a row, and one that extends beyond it, in a child process with checks.
OUTSIDE = """
import sys
import numpy as np
from physics.kernels.algebra import lanes
from physics.kernels.compiler.jit import compiled
def reach(a, i):
    return lanes.numbers_of(lanes.load_lanes(a, 1, i))[0]
print(compiled(reach)(np.zeros((2, 8)), int(sys.argv[1])))
"""


def test_kernels_that_look_end_the_process_at_a_vector_outside(tmp_path: Path) -> None:
    found: list[subprocess.CompletedProcess[str]] = [
        checked(OUTSIDE, tmp_path, place) for place in ("4", "5")
    ]
    assert found[0].stdout.strip() == "0.0" and found[1].returncode != 0
