"""Runs of four worlds at once, in the lanes of a register."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import kernels
from ..bodies.state import State
from ..errors import DivergedError, ModelError
from ..integrators.base import Problem
from ..joints.packing import aligned_zeros
from ..kernels import layout
from ..model.result import Result
from .together import LONGEST, MOST, Together, form

WIDTH = 4


def run_abreast(
    checked: Callable[[int], tuple[Problem, State]], states: Sequence[State], threads: int
) -> list[Result | DivergedError]:
    """As `together.run_all`; ModelError for a model or a run that lanes do not take."""
    if not states:
        return []
    problem = checked(0)[0]
    for refused in refusals(problem):
        raise ModelError(f"lanes do not take {refused}: simulate without lanes")
    forms = [form(state) for state in states]
    if None in forms or len(set(forms)) > 1 or not Abreast(problem, states).is_finite():
        for k in range(1, len(states)):  # a wrong state is named
            if checked(k)[0].origin != problem.origin:
                raise ModelError(f"lanes take states of one time, got {states[k].time} s of states[{k}]")
    return Abreast(problem, states).on(threads)


def refusals(problem: Problem) -> Iterator[str]:
    """What of a problem's run and model lanes do not take."""
    model = problem.model
    if problem.integrator != "symplectic_euler":
        yield f"the integrator {problem.integrator!r}"
    if problem.control is not None or len(problem.tau[0]) > 1:
        yield "generalized forces tau that change with time"
    if len(problem.motions[0]):
        yield "motions of joints or targets"
    things: dict[str, list[Any]] = {
        "constraint": list(model.constraints),
        "contact": model.contact_names,
        "muscle": [each.name for each in model.muscles],
        "force": [each.name for each in (*model.springs, *model.forces)],
        "controller": [each.name for each in model.controllers],
        "feedback law": [each.name for each in model.feedback_laws],
        "soft body": [each.name for each in model.soft_bodies],
    }
    for kind, given in things.items():
        if given:
            yield f"the {kind} {given[0]!r}"
    dof_float, names = model.arrays[layout.DOF_FLOAT], model.coordinate_names
    for column, what in (
        (layout.PRESCRIBED, "prescribed coordinate"),
        (layout.LAW, "laws of the coordinate"),
    ):
        for d in np.flatnonzero(dof_float[:, column]):
            yield f"the {what} {names[d]!r}"
    data = model.arrays[layout.MODEL_DATA]
    if data[layout.LIMIT_COUNT] > 0.0:
        row = data[int(data[layout.LIMIT_ROWS]) :]
        yield f"hard limits and limits of rotations, as of {names[int(row[layout.LIMIT_DOF])]!r}"
    body_int, block_int = model.arrays[layout.BODY_INT], model.arrays[layout.BLOCK_INT]
    plain = np.isin(block_int[:, layout.KIND], (layout.SCREW, layout.ROTATION_VECTOR))
    for b in np.flatnonzero(~plain):
        d = body_int[np.searchsorted(body_int[:, layout.BLOCK_START], b, "right") - 1, layout.DOF_START]
        yield f"the joint of the coordinate {names[d]!r}"


class Abreast(Together):
    """As `Together`, four runs at once; `refusals` are not asked."""

    def size_of_parts(self, threads: int) -> int:
        """Number of runs in a call, whole groups of four."""
        return max(WIDTH, min(MOST, -(-len(self.q) // (WIDTH * threads * 2)) * WIDTH))

    def _results(self, part: slice) -> list[Result | None]:
        problem, model = self.problem, self.problem.model
        worlds = kernels.joints.worlds
        runs, nv, nb = len(self.q[part]), model.num_coordinates, model.num_bodies
        groups = -(-runs // WIDTH)
        # the last run fills up the last group
        chosen = np.minimum(np.arange(groups * WIDTH), runs - 1) + part.start
        shape = (len(chosen), len(problem.samples), nv)
        records = np.zeros(shape), np.zeros(shape), self.chart[chosen]
        records[0][:, 0], records[1][:, 0] = self.q[chosen], self.qd[chosen]
        workspace = model.workspace()
        spaces = workspace.clear()
        energies = self._watched(part, spaces)[chosen - part.start]
        counts, failed = np.zeros((groups, 2), dtype=np.int64), np.zeros((groups, 1, WIDTH))
        counts[:, layout.WRITTEN] = 1
        rooms: Any = tuple(
            aligned_zeros(count * width * WIDTH).reshape(-1, width, WIDTH)
            for count, width in (
                (groups * nv, worlds.STATE_WIDTH),
                (nb + 1, worlds.BODY_WIDTH),
                (nv, worlds.DOF_WIDTH),
                (1, worlds.NOTES),
            )
        )
        for place, given in ((worlds.Q, self.q), (worlds.QD, self.qd)):
            rooms[0].reshape(groups, nv, -1, WIDTH)[:, :, place] = (
                given[chosen].reshape(groups, WIDTH, nv).swapaxes(1, 2)
            )
        rooms[1][nb, [worlds.POSE, worlds.POSE + 4, worlds.POSE + 8]] = 1.0
        state, *others = (each.reshape(-1, WIDTH) for each in rooms)
        scratch = aligned_zeros(nv), aligned_zeros(nv), aligned_zeros(nv)
        steps = int(np.ceil(problem.duration / problem.dt - 1e-9))
        stretch = max(1, LONGEST // (nb * groups))
        for begun in range(0, steps, stretch):
            if self.stopped:
                break
            kernels.stepping.worlds.worlds_rollouts(
                model.arrays,
                problem.tau[1][0],
                problem.dt,
                min(stretch, steps - begun),
                problem.samples,
                records,
                (counts, failed, energies),
                (state.reshape(groups, -1, WIDTH), *others),
                scratch,
                spaces,
            )
        ends = np.zeros((runs, 4), dtype=np.int64)
        ends[:, 2] = np.where(failed.reshape(-1)[:runs] > 0.0, layout.NOT_FINITE, layout.OK)
        info = {"integrator": problem.integrator, "dt": problem.dt, "steps": steps}
        kept = (*(each[:runs] for each in records[:2]), records[2][:runs])
        return self._told(kept, ends, energies[:runs], info, self.chart[part])
