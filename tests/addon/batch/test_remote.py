"""A batch on a Dask cluster of several processes: the same animation, also where a worker is killed."""

import os
import signal
import time

import pytest

distributed = pytest.importorskip("distributed", reason="Dask is not among the add-on's packages")

from tests.verification import batch_kills  # noqa: E402  (absent where the add-on is installed)


@pytest.fixture
def machines(condyle, monkeypatch):
    if condyle.__name__ != "addon":
        pytest.skip("workers run the add-on as `python -m addon`")
    monkeypatch.setenv("PYTHONPATH", str(batch_kills.ROOT))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr(batch_kills, "SHOTS", 6)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made:
        yield made


def animations(folder):
    return {path.name: batch_kills._animation(path) for path in sorted(folder.glob("[!.]*.blend"))}


def test_a_killed_worker_loses_nothing(tmp_path, machines, monkeypatch):
    batch_kills._make_shots(tmp_path / "inputs")
    batch_kills._run(tmp_path, "here")
    expected = animations(tmp_path / "here")
    monkeypatch.setattr(batch_kills, "ON", ["--dask", machines.scheduler_address])
    process, out = batch_kills._start(tmp_path, "there"), tmp_path / "there"
    while not list(out.glob("[!.]*.blend")) and process.poll() is None:
        time.sleep(0.01)
    with distributed.Client(machines) as client:
        first = next(iter(client.run(os.getpid).values()))
    os.kill(first, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
    assert process.wait() == 0
    assert len(expected) == 6 and animations(out) == expected
    # of each shot an output and its record, and nothing besides
    assert len(list(out.iterdir())) == 12
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert batch_kills._start(tmp_path, "there").wait() == 0
    assert before == {path: path.stat().st_mtime_ns for path in out.iterdir()}
