"""Stages of compiling: each family of simulations has its own, and each compiles what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import physics as ph
from physics.integrators.implicit import KERNEL_NUMBERS
from physics.worker.stage_names import IMPLICIT, USUAL
from physics.worker.stages import STAGES, stages_of


def model(hard=False, muscled=False):
    builder = ph.ModelBuilder()
    limits = {"limits": [[-1, 1]], "limit_restitution": 0.5} if hard else {}
    builder.add_body("bob", joint=ph.joints.Hinge(), mass=1.0, com=(0, 0, -1), inertia=np.eye(3), **limits)
    if muscled:
        points = [ph.muscles.PathPoint(None, (0.1, 0, 0)), ph.muscles.PathPoint("bob", (0.1, 0, -1))]
        builder.add_muscle("cord", points, law=ph.muscles.Tension(10.0))
    return builder.build()


@pytest.mark.parametrize(
    ("made", "integrator", "has_motions", "stages"),
    [
        (model(), "rk4", False, ["poses and energy", "forward dynamics"]),
        (model(), "rk4", True, ["poses and energy", "constraints and contacts"]),
        (model(hard=True), "symplectic_euler", False, ["poses and energy", "constraints and contacts"]),
        (model(), "bdf1", False, ["poses and energy", "implicit steps"]),
        (
            model(True, True),
            "bdf1",
            False,
            ["poses and energy with muscles", "implicit steps with constraints with muscles"],
        ),
        (
            model(muscled=True),
            "DOP853",
            False,
            ["poses and energy with muscles", "forward dynamics with muscles"],
        ),
    ],
)
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
    assert set(IMPLICIT) == KERNEL_NUMBERS.keys() and set(USUAL) <= STAGES.keys()
