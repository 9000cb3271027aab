"""Damaged files, bad arguments, random mechanisms, scenes and sessions end well or in documented errors.

Each sweep goes on for ``--fuzz-seconds``, and begins with ``--fuzz-seed``; a failure names its seed.
"""

import importlib.util

import pytest

from tests.fuzz.sweeps import NAMES, swept

#: so many tries in 20 s at least, as `claims_reliability` says
LEAST = {"files": 50, "arguments": 50, "mechanisms": 5}


@pytest.mark.parametrize(("name", "seconds"), [("arguments", 4.0), ("files", 8.0)])
def test_a_short_sweep_finds_no_fault(name, seconds, request):
    option = request.config.getoption
    begun = option("--fuzz-seed") == 1 and option("--fuzz-seconds") >= seconds
    if option("--slow") and begun and importlib.util.find_spec("bpy"):
        pytest.skip("the long one begins with the same")
    if name == "files":  # among them lists of jobs
        pytest.importorskip("bpy")
    outcome = swept(name, seed=1, seconds=seconds)
    assert outcome["faults"] == []
    assert outcome["tried"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_sweep_finds_no_fault(name, request):
    pytest.importorskip("bpy")
    seed, seconds = int(request.config.getoption("--fuzz-seed")), request.config.getoption("--fuzz-seconds")
    outcome = swept(name, seed, seconds)
    print(outcome)
    assert outcome["faults"] == []
    assert outcome["tried"] >= LEAST.get(name, 1) * min(seconds / 20.0, 1.0)
    for group, (tried, refused) in outcome["groups"].items() if name == "files" else ():
        assert tried // 10 < refused < tried, group
