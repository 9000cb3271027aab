"""Bakes in which nothing moves: they are told, with what of the scene makes them so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..blender import physics_access
from ..data import findings
from ..reading.scene import ModelBody

# What differs by no more than this over a bake [m, and numbers of a rotation] is one to the eye, and to Blender's keys.
STILL = 1e-6
# A coordinate this near to one of its limits [m, rad] stands at it.
AT_LIMIT = 1e-6


def warnings(made: Any, result: physics_access.Result) -> list[str]:
    """One line for each reason why nothing moves in a simulation (`made` is its `tasks.Ready`); none where it does."""
    if len(result.t) < 2 or np.ptp(result.poses, axis=0).max(initial=0.0) > STILL:
        return []
    told = "Nothing moves in these frames"
    return [f"{told}: {reason}" for reason in _reasons(made, result)] or [told]


def _reasons(made: Any, result: physics_access.Result) -> list[str]:
    """What is true of the scene and lets nothing move; the joints that it is about come first."""
    model, state = made.read.model, made.read.state
    movable = [entry for entry in made.read.bodies if model.joints[model.index(entry.name)].num_coordinates]
    if not movable:
        names = [entry.joint_name or entry.name for entry in made.read.bodies]
        return [f"{_names(names, 'is', 'are')} Fixed: choose another type"]
    motions = made.options["motions"] or {}
    led = [entry for entry in movable if entry.name in motions and motions[entry.name].windows is None]
    free = [entry for entry in movable if entry not in led and not _runs_by_itself(model, entry)]
    reasons = []
    if led:
        joints = _names([entry.joint_name for entry in led], "follows its", "follow their")
        reasons.append(f"{joints} animation, which stands still: key it, or turn off Prescribed or Follow")
    if not free:
        return reasons
    called = [entry.joint_name or entry.name for entry in free]
    if _is_locked(model, state, free):
        reasons.append(f"constraints leave {findings.few(called)} no way to move: take one of them away")
    elif not np.linalg.norm(model.gravity) > 0.0:
        verb = "starts" if len(called) == 1 else "start"
        push = ", a torque, or excite a muscle" if model.muscles else " or a torque"
        reasons.append(
            f"{findings.few(called)} {verb} at rest, gravity is off, and other forces balance: set Gravity, a Start "
            f"Speed{push}"
        )
    else:
        reasons += _balanced(result, free)
    return reasons


def _balanced(result: physics_access.Result, free: Sequence[Any]) -> list[str]:
    """Reasons why bodies that are simulated stay where they start, though gravity is on."""
    model = result.model
    stopped = [entry for entry in free if _is_at_limit(model, entry, result.q[0])]
    others = [entry for entry in free if entry not in stopped]
    reasons = []
    for entries, one, several, remedy in (
        (stopped, "starts at a limit", "start at limits", "move the limits, or start elsewhere"),
        (
            others,
            "starts where all forces on it balance",
            "start where all forces on them balance",
            "start elsewhere, excite a muscle, or give a Start Speed"
            if model.muscles
            else "start elsewhere, or give a Start Speed",
        ),
    ):
        if entries:
            names = _names([entry.joint_name or entry.name for entry in entries], one, several)
            reasons.append(f"{names}: {remedy}")
    return reasons


def _names(names: Sequence[str], one: str, several: str) -> str:
    return f"{findings.few(names)} {one if len(names) == 1 else several}"


def _runs_by_itself(model: physics_access.Model, entry: ModelBody) -> bool:
    return any(model.joints[model.index(entry.name)].prescribed)


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
