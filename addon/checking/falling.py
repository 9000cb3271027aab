"""Bodies that will fall: where gravity is on, and nothing holds what they hang together with."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..animation import input_values, led_joints, looks
from ..baked import conflicts
from ..blender import physics_access
from ..data import findings, references
from ..data.findings import IMPORT, Finding
from ..reading import scene as scene_to_model

# A joint lets its child fall that can take it straight down so far [m], and is this share of that off at most.
FALLS, STRAIGHT = (1.0, 100.0), 1e-6
# A coordinate that changes by less than this on a metre of the way down has no part in it.
NO_PART = 1e-9


def nothing_holds(scene: Scene, read: scene_to_model.SceneModel) -> bool:
    """Whether gravity is on in a scene without any joint or connection, or a muscle that a body may hang by."""
    hung = any(entry.joint_uid for entry in read.bodies) or any(
        min(pair) < 0 for pair in of_muscles(read.model)
    )
    return bool(_falls_at_all(read.model) and not hung and not references.connections_of(scene))


def hints(
    scene: Scene, read: scene_to_model.SceneModel, among: Container[int] | None = None
) -> list[Finding]:
    """A hint about the models that will fall, as the scene is evaluated now; none where that is told of all bodies.

    among: session uids of objects, of which alone it is told; None: of all.
    """
    if not _falls_at_all(read.model) or nothing_holds(scene, read):
        return []
    falling: dict[str, list[tuple[references.Body | Object, str]]] = {
        code: [] for code in ("joint-will-fall", "undriven-will-fall", "will-fall")
    }
    for entry in _falling(read):
        item = references.object_by_session_uid(entry.joint_uid) if entry.joint_uid else None
        body = entry.handle.find()
        if among is not None and body.object.session_uid not in among:
            continue
        code = "will-fall"
        if item is not None:
            code = "joint-will-fall" if _can_be_led(read, item) else "undriven-will-fall"
        falling[code].append((item or body, body.name))
    return [
        replace(
            findings.about(found[0][0], code, bodies=findings.few(name for _, name in found)), is_hint=True
        )
        for code, found in falling.items()
        if found
    ]


def after_import(scene: Scene, ground: Object) -> list[Finding]:
    """`hints` about what an import made on its ground, an Empty; none where the scene cannot be read."""
    try:
        read = scene_to_model.read(scene)
    except physics_access.physics().CondyleError:  # told by the check
        return []
    among = {item.session_uid for item in ground.children_recursive}
    return findings.of_source(hints(scene, read, among), IMPORT, ground)


def _can_be_led(read: scene_to_model.SceneModel, item: Object) -> bool:
    """Whether a joint can be prescribed as it is."""
    (number,) = (entry.index for entry in read.bodies if entry.joint_uid == item.session_uid)
    return bool(item.condyle.joint.driven or led_joints.follows_poses(read.model.joints[number]))


def _falls_at_all(model: physics_access.Model) -> bool:
    return bool(np.linalg.norm(model.gravity) > 0.0)


def _falling(read: scene_to_model.SceneModel) -> list[scene_to_model.ModelBody]:
    """The bodies by which those hang on the world that nothing holds: of what hangs together, the first."""
    model = read.model
    pairs = [*of_bodies(model), *of_muscles(model)]
    groups = together(model, pairs)
    held = {int(groups[max(pair)]) for pair in pairs if min(pair) < 0 <= max(pair)}
    held |= {int(groups[entry.index]) for entry in read.leaders}
    found: dict[int, scene_to_model.ModelBody] = {}
    for entry in read.bodies:
        number = entry.index
        if model.bodies[number].parent >= 0:
            continue
        group = int(groups[number])
        if not _is_simulated(entry) or not _lets_fall(model, read.state, number):
            held.add(group)
        found.setdefault(group, entry)
    return [entry for group, entry in found.items() if group not in held]


def _is_simulated(entry: scene_to_model.ModelBody) -> bool:
    """Whether only gravity, and what is tied to it, moves a body: no animation, controller or torque does."""
    item = references.object_by_session_uid(entry.joint_uid) if entry.joint_uid else None
    if item is None:
        return True
    pushed = any(
        row.torque or conflicts.is_played(item, input_values.torque_path(number))
        for number, row in enumerate(item.condyle.joint.coordinates)
    )
    return not pushed and not looks.may_follow(item)


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
    bodies, constraints, springs, ground.
    """
    for number, body in enumerate(model.bodies):
        if body.parent >= 0:
            yield number, body.parent
    for each in (*model.springs, *model.forces, *model.contacts):
        if hasattr(each, "other"):
            yield each.body, each.other
    owners = {name: number for number, body in enumerate(model.bodies) for name in _coordinates(body)}
    constraints: Iterable[Any] = model.constraints.values()
    for constraint in constraints:
        if constraint.type == "coupling":
            for name in constraint.drivers:
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
