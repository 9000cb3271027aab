"""Seconds of a fresh process, with an empty and with a filled cache of kernels."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

# Programs for a child process, between its preamble and its report.
BEGINNING = """
import json, sys, time
opened = time.perf_counter()
{libraries}
start, busy = time.perf_counter(), time.process_time()
import numpy as np
import physics as ph
imported = time.perf_counter()
"""

# Modules of adaptive integrators: SciPy's import time is reported separately.
SCIPY = "import scipy.integrate"

# The first simulation compiles what a simulation needs: rollout, energy, poses.
SIMULATION = """
from tests.verification.generators import spline_curve
builder = ph.ModelBuilder()
builder.add_body("body", joint=spline_curve(np.random.default_rng(0)), mass=1.0, inertia=0.01 * np.eye(3))
model = builder.build()
ph.simulate(model, model.state(q=[0.5 * sum(model.joints[0].range[0])]), duration=0.1).energy
"""

# Calls every kernel.
EVERYTHING = """
from physics.integrators import INTEGRATORS
builder = ph.ModelBuilder()
for name, parent, axis in (("a", None, (1, 0, 0)), ("b", "a", (0, 1, 0))):
    hinge = ph.joints.Hinge(axis)
    builder.add_body(name, parent, joint=hinge, mass=1.0, com=(0, 0.5, 0), inertia=0.1 * np.eye(3))
tree = builder.build()
at = tree.state(q=[0.3, 0.2])
rod = ph.constraints.DistanceConstraint("a", None, (0, 1, 0), (0, 0.5, 1), length=1.0)
builder.add_constraint("rod", rod)
loop = builder.build()
for name in INTEGRATORS:
    ph.simulate(tree, at, integrator=name, dt=1e-2, duration=0.02).energy
ph.inverse_dynamics(tree, at)
ph.mass_matrix(tree, at)
ph.body_jacobian(tree, at, "b")
ph.inverse_dynamics_derivatives(tree, at, [0.0, 0.0])
ph.forward_dynamics_derivatives(tree, at)
ph.maximal_coordinates(tree, at).jacobian
ph.force_wrenches(tree, at)
tree.joints[0].evaluate([0.1])
ph.inverse_kinematics(tree, ph.Target("b", (0.2, 0.3, 0.4)))
ph.project(ph.joints.Spherical(), np.eye(4)[None])
met = ph.assemble(loop, loop.state(q=[0.3, 0.2]))
for name in ("symplectic_euler", "RK45"):
    ph.simulate(loop, met, integrator=name, dt=1e-2, duration=0.02).energy
ph.constrained_dynamics(loop, met)
"""

REPORT = """
total, busy = time.perf_counter(), time.process_time() - busy
kernels = {}
for name, module in sorted(sys.modules.items()):
    if name.startswith("physics.kernels"):
        for kernel in vars(module).values():
            for made in (kernel, vars(kernel).get("entry") if hasattr(kernel, "overloads") else None):
                for compiled in getattr(made, "overloads", {}).values():
                    seconds = (compiled.metadata or {}).get("seconds")
                    if kernel.__module__ == name and seconds is not None:
                        kernels[f"{name.split('.')[-1]}.{kernel.__name__}"] = seconds
times = {"libraries": start - opened, "import": imported - start, "total": total - start, "processor": busy}
print(json.dumps(times | {"kernels": kernels}))
"""


def child(program: str, cache: str) -> dict[str, Any]:
    """Seconds of a child process: import, total, processor time, and its part by kernel, without the kernels it calls.

    "libraries": seconds of importing SciPy before that, if the program needs it.
    """
    beginning = BEGINNING.format(libraries=SCIPY if program == EVERYTHING else "")
    environment = os.environ | {"CONDYLE_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
    completed = subprocess.run(
        [sys.executable, "-c", beginning + program + REPORT],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return dict(json.loads(completed.stdout.splitlines()[-1]))


def cold_and_warm(program: str = SIMULATION) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same program with an empty cache folder, then with the filled one."""
    with tempfile.TemporaryDirectory(prefix="condyle-cache-") as cache:
        return child(program, cache), child(program, cache)


def ahead(processes: int) -> float:
    """Seconds of `python -m physics compile` without muscles' kernels, with an empty cache folder."""
    with tempfile.TemporaryDirectory(prefix="condyle-cache-") as cache:
        command = [sys.executable, "-m", "physics", "compile", "--no-muscles", "--processes", str(processes)]
        began = time.perf_counter()
        environment = os.environ | {"CONDYLE_CACHE_DIR": cache}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL)
        return time.perf_counter() - began
