"""Runs a sweep in a process of its own, which a huge allocation or a hang cannot take along."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def any_seed(request: Any) -> int:
    """The seed asked for, else another one each time."""
    return int(request.config.getoption("--fuzz-seed")) or int.from_bytes(os.urandom(4), "big")


def swept(module: str, seed: int, seconds: float) -> dict[str, Any]:
    """The outcome of a sweep."""
    print(f"seed {seed}")  # shown if the test fails
    command = [sys.executable, "-m", f"tests.fuzz.{module}", str(seed), str(seconds)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=seconds + 1200)
    assert done.returncode == 0, done.stderr[-3000:]
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome
