"""Reads the goals of bodies: where their points are in the body, and where the targets are at the goals' frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..data import references
from ..data.goals import AT_TARGETS
from ..data.references import Body, Handle
from ..data.starting import SETTLED
from . import carriers, stepper

#: kinds of physics by those of goals
KINDS = {"REACH": "reach", "REST": "rest", "POSE": "pose", "LOOK": "look"}


@dataclass(frozen=True)
class Wanted:
    """A goal of a body of the scene: kind of physics, frame, weight, the point in its body [m] and its place [m], or
    the number of its joint's coordinate and its value [rad, m], or the direction in which it looks.
    """

    handle: Handle
    body: str
    kind: str
    frame: int
    weight: float
    point: tuple[float, ...] = (0.0, 0.0, 0.0)
    target: tuple[float, ...] = (0.0, 0.0, 0.0)
    target_name: str = ""
    coordinate: int = 0
    value: float = 0.0
    direction: tuple[float, ...] = (0.0, 1.0, 0.0)


def read(scene_uid: int, first: int, last: int) -> list[Wanted]:
    """The goals in use of a scene, by session uid, by frame.

    Raises:
        ModelError: there is none; one is outside of the frames after the first to the last, or lacks a target.
    """
    with stepper.unbaked(scene_uid, first) as view:
        rows = [(body, row) for body, row in in_use(view)]
        if not rows:
            raise physics_access.model_error("no body has a goal: select a body and use Add Goal")
        for body, row in rows:
            _check(view, body, row, first, last)
        moving = carriers.simulated(view)
        for joint in references.carrying_joints(view):  # before anything is compiled for its pose
            child = references.resolve(joint.condyle.joint.child)
            if child is not None and any(
                references.same(body, child) or carriers.hangs_on(body, child, moving) for body, _ in rows
            ):
                refuse_settled(joint)
        rows.sort(key=lambda each: each[1].frame)
        with stepper.at_frame(view, first) as now:
            found = []
            for body, row in rows:
                place = (0.0, 0.0, 0.0)
                if row.kind in AT_TARGETS:
                    now.go(row.frame)
                    place = tuple(
                        units.array4(now.matrix(Body(row.target)))[:3, 3] * units.length_scale(view)
                    )
                found.append(_wanted(view, body, row, place))
    return found


def refuse_settled(joint: Object) -> None:
    """ModelError for a joint that torques move if it starts where springs and gravity balance."""
    if joint.condyle.joint.start_from == SETTLED[0]:
        raise physics_access.model_error(
            f"joint {joint.name!r} starts Settled, a pose that changes with its torques: choose another Start With"
        )


def in_use(scene: Scene) -> Iterator[tuple[Body, Any]]:
    """Bodies of a scene and their goals that are in use."""
    for body in references.bodies_of(scene):
        for row in body.data.goals.rows:
            if row.active:
                yield body, row


def _check(view: Scene, body: Body, row: Any, first: int, last: int) -> None:
    if not first < row.frame <= last:
        raise physics_access.model_error(
            f"{body.name}: its goal is at frame {row.frame}, outside of the frames {first + 1} to {last} of a bake: "
            "change its Frame or the range"
        )
    if row.kind in AT_TARGETS:
        if row.target is None:
            raise physics_access.model_error(
                f"{body.name}: its goal at frame {row.frame} has no Target: choose an object"
            )
        if row.kind == "LOOK" and row.target == body.object and not body.bone:
            raise physics_access.model_error(f"{body.name}: it cannot look at itself: choose another Target")
        references.check_evaluated(row.target, f"{body.name}: the target {row.target.name!r}")


def _wanted(view: Scene, body: Body, row: Any, place: tuple[float, ...]) -> Wanted:
    _, scale = units.split_scale(body.matrix, body.name, body.owner)
    local = np.zeros(3) if row.kind == "LOOK" else point_of(view, body, row)
    point = tuple((local * scale * units.length_scale(view)).tolist())
    name = "" if row.target is None else row.target.name
    return Wanted(
        body.handle(),
        body.name,
        KINDS[row.kind],
        row.frame,
        row.weight,
        point,
        tuple(map(float, place)),
        name,
        row.coordinate,
        row.value,
        tuple(axis_of(row.looks_along).tolist()),
    )


def axis_of(name: str) -> np.ndarray:
    """The direction (3,) of an axis in a body's own axes: "X", "-Y" and the like."""
    return (-1.0 if name.startswith("-") else 1.0) * np.eye(3)["XYZ".index(name[-1])]


def point_of(scene: Scene, body: Body, row: Any) -> np.ndarray:
    """The point (3,) of a goal in its body's own axes."""
    return tip(scene, body) if row.use_tip else np.array(row.point, dtype=np.float64)


def tip(scene: Scene, body: Body) -> np.ndarray:
    """Tip (3,) of a body in its own axes: the tail of a bone; of a mesh the middle of the side of its bounding box that
    is farthest from the body's joint; else the origin.
    """
    if body.bone:
        return np.array((0.0, body.pose_bone.bone.length, 0.0))
    if body.object.type != "MESH":
        return np.zeros(3)
    return far_side(scene, body, np.array(body.object.bound_box, dtype=np.float64))


def far_side(scene: Scene, body: Body, box: np.ndarray) -> np.ndarray:
    """The middle (3,) of the side of a box around places (n, 3) that is farthest from a body's joint."""
    middle, half = (box.max(axis=0) + box.min(axis=0)) / 2.0, np.ptp(box, axis=0) / 2.0
    joint = references.joint_of(scene, body)
    inverse = np.linalg.inv(units.array4(body.matrix))
    base = middle + half if joint is None else (inverse @ units.array4(joint.matrix_world)[:, 3])[:3]
    sides = [middle + sign * half * np.eye(3)[axis] for axis in range(3) for sign in (-1.0, 1.0)]
    return max(sides, key=lambda side: float(np.linalg.norm(side - base)))
