"""Kernels that call each other are compiled once, kept on the disk, and found again together."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from physics.kernels import _jit

ROOT = Path(__file__).parents[3]
KEPT = pytest.mark.skipif(_jit.LINKING is None, reason="kernels are not linked by name")

# A limit of one coordinate, as a row and as potential energy: the second kernel calls the first.
PROGRAM = """
import json, sys
import numpy as np
from physics.kernels import layout, limits
data = np.zeros(layout.DATA_HEADER + layout.LIMIT_WIDTH)
data[layout.LIMIT_COUNT], data[layout.LIMIT_ROWS] = 1, layout.DATA_HEADER
row = data[layout.DATA_HEADER:]
row[layout.LIMIT_SPRING], row[layout.LIMIT_RESTITUTION], row[layout.LIMIT_PARAMETERS] = 8.0, -1.0, 0.5
q = np.zeros(1)
out = {"energy": limits.limit_potential(data, q)}
if "direct" in sys.argv:
    out["value"] = limits.limit_value(data, layout.DATA_HEADER, q)[0]
for kernel in (limits.limit_value, getattr(limits.limit_potential, "entry", limits.limit_potential)):
    stats = getattr(kernel, "stats", None)
    out[kernel.__name__] = stats and [sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]
print(json.dumps(out))
"""


def child(cache: Path, *arguments: str, root: Path = ROOT, **environment: str) -> dict[str, object]:
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=root,
        env=os.environ | {"CONDYLE_CACHE_DIR": str(cache)} | environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return dict(json.loads(completed.stdout))


def test_what_is_kept_goes_by_all_that_compiles_it() -> None:
    """Else an edited module that kernels are compiled by, but do not import, would be ignored by what is kept."""
    compiling = {path.stem for path in _jit.FOLDER.glob("_*.py")} - {"__init__"}
    assert "_lanes" in compiling and compiling <= _jit._imported("aba")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The folder that a first process left, and what it found."""
    folder = tmp_path_factory.mktemp("kept")
    return folder, child(folder)


@pytest.fixture
def kept(first: tuple[Path, dict[str, object]], tmp_path: Path) -> Path:
    """A copy of that folder."""
    return shutil.copytree(first[0], tmp_path / "kept")


@KEPT
def test_second_process_compiles_nothing(first: tuple[Path, dict[str, object]], kept: Path) -> None:
    assert first[1] == {"energy": 1.0, "limit_value": [0, 1], "limit_potential": [0, 1]}
    assert child(kept) == {"energy": 1.0, "limit_value": [1, 0], "limit_potential": [1, 0]}


@KEPT
def test_the_same_source_installed_again_compiles_nothing(tmp_path: Path) -> None:
    """Its files are younger then, which some Numbas take for another source."""
    root = tmp_path / "installed"
    shutil.copytree(ROOT / "physics", root / "physics", ignore=shutil.ignore_patterns("__pycache__"))
    assert child(tmp_path / "cache", root=root)["limit_value"] == [0, 1]
    for path in root.rglob("*.py"):
        os.utime(path, (1e9, 1e9))
    assert child(tmp_path / "cache", root=root)["limit_value"] == [1, 0]


@KEPT
def test_called_kernel_lost_from_the_cache_is_compiled_again(kept: Path) -> None:
    for lost in kept.rglob("limits.limit_value-*"):
        lost.unlink()
    assert child(kept) == {"energy": 1.0, "limit_value": [0, 1], "limit_potential": [1, 0]}


@KEPT
def test_called_kernel_found_in_the_cache_when_its_caller_is_compiled(kept: Path) -> None:
    for lost in kept.rglob("limits.limit_potential-*"):
        lost.unlink()
    assert child(kept) == {"energy": 1.0, "limit_value": [1, 0], "limit_potential": [0, 1]}
    assert child(kept) == {"energy": 1.0, "limit_value": [1, 0], "limit_potential": [1, 0]}


def test_python_may_call_what_kernels_call(tmp_path: Path) -> None:
    assert child(tmp_path, "direct")["value"] == -0.5


def test_without_numba_the_same_results(tmp_path: Path) -> None:
    assert child(tmp_path, "direct", CONDYLE_JIT="0") | {"limit_value": None, "limit_potential": None} == {
        "energy": 1.0,
        "value": -0.5,
        "limit_value": None,
        "limit_potential": None,
    }
