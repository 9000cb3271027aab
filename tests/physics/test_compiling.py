"""All kernels are compiled ahead, each process beginning elsewhere."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import physics as ph
from physics.cli import main
from physics.compiling import compile_ahead, order
from physics.kernels.compiler import jit
from physics.worker.stages import STAGES
from tests.benchmarks import compile_time

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("muscles", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_process_takes_every_stage_and_begins_elsewhere(count, muscles):
    orders = [order(index, count, muscles) for index in range(count)]
    assert len({names[0] for names in orders}) == count
    for names in orders:
        assert len(set(names)) == len(names) and set(names) <= set(STAGES)
    assert set(orders[0]) == set(STAGES) or not muscles
    assert not any("muscles" in name for name in orders[0]) or muscles


def test_what_cannot_be_done_is_told(monkeypatch, capsys):
    assert main(["compile", "--processes", "0"]) == 2
    assert "processes must be at least 1, got 0" in capsys.readouterr().err
    monkeypatch.setattr(jit, "JITTED", False)
    with pytest.raises(ph.ModelError, match="nothing to compile"):
        compile_ahead()
    monkeypatch.setattr(jit, "JITTED", True)
    monkeypatch.setattr(jit, "CACHE_BASE", None)
    with pytest.raises(ph.ModelError, match="cannot be stored"):
        compile_ahead()


@pytest.mark.slow
@pytest.mark.skipif(jit.LINKING is None, reason="kernels are not compiled, or as Numba does it")
def test_nothing_is_left_to_compile_and_no_kernel_takes_an_element_outside_of_its_arrays(monkeypatch):
    """All is compiled once, and all stages walked, by kernels that end the process where they look outside."""
    monkeypatch.setenv("CONDYLE_CHECKED", "1")
    command = [sys.executable, "-m", "physics", "compile", "--processes"]
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"CONDYLE_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
        subprocess.run([*command, "2", "--no-muscles"], cwd=ROOT, env=environment, check=True)
        assert not compile_time.child(compile_time.EVERYTHING, cache)["kernels"]
        subprocess.run([*command, "1"], cwd=ROOT, env=environment, check=True)
