"""Bakes in which nothing moves, and what of the scene makes them so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..animation.scene_model import ModelBody
from ..blender import physics_access
from ..data import findings

# What differs by no more than this over a bake [m, and numbers of a rotation] is one to the eye, and to Blender's keys.
STILL = 1e-6
# A coordinate this near to one of its limits [m, rad] stands at it.
AT_LIMIT = 1e-6


def warnings(made: Any, result: physics_access.Result) -> list[findings.Finding]:
    """A finding for each reason why nothing moves in a simulation (made: its `Plan`); none where it does."""
    if len(result.t) < 2 or np.ptp(result.poses, axis=0).max(initial=0.0) > STILL:
        return []
    return [_about(code, entries) for code, entries in _reasons(made, result) if entries] or [
        findings.about(None, "no-motion")
    ]


def _about(code: str, entries: Sequence[ModelBody]) -> findings.Finding:
    joints = findings.few(entry.joint_name or entry.name for entry in entries)
    return findings.about(entries[0].culprit, code, joints=joints)


def _reasons(made: Any, result: physics_access.Result) -> Iterator[tuple[str, Sequence[ModelBody]]]:
    """What is true of the scene and lets nothing move: codes, and the bodies that they are about."""
    model, state = made.read.model, made.read.state
    movable = [entry for entry in made.read.bodies if model.joints[model.index(entry.name)].num_coordinates]
    if not movable:
        yield "no-motion-fixed", made.read.bodies
        return
    motions = made.options["motions"] or {}
    led = [entry for entry in movable if entry.name in motions and motions[entry.name].windows is None]
    timed = [entry for entry in movable if any(model.joints[model.index(entry.name)].prescribed)]
    free = [entry for entry in movable if entry not in led and entry not in timed]
    yield "no-motion-animation", led
    if not free:
        return
    if _is_locked(model, state, free):
        yield "no-motion-locked", free
    elif not np.linalg.norm(model.gravity) > 0.0:
        yield "no-motion-at-rest", free
    else:
        stopped = [entry for entry in free if _is_at_limit(result.model, entry, result.q[0])]
        yield "no-motion-limit", stopped
        yield "no-motion-balance", [entry for entry in free if entry not in stopped]


def _is_at_limit(model: physics_access.Model, entry: ModelBody, q: np.ndarray) -> bool:
    """Whether what is read off a body's joint at coordinates (nv,) is at, or beyond, a limit."""
    body = model.bodies[model.index(entry.name)]
    readings = body.joint.readings(q[model.coordinate_slice(entry.name)])
    room = np.minimum(readings - body.limits[:, 0], body.limits[:, 1] - readings)
    return bool(room.min() <= AT_LIMIT)


def _is_locked(model: physics_access.Model, state: physics_access.State, free: Sequence[Any]) -> bool:
    """Whether constraints that hold in both directions leave no way to the coordinates of these bodies."""
    constraints = [
        each
        for each in model.constraints.values()
        if not getattr(each, "unilateral", False) and getattr(each, "sense", "rod") == "rod"
    ]
    if not constraints:
        return False
    _, jacobian, _ = model.evaluate_constraints(state, constraints)
    columns = np.hstack([jacobian[:, model.coordinate_slice(entry.name)] for entry in free])
    return bool(np.linalg.matrix_rank(columns) == columns.shape[1])
