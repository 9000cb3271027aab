"""Stages of compiling: each family of simulations has its own, and each compiles what it says."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import physics as ph
from physics.errors import CancelledError
from physics.integrators.implicit import METHODS
from physics.kernels.compiler import jit
from physics.worker import jobs, requests, stages
from physics.worker.stage_names import BUILDING, IMPLICIT, OBSERVATION, USUAL, WITH_MUSCLES
from physics.worker.stages import STAGES, stages_of
from tests.physics.small_models import alone
from tests.physics.soft.blocks import bolted


def model(hard=False, muscled=False):
    limits = {"limits": [[-1, 1]], "limit_restitution": 0.5} if hard else {}
    builder = alone("bob", ph.joints.Hinge(), com=(0, 0, -1), **limits)
    if muscled:
        points = [ph.muscles.PathPoint(None, (0.1, 0, 0)), ph.muscles.PathPoint("bob", (0.1, 0, -1))]
        builder.add_muscle("cord", points, law=ph.muscles.Tension(10.0))
    return builder.build()


@pytest.mark.parametrize(
    ("made", "integrator", "has_motions", "stages"),
    [
        (model(), "rk4", False, ["poses and energy", "forward dynamics"]),
        (model(), "rk4", True, ["poses and energy", "constraints"]),
        (model(hard=True), "symplectic_euler", False, ["poses and energy", "constraints and contacts"]),
        (model(), "bdf1", False, ["poses and energy", "implicit steps"]),
        (bolted(), "bdf1", True, ["poses and energy"]),
        (
            model(True, True),
            "bdf1",
            False,
            ["poses and energy with muscles", "implicit steps with contacts with muscles"],
        ),
        (model(muscled=True), "DOP853", False, ["poses and energy with muscles", "forward dynamics with muscles"]),
    ],
)  # fmt: skip
def test_a_simulation_waits_for_what_it_needs_alone(made, integrator, has_motions, stages):
    assert stages_of(made, integrator, has_motions) == stages
    assert set(stages) <= STAGES.keys()


def test_every_stage_runs():
    script = "from physics.worker.stages import STAGES; [make() for make in STAGES.values()]"
    environment = os.environ | {"CONDYLE_JIT": "0"}
    subprocess.run(
        [sys.executable, "-c", script], check=True, env=environment, cwd=Path(ph.__file__).parents[1]
    )


def test_names_are_those_of_what_there_is():
    assert tuple(method.name for method in METHODS) == IMPLICIT and set(USUAL) <= STAGES.keys()


class Heard:
    """A `Report` whose job is no longer wanted as soon as it says that it compiles."""

    def __init__(self):
        self.said = []

    def message(self, text):
        self.said.append(text)

    def progress(self, fraction, text=""):
        self.said.append(text)
        return not text.startswith("compiling")


@pytest.mark.parametrize("kind", ["simulate", "muscle_paths"])
def test_a_job_that_waits_for_the_compiler_says_so_and_ends_when_told_to(kind, monkeypatch):
    """Built before its kernel was there, a model with limits compiled it where nobody hears that a job is cancelled,
    16 s long without a word, and minutes behind what is compiled ahead.
    """
    made = model(muscled=True)
    sent = {}
    client = SimpleNamespace(submit=lambda kind, job, arrays=None: sent.update({kind: (job, arrays)}))
    requests.simulate(client, made, made.state(), duration=0.1, dt=1e-3)
    requests.muscle_paths(client, made, np.zeros((2, 1)), 8)
    going_on, heard = threading.Event(), Heard()
    for name in (*BUILDING, OBSERVATION + WITH_MUSCLES):
        monkeypatch.setitem(stages.STAGES, name, lambda: going_on.wait(60))
    monkeypatch.setattr(stages, "_futures", {})
    monkeypatch.setattr(stages, "LOADING_TIME", 0.1)
    monkeypatch.setattr(jit, "JITTED", True)
    monkeypatch.setattr(jobs, "model_from_document", lambda document: pytest.fail("built before"))
    job, arrays = sent[kind]
    try:
        with pytest.raises(CancelledError):
            jobs.run(kind, job, arrays or {}, heard)
        assert heard.said[0] == "preparing poses and energy"
        assert heard.said[-1] == "compiling poses and energy"
    finally:
        going_on.set()


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own there alone")
def test_no_compiling_runs_at_a_lower_priority(monkeypatch):
    """A job may have to wait for what is compiled ahead, and the priority of a thread cannot be raised again."""
    found = {}
    for name in ("projection", "joint geometry"):
        monkeypatch.setitem(stages.STAGES, name, lambda name=name: found.update({name: _niceness()}))
    monkeypatch.setattr(stages, "_futures", {})
    monkeypatch.setattr(jit, "JITTED", True)
    stages.prepare(["projection"], Heard())
    jobs.run("warm_up", {"stages": ["joint geometry"]}, {}, Heard())
    assert found == dict.fromkeys(("projection", "joint geometry"), _niceness())


def _niceness():
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_a_search_says_that_it_compiles_what_its_model_needs(monkeypatch):
    done, heard, made = threading.Event(), Heard(), model()
    heard.progress = lambda _fraction, text="": heard.said.append(text) or True
    header, arrays = requests.simulation(
        {"model": made, "state": made.state(), "duration": 4e-3, "dt": 2e-3, "integrator": "bdf1"}
    )
    header |= {"goals": [{"kind": "rest", "body": "bob", "time": 4e-3}], "torques": ["bob.angle"]}
    monkeypatch.setattr(stages, "LOADING_TIME", -1.0)
    monkeypatch.setattr(jobs, "prepare", lambda *_: None)
    monkeypatch.setattr(jobs.goal_search, "rehearse", lambda *_: done.wait(2.0 * stages.LOOK_INTERVAL))
    jobs.run("solve_goals", header, arrays | {"knots": np.array([0.0, 4e-3])}, heard)
    assert heard.said.index(f"compiling {stages.GRADIENTS}") < heard.said.index("solving goals")


def test_a_rehearsal_runs_the_kernels_of_its_model(monkeypatch):
    seen, run = [], ph.kernels.adjoint.sweep.sweep_back
    monkeypatch.setattr(
        ph.kernels.adjoint.sweep, "sweep_back", lambda *given: seen.append(given) or run(*given)
    )
    made, times = model(), np.array([0.0, 1.0])
    motions = {"bob": ph.Motion(times, times, interpolation="linear")}
    jobs.goal_search.rehearse(made, made.state(), {"dt": 2e-3, "integrator": "bdf1", "motions": motions})
    assert len(seen) == 1 and seen[0][1] is not None  # with rows for what is prescribed
