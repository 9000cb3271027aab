"""Random mechanisms through all methods: finite results or documented errors, soon and in little memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("CONDYLE_FUZZ_SECONDS", "20"))


def run(seed: int, seconds: float, *options: str) -> dict:
    print(f"seed {seed}")  # shown if the test fails
    command = [sys.executable, "-m", "tests.fuzz.mechanism_sweep", str(seed), str(seconds), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds + 1200)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.slow
def test_random_mechanisms_go_through_all_methods():
    """Another seed each time; CONDYLE_FUZZ_SECONDS=500 for a long search."""
    outcome = run(int.from_bytes(os.urandom(4), "big"), SECONDS)
    assert outcome["faults"] == []
    assert outcome["runs"] > 0
