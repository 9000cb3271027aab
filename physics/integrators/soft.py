"""Fixed steps of models with soft bodies."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..errors import ModelError
from ..joints.packing import aligned_copy, aligned_zeros
from ..kernels import layout
from ..model.model import Model
from ..model.result import Result
from ..soft.states import on_surfaces
from .base import Method, Problem, Recording, refuse_muscle_states
from .implicit import implicit_workspace, integrate_implicit
from .stretches import run_in_stretches


def check_soft(model: Model, method: Method) -> None:
    """ModelError if a method does not advance soft bodies, or the model has what their steps do not have."""
    name = method.name
    if method.number < 0 or name == "spring_implicit_euler":
        raise ModelError(
            f"method {name!r} does not advance soft bodies ({model.soft_bodies[0].name!r}): use "
            "linearly_implicit_euler, bdf1, sdirk2, or an explicit method with a fixed step"
        )
    refuse_muscle_states(model, name)
    for words, found in (
        ("constraints", tuple(model.constraints)),
        ("contacts", tuple(model.contacts)),
        ("colliders of bodies that may touch each other", touching_pair(model)),
        ("hard limits (limit_restitution)", model.hard_limit_rows),
    ):
        if found:
            raise ModelError(
                f"method {name!r} does not support {words} in a model with soft bodies "
                f"({model.soft_bodies[0].name!r})"
            )


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
    count = len(problem.samples)
    records, efforts = np.zeros((2, count, flat.shape[1])), np.zeros((count, model.num_coordinates))
    records[:, 0] = flat
    node_log = np.zeros(2, dtype=np.int64), problem.samples, records[0], records[1]
    more = node_log, efforts, np.zeros((flat.shape[1], layout.HELD + 1))

    def advance(
        steps: int, counters: IntArray, q: FloatArray, qd: FloatArray, chart: IntArray, recording: Recording
    ) -> None:
        recording.soft, recording.efforts = records, efforts if len(problem.motions[0]) else None
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
        )
        if implicit:
            stage = kernels.stepping.implicit_stage
            recording.info["newton_iterations"] = int(newton[4][stage.ITERATIONS])
            recording.info["matrices"] = int(newton[4][stage.MATRICES])

    return run_in_stretches(problem, method.name, state, advance, spaces)
