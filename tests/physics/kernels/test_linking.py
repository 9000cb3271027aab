"""Kernels that call each other are compiled once, cached on disk, and loaded together."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from physics.kernels.compiler import jit, sources
from physics.kernels.compiler.interrupts import Uninterrupted

ROOT = Path(__file__).parents[3]
KEPT = pytest.mark.skipif(jit.LINKING is None, reason="kernels are not linked by name")

# A limit of one coordinate, as a row and as potential energy: the second kernel calls the first.
PROGRAM = """
import json, sys
import numpy as np
from physics.kernels import layout
from physics.kernels.forces import limits
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


def test_hashes_cover_what_compiles_kernels() -> None:
    """Otherwise the cache would survive edits of the compiler, which kernels do not import."""
    compiling = {f"compiler.{path.stem}" for path in (sources.FOLDER / "compiler").glob("[!_]*.py")}
    assert "compiler.vectors" in compiling and compiling <= sources._imported("dynamics.aba")


def imported_by(path: Path) -> set[str]:
    """Modules of the kernels that a file imports, by Python's own parser."""
    package = path.relative_to(sources.FOLDER).parent.parts
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(package) + 1:
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            joined = ".".join(filter(None, base))
            names |= {joined, *(f"{joined}.{alias.name}".lstrip(".") for alias in node.names)}
    return {name for name in names if sources._file(name) is not None}


def test_hashes_see_every_import() -> None:
    paths = [path for path in sources.FOLDER.rglob("*.py") if path.name != "__init__.py"]
    assert len(paths) > 100
    for path in paths:
        module = ".".join(path.relative_to(sources.FOLDER).with_suffix("").parts)
        assert sources._source(module)[1] == imported_by(path), module


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from .. import layout as at", {"layout"}),
        ("from . import path, strand", {"muscles.path", "muscles.strand"}),
        ("from .path import (\n    this,\n    that,\n)", {"muscles.path"}),
        ("def f():\n    from ..algebra.lu import solve", {"algebra.lu"}),
        ("from physics.kernels.algebra import lu", {"algebra.lu"}),
        ("import physics.kernels.algebra.lu as lu", {"algebra.lu"}),
        ("from ...validation import check", set()),
        ("import numpy", set()),
    ],
)
def test_forms_of_imports(text: str, expected: set[str]) -> None:
    found = set(sources._candidates(text, "muscles.mass"))
    assert {name for name in found if sources._file(name) is not None} == expected


@pytest.mark.skipif(jit.LINKING is None, reason="kernels are compiled as Numba does it")
def test_an_entry_is_not_called_by_kernels() -> None:
    """It would silently be compiled a second time."""
    from numba.core.errors import TypingError

    from physics.kernels.dynamics.crba import mass_matrix

    with pytest.raises(TypingError, match="mass_matrix is an entry"):
        mass_matrix.get_call_template((), {})  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The folder and the results of a first process."""
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
    """Its files are newer, which some versions of Numba take for another source."""
    root = tmp_path / "installed"
    shutil.copytree(ROOT / "physics", root / "physics", ignore=shutil.ignore_patterns("__pycache__"))
    assert child(tmp_path / "cache", root=root)["limit_value"] == [0, 1]
    for path in root.rglob("*.py"):
        os.utime(path, (1e9, 1e9))
    assert child(tmp_path / "cache", root=root)["limit_value"] == [1, 0]
    root = root.rename(tmp_path / "elsewhere")
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


@KEPT
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_damaged_files_are_compiled_again(kept: Path, kind: str) -> None:
    """A changed bit anywhere, a file cut short and an empty one; the next process finds all whole."""
    paths = sorted(kept.rglob(f"limits.limit_value-*.{kind}"))
    assert len(paths) == 1
    whole = paths[0].read_bytes()
    places = range(0, len(whole), len(whole) // 3)
    damaged = [whole[:k] + bytes([whole[k] ^ 4]) + whole[k + 1 :] for k in places]
    for data in (b"", whole[:-9], *damaged):
        paths[0].write_bytes(data)
        with pytest.raises(OSError, match="is damaged"):
            jit.LINKING.keeping._content(str(paths[0]))
    assert child(kept) == {"energy": 1.0, "limit_value": [0, 1], "limit_potential": [1, 0]}
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


def test_an_interrupt_waits_until_the_code_is_whole():
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    done = []
    try:
        with pytest.raises(KeyboardInterrupt), Uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("whole")
        assert done == ["whole"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@KEPT
@pytest.mark.parametrize(("largest", "left"), [(1 << 29, {"new", "older"}), (5000, {"new"})])
def test_unused_kernels_are_removed_by_age_and_size(tmp_path, monkeypatch, largest, left):
    keeping = jit.LINKING.keeping
    monkeypatch.setattr(keeping, "LARGEST", largest)
    base, now = tmp_path / f"{keeping.BASE}physics", time.time()
    ages = {"new": 0.0, "older": 2.0 * keeping.NOTED, "oldest": 2.0 * keeping.LONGEST}
    for name, age in ages.items():
        file = base / name / "within" / "kernel.nbc"
        file.parent.mkdir(parents=True)
        file.write_bytes(bytes(4000))
        os.utime(base / name, (now - age, now - age))
    keeping.prune(base)
    assert {each.name for each in base.iterdir()} == left


@KEPT
def test_a_use_is_noted_once_a_day(tmp_path):
    keeping = jit.LINKING.keeping
    version = tmp_path / f"{keeping.BASE}physics" / "aba-0-shared"
    (version / "within").mkdir(parents=True)
    for age, noted in ((0.5 * keeping.NOTED, False), (2.0 * keeping.NOTED, True)):
        before = time.time() - age
        os.utime(version, (before, before))
        keeping.note_use(version / "within")
        assert (version.stat().st_mtime > before + 0.1 * keeping.NOTED) == noted
