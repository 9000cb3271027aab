"""Runs a kernel in batches of steps, each short enough for regular progress reports."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..joints.packing import aligned_copy, aligned_zeros
from ..model.result import Result
from .base import Nodes, Problem, Recording, forget_energy, note_energy
from .stops import motion_stops

# A batch lasts about STRETCH [s]: progress is frequent and calls cost nothing in comparison. It has at most GROWTH
# times the steps of the last one: later steps may be slower, as those on the ground are.
STRETCH, GROWTH = 0.05, 512

Advance = Callable[[int, IntArray, FloatArray, FloatArray, IntArray, Recording], None]


def run_in_stretches(
    problem: Problem, name: str, state: State, advance: Advance, spaces: Any, nodes: Nodes = None
) -> Result:
    """Let a kernel advance in batches of steps.

    advance: called with the number of steps, and counters (steps done, samples written), q, qd, chart and the
    recording, which it changes. spaces: workspaces of the kernel. nodes: of soft bodies, which it changes, too.
    """
    q, qd, chart = aligned_copy(state.q), aligned_copy(state.qd), np.array(state.chart)
    steps = int(np.ceil(problem.duration / problem.dt - 1e-9))
    info = {"integrator": name, "dt": problem.dt, "steps": steps}
    recording = Recording(problem, q, qd, info, state.muscle_states)
    counters = aligned_zeros(2).view(np.int64)
    counters[1] = 1
    stretch = 1  # the first call may compile
    leaps = _steps_at_leaps(problem)
    while counters[0] < steps:
        began = time.perf_counter()
        if problem.steer is not None:
            stretch, turned = problem.steer(int(counters[0]), q, qd, nodes, recording.info)
            if stretch < 1:
                break
            if turned:
                forget_energy(problem, spaces[0])
        if problem.control is not None:  # called before every step
            now = problem.start + problem.dt * int(counters[0])
            recording.ask(now, problem.dt, q, qd, now, int(counters[1]))
            stretch = 1
        while leaps and leaps[0] <= counters[0]:
            forget_energy(problem, spaces[0])
            leaps.pop(0)
        if problem.latest:
            half = len(problem.samples) // 2
            stretch = min(stretch, half)
            if counters[1] + stretch > len(problem.samples):
                recording.drop(int(counters[1]) - half)
                counters[1] = half
        stretch = int(min(stretch, steps - counters[0], leaps[0] - counters[0] if leaps else steps))
        advance(stretch, counters, q, qd, chart, recording)
        note_energy(problem, spaces[0], recording)
        recording.check(spaces[2], problem.start + problem.dt * int(counters[0]), int(counters[1]))
        recording.report(counters[0] / steps, int(counters[1]))
        spent = max(time.perf_counter() - began, 1e-6)
        stretch = int(min(max(stretch * STRETCH / spent, 1), GROWTH * stretch))
    recording.info["chart_changes"] = int((chart - state.chart).sum())
    return recording.result(int(counters[1]))


def _steps_at_leaps(problem: Problem) -> list[int]:
    """Step counts before and after each step in which a prescribed motion changes abruptly, and after the next step.

    A step that does not end at the change takes it up in the next one.
    """
    stops = motion_stops(problem, problem.start - problem.dt, problem.start + problem.duration)
    first = [int(np.floor((stop - problem.start) / problem.dt + 1e-9)) for stop in stops]
    return sorted({k + beyond for k in first for beyond in range(3)})
