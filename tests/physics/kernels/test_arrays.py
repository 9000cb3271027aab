"""Kernels read and write arrays like NumPy, with fewer instructions than Numba, and check their bounds."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physics.kernels.compiler import jit

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(jit.LINKING is None, reason="kernels are compiled as Numba does it")

# Reads and writes outside an array, in a child process with checks.
OUTSIDE = """
import sys
import numpy as np
from physics.kernels.compiler.jit import compiled
def reach(a, i):
    a[i, 1] = 1.0
    return a[i][0] + a[i, :1][0] + a[0, i]
print(compiled(reach)(np.zeros((4, 4)), int(sys.argv[1])))
"""


def elements(a, b, c, i, j, k):  # type: ignore[no-untyped-def]
    """Elements at compile-time and run-time indices."""
    c[i, j, k] = a[i] + b[i, j] + c[i, j, 0]
    a[1] = b[-1, j] + a[-2] + c[-1, -1, k]
    b[i, -1] = a[i]
    return a[0] + b[j, 0] + c[k, i, -3] + len(a) + b.shape[1] + c.size + b.strides[0]


def rows(b, c, i, j):  # type: ignore[no-untyped-def]
    """Views of rows, written through."""
    row, layer = b[i], c[j]
    row[0] += 1.0
    layer[i, 0] = row[1]
    c[j, i][1] = 7.0
    return layer.shape[0] * 100 + row.shape[0] + row.size + layer.strides[0] + layer[-1, -1]


def piece(a, b, i, start, stop):  # type: ignore[no-untyped-def]
    """Views of slices with arbitrary ends."""
    total = 0.0
    parts = a[start:stop], a[:stop], a[start:], b[i, start:stop], b[i, :stop]
    for n in range(5):
        part = parts[n]
        for k in range(part.shape[0]):
            total = 2.0 * total + part[k]
            part[k] += 1.0
    return total


ELEMENTS, ROWS, PIECE = (jit.compiled(each) for each in (elements, rows, piece))


def arrays(kind: type, shapes: tuple[tuple[int, ...], ...]) -> list[Any]:
    """Arrays of different numbers."""
    return [np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(kind) for shape in shapes]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32])
def test_elements_are_those_of_numpy(kind: type) -> None:
    for place in ((0, 0, 0), (1, 2, 1), (2, 1, 2)):
        mine, plain = (arrays(kind, ((3,), (3, 4), (3, 3, 3))) for _ in range(2))
        assert ELEMENTS(*mine, *place) == elements(*plain, *place)
        for ours, theirs in zip(mine, plain):
            assert np.array_equal(ours, theirs)


def test_rows_are_views() -> None:
    for place in ((0, 0), (1, 2), (2, 1)):
        mine, plain = (arrays(np.float64, ((3, 4), (3, 3, 5))) for _ in range(2))
        assert ROWS(*mine, *place) == rows(*plain, *place)
        for ours, theirs in zip(mine, plain):
            assert np.array_equal(ours, theirs)


@settings(deadline=None)  # the first one compiles
@given(start=st.integers(-9, 9), stop=st.integers(-9, 9), i=st.integers(0, 2))
def test_pieces_end_where_those_of_numpy_do(start: int, stop: int, i: int) -> None:
    mine, plain = (arrays(np.float64, ((5,), (3, 5))) for _ in range(2))
    assert PIECE(*mine, i, start, stop) == piece(*plain, i, start, stop)
    for ours, theirs in zip(mine, plain):
        assert np.array_equal(ours, theirs)


def test_arrays_in_another_order_are_left_to_numba() -> None:
    a, b, c = arrays(np.float64, ((6,), (6, 8), (6, 6, 6)))
    mine = [a[::2].copy(), np.asfortranarray(b[::2, ::2]), c[::2, ::2, ::2].copy()]
    plain = [each.copy(order="K") for each in mine]
    assert ELEMENTS(*mine, 1, 2, 0) == elements(*plain, 1, 2, 0)
    for ours, theirs in zip(mine, plain):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("call", [lambda a: a.sum(), lambda a: np.dot(a, a), lambda a: 2.0 in a])
def test_functions_that_are_no_kernels_get_no_arrays(call: Any) -> None:
    """They would misread the arguments."""
    with pytest.raises(Exception, match="kernels hand over arrays to kernels alone"):
        jit.compiled(call)(np.arange(5.0))


def test_kernels_are_called_by_kernels_alone() -> None:
    numba = pytest.importorskip("numba")
    from physics.kernels.stepping.rollout import copy

    def call(a):  # type: ignore[no-untyped-def]
        copy(a, a)

    with pytest.raises(numba.core.errors.TypingError, match="copy is for kernels"):
        numba.njit(call)(np.arange(5.0))
    jit.compiled(call)(np.arange(5.0))


def checked(program: str, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CONDYLE_CHECKED": "1", "CONDYLE_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def test_kernels_that_look_end_the_process_at_a_place_outside(tmp_path: Path) -> None:
    assert checked(OUTSIDE, tmp_path, "3").stdout.strip() == "0.0"
    for place in ("4", "-1"):  # only a literal counts from the end
        assert checked(OUTSIDE, tmp_path, place).returncode != 0
