"""Runs whose motions lead targets: there a target is a body of negligible mass with a joint and a constraint.

Models, states, forces and results of users are without these.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..bodies.state import State
from ..constraints.targets import MotionTarget
from ..dynamics import body_poses
from ..dynamics.constrained import assemble
from ..errors import ModelError
from ..model.builder import ModelBuilder
from ..model.checks import check_state
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import places_of_motions
from .start import AT_START

MASS = 1e-9  # kg: negligible in energies
HEAVY = 1e9  # kg: where a body moves to its target, and not the target to the body


def target_of(model: Model, name: Any) -> MotionTarget | None:
    """The target that a motion leads, by its name or that of a coordinate (``"tip"``, ``"tip.x"``); or None."""
    targets = model.targets
    return targets.get(name) or targets.get(name.rpartition(".")[0]) if isinstance(name, str) else None


def led(model: Model, state: State, motions: Any, assembled: bool) -> tuple[Model, State]:
    """Model and state of a run with the targets that motions lead; the given ones if there are none.

    A target begins where its motion does. assembled: whether the bodies move there first.

    Raises:
        ModelError: a motion is invalid, or begins elsewhere than what it leads.
    """
    if not getattr(model, "targets", None):  # what is no model is named later
        return model, state
    found = [target_of(model, name) for name in motions] if isinstance(motions, Mapping) else []
    targets = tuple(each for each in model.targets.values() if each in found)
    if not targets:
        return model, state
    state, run = check_state(model, state), with_targets(model, targets)
    poses = body_poses(model, state)
    places = [each.coordinates(poses[model.index(each.body)]) for each in targets]
    q = np.concatenate([state.q, *places])
    nv, count, chart = model.num_coordinates, len(q), np.append(state.chart, np.zeros(len(targets), np.int64))
    qd = np.concatenate([state.qd, np.zeros(count - nv)])
    start = State(q, qd, state.time, chart, state.muscle_states, state.soft_states)
    for each in targets:  # with the speed of what they lead
        own = run.coordinate_slice(each.name)
        rows = each.constraint.jacobian(run, start)
        qd[own] = np.linalg.lstsq(rows[:, own], -rows[:, :nv] @ state.qd, rcond=None)[0]
    for _, motion, where in places_of_motions(run, motions):
        for k, d in enumerate(range(where.start, where.stop)):
            if d >= nv:
                q[d] = motion.start(k, float(q[d]), float(qd[d]), float(state.time))
    if assembled:
        return run, assemble(with_targets(model, targets, HEAVY), start)
    for each in targets:
        off = float(np.abs(each.constraint.value(run, start)).max())
        if off > AT_START:
            raise ModelError(
                f"the motion of target {each.name!r} begins {off:.3g} m or rad away from what it leads: give a state "
                "that is there, or assemble=True"
            )
    return run, start


@lru_cache(maxsize=8)
def with_targets(model: Model, targets: tuple[MotionTarget, ...], mass: float = MASS) -> Model:
    """The model with these targets as bodies and constraints, behind all others, and no further ones."""
    builder, inertia = ModelBuilder(), mass * np.eye(3)
    for each in targets:
        builder.add_body(each.name, joint=each.joint, joint_in_parent=each.at, mass=mass, inertia=inertia)
    bodies, added = (*model.bodies, *builder.bodies), {each.name: each.constraint for each in targets}
    return model.altered(bodies=bodies, constraints={**model.constraints, **added}, targets={})


def without_targets(result: Result, own: Model) -> Result:
    """A run's result for the model without targets: coordinates of these are left out, forces of all of them kept."""
    nv, given = own.num_coordinates, result.row_forces
    forces = None if given is None else np.zeros((len(result.t), own.num_force_rows))
    if given is not None and forces is not None:
        for name, where in result.model.constraint_slices.items():
            forces[:, own.force_slices[name]] = given[:, where]
    cut = {name: getattr(result, name) for name in ("q", "qd", "efforts")}
    arrays: Any = {name: None if each is None else each[:, :nv].copy() for name, each in cut.items()}
    return replace(result, model=own, row_forces=forces, **arrays)
