"""Seconds until a fresh process has simulated, with an empty and with a filled cache of kernels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

# Runs in a child process. The first simulation compiles what a simulation needs: rollout, energy, poses.
PROGRAM = """
import json, sys, time
start, busy = time.perf_counter(), time.process_time()
import physics as ph
from tests.verification.generators import spline_curve
import numpy as np
imported = time.perf_counter()
builder = ph.ModelBuilder()
builder.add_body("body", joint=spline_curve(np.random.default_rng(0)), mass=1.0, inertia=0.01 * np.eye(3))
model = builder.build()
ph.simulate(model, model.state(q=[0.5 * sum(model.joints[0].range[0])]), duration=0.1).energy
simulated, busy = time.perf_counter(), time.process_time() - busy
kernels = {}
for name, module in sorted(sys.modules.items()):
    if name.startswith("physics.kernels"):
        for kernel in vars(module).values():
            for made in (kernel, getattr(kernel, "entry", None)):  # for other kernels, and for Python
                for compiled in getattr(made, "overloads", {}).values():
                    timers = (compiled.metadata or {}).get("timers", {})
                    if kernel.__module__ == name and timers:
                        kernels[f"{name.split('.')[-1]}.{kernel.__name__}"] = timers["compiler_lock"]
times = {"import": imported - start, "total": simulated - start, "processor": busy}
print(json.dumps(times | {"kernels": kernels}))
"""


def first_simulation(cache: str) -> dict[str, Any]:
    """Seconds of one child process: import, total, processor time, and compilation by kernel."""
    environment = os.environ | {"CONDYLE_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
    completed = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return dict(json.loads(completed.stdout.splitlines()[-1]))


def cold_and_warm() -> tuple[dict[str, Any], dict[str, Any]]:
    """The same first simulation with an empty cache folder, then with the cache that it left."""
    with tempfile.TemporaryDirectory(prefix="condyle-cache-") as cache:
        return first_simulation(cache), first_simulation(cache)
