"""Determinism: same input, same bits; and jitted code agrees with the same source run as plain Python."""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import physics as ph
from physics.integrators import stretches

from .claim import Measurement, Skipped, claim
from .claims_thrown import loose_linkage
from .generators import TREE_JOINTS, random_state, random_tree

DURATION, STEP = 0.4, 1e-3
METHODS = ("forward_euler", "symplectic_euler", "rk4")
ROOT = Path(__file__).parents[2]


def example(seed: int = 5) -> tuple[Any, Any]:
    """A tree with a joint of every type."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 2 * len(TREE_JOINTS))
    return model, random_state(model, rng, speed=0.5)


def run(integrator: str = "rk4", duration: float = DURATION) -> Any:
    """Simulate the example, with everything built anew."""
    model, state = example()
    return ph.simulate(model, state, duration=duration, dt=STEP, integrator=integrator)


def numbers(result: Any) -> np.ndarray:
    """Coordinates and velocities over time (T, 2 nv)."""
    return np.hstack([result.q, result.qd])


@claim("determinism.threads", at_most=0.0)
def threads() -> float:
    """Largest difference between a motion simulated alone and four times at once in threads, every method."""
    alone = {method: numbers(run(method)) for method in METHODS}
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, METHODS * 4))
    return max(
        float(np.max(np.abs(numbers(result) - alone[method])))
        for method, result in zip(METHODS * 4, together)
    )


@claim("determinism.chunks", at_most=0.0)
def chunks() -> float:
    """Largest difference between a motion computed one step per call and in long batches, every method."""
    worst = 0.0
    for method in METHODS:
        whole = numbers(run(method))
        with patch.object(stretches, "STRETCH", 0.0):  # seconds per call: one step, whatever its time
            worst = max(worst, float(np.max(np.abs(numbers(run(method)) - whole))))
    return worst


@claim("determinism.contacts", at_most=0.0)
def contacts() -> float:
    """Largest difference between motions of a closed linkage that falls on a rough floor: one step per call, long
    batches, and computed twice; every fixed-step method.
    """
    worst = 0.0
    for method in (*METHODS, "linearly_implicit_euler", "bdf1", "sdirk2"):
        model, state = loose_linkage()
        runs = [numbers(ph.simulate(model, state, 0.6, STEP, method)) for _ in range(2)]
        with patch.object(stretches, "STRETCH", 0.0):
            runs.append(numbers(ph.simulate(model, state, 0.6, STEP, method)))
        worst = max(worst, *(float(np.abs(other - runs[0]).max()) for other in runs[1:]))
    return worst


@claim("determinism.samples", at_most=0.0)
def samples() -> float:
    """Largest difference between a motion recorded at every step and at every 7th or 50th, every method."""
    worst = 0.0
    model, state = example()
    for method in METHODS:
        whole = numbers(run(method))
        for every in (7, 50):
            part = ph.simulate(
                model, state, duration=STEP * 350, dt=STEP, integrator=method, record_interval=every * STEP
            )
            worst = max(worst, float(np.max(np.abs(numbers(part) - whole[:351:every]))))
    return worst


def one_step(jitted: bool) -> np.ndarray:
    """One step of the example in a child process, with or without compilation; (3, 2 nv), one row per method.

    Raises:
        RuntimeError: the child did not run as requested.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step.npy"
        environment = os.environ | {"CONDYLE_JIT": "1" if jitted else "0", "PYTHONPATH": str(ROOT)}
        environment.pop("NUMBA_DISABLE_JIT", None)
        program = f"""
from tests.verification.claims_determinism import METHODS, STEP, np, numbers, run
from physics.kernels.compiler import jit
np.save({str(path)!r}, [numbers(run(method, STEP))[-1] for method in METHODS])
print(jit.JITTED)
"""
        child = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        if child.stdout.strip() != str(jitted):
            raise RuntimeError(f"requested jitted {jitted}, but the kernels report {child.stdout.strip()}")
        return np.asarray(np.load(path))


@claim("determinism.unjitted", at_most=1e-12)
def unjitted() -> Measurement:
    """Jitted against unjitted after one step of every method, tree with every joint type: largest difference, relative
    to the largest value.
    """
    try:
        import numba
    except ImportError as error:
        raise Skipped("numba is not installed: nothing to compare with") from error
    jitted, plain = one_step(True), one_step(False)
    difference = np.max(np.abs(jitted - plain), axis=1) / np.max(np.abs(plain), axis=1)
    return Measurement(
        float(np.max(difference)), {**dict(zip(METHODS, difference)), "numba": numba.__version__}
    )
