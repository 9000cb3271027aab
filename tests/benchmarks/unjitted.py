"""The same simulation with and without numba: the cost of the zip without wheels."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

import physics as ph

from . import chains

ROOT = Path(__file__).parents[2]
STEPS = {True: 20000, False: 200}  # enough to time, jitted and not
TIMES = 3

#: simulated models by name
MODELS = {
    "spline_1": partial(chains.spline, 1),
    "revolute_1": partial(chains.revolute, 1),
    "revolute_10": partial(chains.revolute, 10),
}


def seconds(jitted: bool) -> dict[str, float]:
    """Least time of a step of each model [s], in a child process."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0" if jitted else "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.benchmarks.unjitted", str(STEPS[jitted])]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(steps: int) -> dict[str, float]:
    """The same in this process."""
    found = {}
    for name, make in MODELS.items():
        model = make()
        start = model.state(
            q=chains.middle(model) if name.startswith("spline") else chains.bend(model.num_coordinates)
        )
        run = partial(ph.simulate, model, start, dt=chains.STEP, record_interval=steps * chains.STEP)
        run(duration=2 * chains.STEP, record_interval=chains.STEP)  # compiles
        taken = np.empty(TIMES)
        for turn in range(TIMES):
            began = perf_counter()
            run(duration=steps * chains.STEP)
            taken[turn] = perf_counter() - began
        found[name] = float(taken.min()) / steps
    return found


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
