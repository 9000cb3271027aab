"""Inverse kinematics of the scene: sliders of joints that move points on bodies to their targets.

It runs in Blender's own process, unjitted and without SciPy: a leg of 6 coordinates takes 1.4 ms per move of the mouse,
a chain of 30 about 20 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix, Vector

from ..blender import physics_access, units
from ..data import references
from ..data.joints import slider_names, title_of
from ..data.references import Body, Handle, Key, key_of
from ..data.stored_joints import child_in_joint, read_joint
from ..reading import scene as scene_to_model
from ..sliders import sliders as drive
from . import project_poses

# Work of one search while the mouse moves [coordinates x steps], and its fewest steps: some tens of milliseconds at
# most. The next move continues from its result.
WORK, FEWEST = 120, 2
NEAR, STRAIGHT = 1e-5, 1e-4  # m and rad within which a target counts as met; sliders are float32
STARTS, STEPS = 20, 200  # number of starts of a patient search
BEHIND = 1e-3  # m: the outcome names bodies farther than this from the place of their sliders


@dataclass
class Wish:
    """A goal for a frame on a body: its place, and with `rotation` also its axes.

    Attributes:
        body: of the scene. frame: (4, 4) in the body's frame. goal: (4, 4) in the world; both rigid, in metres.
    """

    body: Handle
    frame: np.ndarray
    goal: np.ndarray
    rotation: bool = False


@dataclass(frozen=True)
class Outcome:
    """Result of a search.

    Attributes:
        met: whether all targets are met. distances [m], angles [rad]: errors, one per wish.
        done: whether the search has converged. at_limits: titles of coordinates at their limits: body and slider.
        behind: bodies that do not follow their sliders, such as a bone connected to its parent.
    """

    met: bool
    distances: np.ndarray
    angles: np.ndarray
    done: bool
    at_limits: tuple[str, ...]
    behind: tuple[str, ...] = ()

    def told(self) -> str:
        """One line for the user."""
        if self.met:
            return "reached"
        text = f"{units.told_length(float(self.distances.max()))} from the target"
        if float(self.angles.max(initial=0.0)) > STRAIGHT:
            text += f", turned {np.degrees(float(self.angles.max())):.3g}°"
        if self.behind:
            return f"{text} ({self.behind[0]} does not follow its sliders: Check Scene says why)"
        limits = ", ".join(self.at_limits[:2]) + (" ..." if len(self.at_limits) > 2 else "")
        return f"{text} (at its limit: {limits})" if limits else text


@dataclass(frozen=True)
class _Moving:
    """A joint whose sliders the search sets: its Empty, its body in the model, ranges (n, 2) and SI units (n,)."""

    uid: int
    name: str
    joint: Any
    ranges: np.ndarray
    factors: np.ndarray


class Reach:
    """A search for the sliders that meet wishes, prepared once for many goals; stores no Blender data but uids.

    Raises:
        ModelError: no joint between a wish's body and the world has sliders, a bake is shown, a joint is incomplete.
    """

    def __init__(self, scene: Scene, wishes: Sequence[Wish]) -> None:
        physics = physics_access.physics()
        self.wishes = list(wishes)
        self._moving: list[_Moving] = []
        self._titles: dict[str, str] = {}  # by reading of the model
        builder = physics.ModelBuilder(gravity=np.zeros(3))
        links = {key_of(references.resolve(item.condyle.joint.child)): item for item in _joints(scene)}
        known: dict[Key, str] = {}
        names = []
        for wish in self.wishes:
            body = references.find_body(wish.body, "the body of a target")
            before = len(self._moving)
            names.append(self._add(scene, builder, body, links, known))
            if len(self._moving) == before and not self._above(body, links):
                raise physics_access.model_error(
                    f"{body.name} has no joint driven by sliders between it and the world: "
                    "use Drive All, or Drive by Sliders on its joints"
                )
        self.model = builder.build()
        targets = [
            physics.Target(
                name,
                position=wish.goal[:3, 3],
                rotation=wish.goal[:3, :3] if wish.rotation else None,
                at=wish.frame,
            )
            for name, wish in zip(names, self.wishes)
        ]
        steps = max(FEWEST, WORK // max(1, self.model.num_coordinates))
        tolerances = {"position_tolerance": NEAR, "rotation_tolerance": STRAIGHT}
        self._quick = physics.InverseKinematics(self.model, targets, max_steps=steps, **tolerances)
        self._long = physics.InverseKinematics(self.model, targets, max_steps=STEPS, **tolerances)

    def _above(self, body: Body, links: dict[Key, Any]) -> bool:
        """Whether a driven joint lies between a body and the world."""
        while body is not None:
            item = links.get(key_of(body))
            if item is not None and item.condyle.joint.driven:
                return True
            body = _parent(body, item)
        return False

    def _add(
        self,
        scene: Scene,
        builder: physics_access.ModelBuilder,
        body: Body,
        links: dict[Key, Any],
        known: dict[Key, str],
    ) -> str:
        """Add a body and its ancestors to the model; returns its name there."""
        key = key_of(body)
        if key in known:
            return known[key]
        item = links.get(key)
        parent = _parent(body, item)
        on = self._add(scene, builder, parent, links, known) if parent is not None else None
        references.check_evaluated(body.object, body.name)
        base = np.eye(4) if parent is None else _pose(parent.matrix, parent.name)
        inverse = physics_access.physics().lie.inverse(base)
        arguments: dict[str, Any] = {"mass": 1.0, "inertia": np.eye(3)}
        if item is not None and item.condyle.joint.driven:
            if body.data.channels.baked:
                raise physics_access.model_error(f"{body.name} shows a bake, not its sliders; use Free Bake")
            joint = read_joint(scene, item)
            frame = inverse @ _pose(item.matrix_world, f"joint {item.name!r}")
            arguments |= {"joint": joint, "limits": scene_to_model.limits_of(item, joint)}
            arguments["body_in_joint"] = units.to_metres(child_in_joint(item), scene)
            metres = units.length_scale(scene)
            factors = np.array([metres if row.unit == "m" else 1.0 for row in item.condyle.joint.coordinates])
            ranges = drive.slider_ranges(item, joint) / factors[:, None]
            for reading, row in zip(joint.reading_names, item.condyle.joint.coordinates):
                self._titles[f"{body.name}.{reading}"] = f"{body.name}: {title_of(row)}"
            self._moving.append(_Moving(item.session_uid, body.name, joint, ranges, factors))
        else:
            frame = inverse @ _pose(body.matrix, body.name)
            arguments["joint"] = physics_access.physics().joints.Fixed()
        builder.add_body(body.name, on, joint_in_parent=units.to_metres(frame, scene), **arguments)
        known[key] = body.name
        return body.name

    def state(self) -> physics_access.State:
        """The model's state at the present sliders; ModelError if a joint was deleted."""
        start = {}
        for each in self._moving:
            item = references.find_joint(each.uid, each.name)
            values = np.array([float(item[name]) for name in slider_names(item.condyle.joint)])
            start[each.name] = each.joint.from_readings(values * each.factors)
        return self.model.state(q=start)

    def solve(self, goals: Sequence[np.ndarray], patient: bool = False) -> tuple[Any, Outcome]:
        """The state near the sliders that meets the goals (4, 4) [m], one per wish, and its outcome.

        patient: search from several starts until it converges; else from the present sliders, with few steps.
        """
        solver = self._long if patient else self._quick
        for number, (wish, goal) in enumerate(zip(self.wishes, goals)):
            solver.set_goal(number, goal[:3, 3], goal[:3, :3] if wish.rotation else None)
        found = solver.solve(self.state(), starts=STARTS if patient else 1)
        at_limits = tuple(self._titles.get(name, name) for name in found.at_limits)
        outcome = Outcome(
            found.reachable, found.position_errors, found.rotation_errors, found.converged, at_limits
        )
        return found.state, outcome

    def readings(self, state: physics_access.State) -> dict[int, np.ndarray]:
        """Slider values of each joint at a state, by session uid."""
        result = {}
        for each in self._moving:
            values = np.asarray(each.joint.readings(state.q[self.model.coordinate_slice(each.name)]))
            result[each.uid] = np.clip(
                values.reshape(-1) / each.factors, each.ranges[:, 0], each.ranges[:, 1]
            )
        return result

    def sliders(self) -> dict[int, np.ndarray]:
        """Present slider values, as of `readings`."""
        result = {}
        for each in self._moving:
            item = references.find_joint(each.uid, each.name)
            result[each.uid] = np.array([float(item[name]) for name in slider_names(item.condyle.joint)])
        return result


def write(values: dict[int, np.ndarray]) -> None:
    """Set sliders of joints by session uid; skips deleted joints."""
    for uid, numbers in values.items():
        item = references.object_by_session_uid(uid)
        if item is None:
            continue
        for name, value in zip(slider_names(item.condyle.joint), numbers):
            item[name] = float(value)
        item.update_tag()


def key(values: dict[int, np.ndarray], frame: float) -> int:
    """Key the sliders of joints at a frame; returns the number of keys."""
    count = 0
    for uid in values:
        item = references.object_by_session_uid(uid)
        for name in slider_names(item.condyle.joint) if item is not None else ():
            item.keyframe_insert(f'["{name}"]', frame=frame, group="Condyle")
            count += 1
    return count


def reach_now(scene: Scene, wishes: Sequence[Wish]) -> Outcome:
    """Set the sliders to meet wishes as nearly as possible; a ModelError leaves the scene unchanged."""
    search = Reach(scene, wishes)
    state, outcome = search.solve([wish.goal for wish in wishes], patient=True)
    write(search.readings(state))
    bpy.context.view_layer.update()
    return _as_shown(scene, wishes, outcome)


def _as_shown(scene: Scene, wishes: Sequence[Wish], outcome: Outcome) -> Outcome:
    """The outcome as measured in the evaluated scene, where some bodies do not follow their sliders."""
    bodies = [references.find_body(wish.body, "the body of a target") for wish in wishes]
    shown = [
        (units.to_metres(_pose(body.matrix, body.name), scene) @ wish.frame - wish.goal)[:3, 3]
        for body, wish in zip(bodies, wishes)
    ]
    distances = np.linalg.norm(shown, axis=1)
    behind = distances > outcome.distances + BEHIND
    if not behind.any():
        return outcome
    names = tuple(body.name for body, is_behind in zip(bodies, behind) if is_behind)
    return replace(outcome, met=False, distances=np.maximum(distances, outcome.distances), behind=names)


def _joints(scene: Scene) -> list[Object]:
    return [
        item
        for item in references.carrying_joints(scene)
        if references.resolve(item.condyle.joint.child) is not None
    ]


def _parent(body: Body, item: Object | None) -> Body | None:
    """The parent of a body by its joint; its parent in Blender if it has no joint, or one without sliders."""
    if item is None or not item.condyle.joint.driven:
        return references.blender_parent(body)
    if item.condyle.joint.to_world:
        return None
    return references.resolve(item.condyle.joint.parent)


def _pose(matrix: Matrix, name: str) -> np.ndarray:
    return units.split_scale(matrix, name)[0]


def point_wish(scene: Scene, body: Body, point: Sequence[float] | Vector | np.ndarray) -> Wish:
    """A wish for the point of a body that is now at a place (3,) in the world, in Blender units."""
    pose = units.to_metres(_pose(body.matrix, body.name), scene)
    frame, goal = np.eye(4), goal_at(scene, point)
    frame[:3, 3] = (physics_access.physics().lie.inverse(pose) @ goal)[:3, 3]
    return Wish(body.handle(), frame, goal)


def goal_at(scene: Scene, point: Sequence[float] | Vector | np.ndarray) -> np.ndarray:
    """A pose (4, 4) in metres with the world's axes, at a place (3,) in Blender units."""
    goal = np.eye(4)
    goal[:3, 3] = np.asarray(point, dtype=np.float64) * units.length_scale(scene)
    return goal


def drive_all(scene: Scene) -> list[Object]:
    """Drive every joint of the scene by sliders; returns the newly driven."""
    links = {key_of(references.resolve(item.condyle.joint.child)): item for item in _joints(scene)}
    wanted = [
        item
        for item in links.values()
        if drive.can_drive(item.condyle.joint) and not item.condyle.joint.driven
    ]
    for item in wanted:  # all are read before any is changed
        read_joint(scene, item)
    # poses, too: sliders move what is below them by their own small errors
    here = [project_poses.readings_here(scene, item) for item in wanted]
    for item, readings in zip(wanted, here):
        drive.set_driven(scene, item, True)
        if readings is not None:
            project_poses.set_readings(scene, item, readings)
    return wanted
