"""Fixed steps of models with soft bodies."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..constraints.packing import System
from ..dynamics.workspace import constraint_space
from ..errors import ModelError
from ..joints.packing import aligned_copy, aligned_zeros
from ..kernels import layout
from ..model.model import Model
from ..model.result import Result
from ..soft.states import on_surfaces
from .base import Method, Problem, Recording, refuse_muscle_states
from .consistency import refuse_torn
from .constrained import settler, statistics, with_room
from .implicit import implicit_workspace, integrate_implicit
from .stretches import run_in_stretches

FIRST = 1024  # samples for which a live run has room at first: it may end long before its last one


def check_soft(model: Model, method: Method) -> None:
    """ModelError if a method does not advance soft bodies, or the model has what their steps do not have."""
    name = method.name
    if method.number < 0 or name == "spring_implicit_euler":
        raise ModelError(
            f"method {name!r} does not advance soft bodies ({model.soft_bodies[0].name!r}): use "
            "linearly_implicit_euler, bdf1, sdirk2, or an explicit method with a fixed step"
        )
    refuse_muscle_states(model, name)
    for law in model.feedback_laws[:1]:
        raise ModelError(
            f"soft bodies ({model.soft_bodies[0].name!r}) do not support feedback laws ({law.name!r})"
        )
    solved = name == "linearly_implicit_euler"
    if solved and not model.soft_mesh.num_beads:
        return
    for words, found in impulses_of(model).items():
        if found:
            why = "bodies on flexible surfaces" if solved else "soft bodies"
            take = "" if solved else ": use linearly_implicit_euler"
            raise ModelError(
                f"method {name!r} does not support {words} in a model with {why} "
                f"({model.soft_bodies[0].name!r}){take}"
            )


def impulses_of(model: Model) -> dict[str, Any]:
    """What in a model needs impulses, by its description."""
    return {
        "constraints": tuple(model.constraints),
        "contacts": tuple(model.contacts),
        "colliders of bodies that may touch each other": touching_pair(model),
        "hard limits (limit_restitution)": model.hard_limit_rows,
    }


def touching_pair(model: Model) -> tuple[str, ...]:
    """Names of two colliders that may touch; empty where none may."""
    packed, may_touch = model.collider_arrays, kernels.contact.colliding.may_touch
    for a, b in combinations(range(len(packed.ints)), 2):
        if may_touch(packed.ints, packed.joined, a, b):
            return model.colliders[a].name, model.colliders[b].name
    return ()


def integrate_soft(problem: Problem, method: Method, state: State) -> Result:
    """Run a problem with soft bodies by a fixed-step method; batches do not affect the result's bits."""
    model, mesh = problem.model, problem.model.soft_mesh
    check_soft(model, method)
    workspace = model.workspace()
    spaces = workspace.clear()
    arrays = mesh.moving(model.arrays)
    space = mesh.workspace(model.num_bodies, len(arrays[kernels.soft.layout.COORDINATES]))
    q, qd = on_surfaces(model, state.q, state.qd, np.array(state.soft_states))
    state = replace(state, q=q, qd=qd)
    flat = mesh.inward(np.array(state.soft_states))
    places, rates = aligned_copy(flat[0]), aligned_copy(flat[1])
    implicit = method.run is integrate_implicit
    scheme = np.array([float(method.number)]) if implicit else method.scheme
    newton = implicit_workspace(model, 3 * mesh.num_beads)
    own = aligned_zeros(layout.STAGE_ROWS, 3 * mesh.num_free)
    count, own_counters = len(problem.samples), np.zeros(2, dtype=np.int64)
    efforts, none = np.zeros((count, model.num_coordinates)), np.zeros((flat.shape[1], layout.HELD + 1))
    whole = problem.steer is None or problem.latest
    records = np.zeros((2, count if whole else min(count, FIRST), flat.shape[1]))
    records[:, 0] = flat
    constrained = any(impulses_of(model).values())
    system, memory, contacts, effort = constraint_space(model, local=True)
    forces = np.zeros((count, model.num_constraint_rows))
    settle = settler(problem) if constrained else None

    def advance(
        steps: int, counters: IntArray, q: FloatArray, qd: FloatArray, chart: IntArray, recording: Recording
    ) -> None:
        nonlocal records, system
        written, until = int(counters[1]), problem.start + problem.dt * (int(counters[0]) + steps + 1)
        records = _with_room(records, int(np.searchsorted(problem.samples, until)), count)
        more = (own_counters, problem.samples, *records), efforts, none
        recording.soft, recording.efforts = records, efforts if len(problem.motions[0]) else None

        def advance_in(system: System) -> None:
            parts = model.constraint_arrays, system, contacts, memory, effort, forces
            rows = parts if constrained else None
            kernels.soft.rollout.soft_rollout(
                model.arrays,
                arrays,
                scheme,
                newton,
                problem.tau,
                problem.motions,
                (problem.start, problem.dt, 0.0),
                steps,
                (counters, problem.samples, recording.rows, recording.qd),
                more,
                (q, qd, chart),
                (places, rates),
                (workspace.stage, own),
                space,
                spaces,
                rows,
            )

        changed = counters, q, qd, chart, newton, effort, memory, contacts, places, rates, spaces
        system = with_room(model, system, advance_in, changed)
        if implicit:
            stage = kernels.stepping.implicit_stage
            recording.info["newton_iterations"] = int(newton[4][stage.ITERATIONS])
            recording.info["matrices"] = int(newton[4][stage.MATRICES])
        if settle is not None:
            recording.forces = forces
            settle(written, int(counters[1]), recording, problem.start)
            recording.info["constraints"] = statistics(model, system)
            refuse_torn(problem, system, counters, recording)

    return run_in_stretches(problem, method.name, state, advance, spaces, (places, rates))


def _with_room(records: FloatArray, needed: int, most: int) -> FloatArray:
    """Records (2, samples, 3 n) for so many samples: the same, or longer ones, of no more than `most`."""
    has = records.shape[1]
    if needed <= has:
        return records
    longer = np.zeros((2, min(max(needed, 2 * has), most), records.shape[2]))
    longer[:, :has] = records
    return longer
