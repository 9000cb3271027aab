"""Bodies that will fall: where gravity is on, and nothing holds what they hang together with."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from ..animation import led_joints
from ..animation.scene_model import ModelBody, SceneModel
from ..blender import physics_access
from ..data import findings
from ..data.findings import Finding
from ..data.handles import Handle

# A joint lets its child fall that can take it straight down so far [m], and is this share of that off at most.
FALLS, STRAIGHT = (1.0, 100.0), 1e-6
# A coordinate that changes by less than this on a metre of the way down has no part in it.
NO_PART = 1e-9


@dataclass(frozen=True)
class Standing:
    """How a body of the model is in its scene at the first frame: its pose in the world (4, 4) [m]; whether only
    gravity, and what is tied to it, moves it: no animation, controller or torque does; whether sliders drive its joint;
    whether it starts as it is set; whether its joint follows its animation exactly.
    """

    pose: np.ndarray
    is_passive: bool = True
    is_driven: bool = False
    starts_as_set: bool = True
    is_held: bool = False


def nothing_holds(read: SceneModel, connected: bool) -> bool:
    """Whether gravity is on in a scene without any joint or connection (connected: it has one), or a muscle that a body
    may hang by.
    """
    hung = any(entry.joint_uid for entry in read.bodies) or any(
        min(pair) < 0 for pair in of_muscles(read.model)
    )
    tied = connected or read.model.colliders
    return bool(_falls_at_all(read.model) and not hung and not tied)


def hints(
    read: SceneModel, standing: Sequence[Standing], connected: bool, among: Container[int] | None = None
) -> list[Finding]:
    """A hint about the models that will fall; none if one hint covers all bodies.

    Args:
        standing: of the bodies of the model. connected: as of `nothing_holds`. among: session uids of objects, of which
            alone it is told; None: of all.
    """
    if not _falls_at_all(read.model) or nothing_holds(read, connected):
        return []
    falling: dict[str, list[tuple[Handle, str]]] = {
        code: [] for code in ("joint-will-fall", "undriven-will-fall", "will-fall")
    }
    for entry, stands in _falling(read, standing):
        if among is not None and entry.handle.session_uid not in among:
            continue
        code = "will-fall"
        if entry.joint_uid:  # it can be prescribed as it is, or not
            follows = stands.is_driven or led_joints.follows_poses(read.model.joints[entry.index])
            code = "joint-will-fall" if follows else "undriven-will-fall"
        falling[code].append((entry.culprit, entry.name))
    return [
        replace(
            findings.about(found[0][0], code, bodies=findings.few(name for _, name in found)), is_hint=True
        )
        for code, found in falling.items()
        if found
    ]


def _falls_at_all(model: physics_access.Model) -> bool:
    return bool(np.linalg.norm(model.gravity) > 0.0)


def _falling(read: SceneModel, standing: Sequence[Standing]) -> list[tuple[ModelBody, Standing]]:
    """The bodies by which those hang on the world that nothing holds: of what hangs together, the first."""
    model = read.model
    pairs = [*of_bodies(model), *of_muscles(model)]
    groups = together(model, pairs)
    held = {int(groups[max(pair)]) for pair in pairs if min(pair) < 0 <= max(pair)}
    held |= {int(groups[entry.index]) for entry in read.leaders}
    found: dict[int, tuple[ModelBody, Standing]] = {}
    for entry, stands in zip(read.bodies, standing):
        number = entry.index
        if model.bodies[number].parent >= 0:
            continue
        group = int(groups[number])
        if not stands.is_passive or not _lets_fall(model, read.state, number):
            held.add(group)
        found.setdefault(group, (entry, stands))
    return [pair for group, pair in found.items() if group not in held]


def _lets_fall(model: physics_access.Model, state: physics_access.State, number: int) -> bool:
    """Whether the joint of a body on the world can take it straight down without end, and no spring is in the way."""
    body = model.bodies[number]
    joint, q = body.joint, np.array(state.q[model.coordinate_slice(body.name)])
    if not joint.num_coordinates or any(joint.prescribed):
        return False
    down = body.joint_in_parent[:3, :3].T @ (model.gravity / np.linalg.norm(model.gravity))
    pose, subspace, _ = joint.evaluate(q)
    fall = np.concatenate([np.zeros(3), pose[:3, :3].T @ down])
    way = np.linalg.lstsq(subspace, fall, rcond=1e-9)[0]
    if (np.abs(way) > NO_PART)[body.stiffness > 0.0].any():
        return False
    for far in FALLS:
        wanted = pose.copy()
        wanted[:3, 3] += far * down
        try:
            there = joint.transform(q + far * way)
        except physics_access.physics().CondyleError:  # the end of its range
            return False
        readings = joint.readings(q + far * way)
        within = (readings >= body.limits[:, 0]) & (readings <= body.limits[:, 1])
        if not within.all() or np.abs(there - wanted).max() > STRAIGHT * far:
            return False
    return True


def of_bodies(model: physics_access.Model) -> Iterator[tuple[int, int]]:
    """Numbers of two bodies (-1: the world) for all that lets one lie on, or hang from, the other: joints between
    bodies, constraints, springs, ground, colliders.
    """
    for number, body in enumerate(model.bodies):
        if body.parent >= 0:
            yield number, body.parent
    for each in (*model.springs, *model.forces, *model.contacts):
        if hasattr(each, "other"):
            yield each.body, each.other
    for one, other in combinations(model.colliders, 2):
        if set(one.groups) & set(other.groups):
            yield one.body, other.body
    owners = {name: number for number, body in enumerate(model.bodies) for name in _coordinates(body)}
    constraints: Iterable[Any] = model.constraints.values()
    for constraint in constraints:
        if constraint.type == "coupling":
            for name in (name for drivers, _ in constraint.terms for name in drivers):
                yield owners[constraint.coordinate], owners[name]
        elif hasattr(constraint, "other"):
            yield model.index(constraint.body), _number(model, constraint.other)


def of_muscles(model: physics_access.Model) -> Iterator[tuple[int, int]]:
    """As `of_bodies`, for the points of each muscle and the next ones."""
    for muscle in model.muscles:
        points = [part for part in muscle.path if hasattr(part, "moves")]
        for one, other in pairwise(points):
            yield _number(model, one.body), _number(model, other.body)


def together(model: physics_access.Model, pairs: Iterable[tuple[int, int]]) -> np.ndarray:
    """A number for each body (nb,), the same where pairs tie one to the other, be it by way of more of them; not by
    the world.
    """
    groups = np.arange(len(model.bodies))
    for one, other in pairs:
        if one >= 0 and other >= 0:
            groups[groups == groups[other]] = groups[one]
    return groups


def _number(model: physics_access.Model, name: str | None) -> int:
    return -1 if name is None else int(model.index(name))


def _coordinates(body: physics_access.Body) -> list[str]:
    return [f"{body.name}.{name}" for name in body.joint.coordinate_names]
