"""The handle of a joint: a point on its child to drag, and the coordinates that put it under the mouse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..data import references
from ..data import stored_joints as joints
from ..data.joints import JointProperties, is_baked_over, slider_names
from ..sliders import sliders

#: samples along a curve and along each side of a surface
PLACES = (17, 5)
#: a point that moves by less than this share of the joint's signs is not used as the handle
STILL = 0.5
MOST_STEPS = 12
#: tolerance of the search in pixels
NEAR = 0.05
#: longest step of a coordinate in the search, as a share of its range
LONGEST = 0.1

Projection = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Handle:
    """The handle of a joint, without Blender data.

    Attributes:
        joint: of physics. base: world pose (4, 4) of the joint's frame, lengths in Blender units.
        metre: Blender units per metre. arm: the point (3,) in the moving frame.
        free: indices of the dragged coordinates. ranges: (n, 2) of the sliders, in SI.
        round: whether each coordinate is periodic (n,).
    """

    joint: Any
    base: np.ndarray
    metre: float
    arm: np.ndarray
    free: tuple[int, ...]
    ranges: np.ndarray
    round: np.ndarray

    def frames(self, readings: np.ndarray) -> np.ndarray:
        """Moving frames (..., 4, 4) in the world at readings (..., n)."""
        flat = np.reshape(readings, (-1, np.shape(readings)[-1]))
        poses = np.array([self.joint.transform(self.joint.from_readings(values)) for values in flat])
        placed = self.base @ units.scaled_translation(poses, self.metre)
        return placed.reshape(*np.shape(readings)[:-1], 4, 4)

    def points(self, readings: np.ndarray) -> np.ndarray:
        """The handle (..., 3) in the world at readings (..., n), in Blender units."""
        frames = self.frames(readings)
        return frames[..., :3, :3] @ self.arm + frames[..., :3, 3]

    def inside(self, readings: np.ndarray) -> np.ndarray:
        """Readings (n,) clamped to the sliders' ranges, except for periodic coordinates."""
        lower, upper = self.ranges.T
        return np.where(self.round, readings, np.clip(readings, lower, upper))

    def at_end(self, readings: np.ndarray, uphill: np.ndarray) -> np.ndarray:
        """Mask (f,) of the free coordinates at an end that a step against the slope `uphill` (f,) would cross."""
        free = list(self.free)
        lower, upper = self.ranges[free].T
        out = ((readings[free] <= lower) & (uphill > 0.0)) | ((readings[free] >= upper) & (uphill < 0.0))
        return out & ~self.round[free]


def free_coordinates(settings: JointProperties) -> tuple[int, ...]:
    """Indices of a joint's coordinates, without time."""
    return tuple(k for k, row in enumerate(settings.coordinates) if row.unit != "s")


def why_not(item: Object) -> str:
    """Why a joint cannot be dragged; empty if it can."""
    settings = item.condyle.joint
    if not 1 <= len(free_coordinates(settings)) <= 2:
        return "Only joints with one or two coordinates have a handle"
    if not settings.driven or any(name not in item for name in slider_names(settings)):
        return "The child is not driven: use Drive by Sliders first"
    return "The child shows a bake: use Free Bake first" if is_baked_over(settings) else ""


def base_of(item: Object) -> np.ndarray:
    """World pose (4, 4) of a joint's frame."""
    return np.array(item.matrix_world.normalized())


def handle(item: Object, joint: physics_access.Joint, metre: float) -> Handle:
    """The handle of a joint that has sliders.

    Args:
        joint: of physics. metre: Blender units per metre.
    """
    settings = item.condyle.joint
    base = base_of(item)
    ranges = sliders.slider_ranges(item, joint)
    closed = (
        np.isinf(joint.range).any(axis=1) if len(joint.range) == len(ranges) else np.zeros(len(ranges), bool)
    )
    closed &= [row.limits != "CUSTOM" for row in settings.coordinates]
    free = free_coordinates(settings)
    result = Handle(joint, base, metre, np.zeros(3), free, ranges, closed)
    return replace(result, arm=_arm(item, result.frames(_places(result))))


def _arm(item: Object, frames: np.ndarray) -> np.ndarray:
    """Handle point (3,) of a joint in its moving frame: its origin, the middle of the child (of a bone the tail) or the
    tip of an axis, the first of these that moves.

    Args:
        frames: places (m, 4, 4) of the moving frame over the joint's range.
    """
    size = max(2.0 * float(item.empty_display_size), 1e-6)
    places = [np.zeros(3)]
    child = references.resolve(item.condyle.joint.child)
    if child is not None:
        rest = joints.child_in_joint(item)
        places.append(rest[:3, :3] @ _middle(child) + rest[:3, 3])
    travels = [np.ptp(frames[:, :3, :3] @ place + frames[:, :3, 3], axis=0).max() for place in places]
    found = next((place for place, travel in zip(places, travels) if travel > STILL * size), None)
    if found is not None:
        return found
    tips = size * np.eye(3)
    turned = [np.ptp(frames[:, :3, 3] + frames[:, :3, :3] @ tip, axis=0).max() for tip in tips]
    return tips[int(np.argmax(turned))]


def _middle(child: references.Body) -> np.ndarray:
    """Tail of a bone or middle of an object's bounding box (3,), in the child's rigid frame."""
    if child.bone:
        return np.array([0.0, child.pose_bone.bone.length, 0.0]) * child.object.matrix_world.to_scale()[1]
    corners = np.array([tuple(corner) for corner in child.object.bound_box])
    middle: np.ndarray = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    return middle * np.array(child.object.matrix_world.to_scale())


def _places(held: Handle) -> np.ndarray:
    """Readings (m, n) on a grid over the ranges of the free coordinates, the others in the middle of theirs."""
    count = PLACES[len(held.free) - 1]
    sides = [np.linspace(held.ranges[k, 0], held.ranges[k, 1], count) for k in held.free]
    grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(held.free))
    readings = np.tile(held.ranges.mean(axis=1), (len(grid), 1))
    readings[:, list(held.free)] = grid
    return readings


def drag(held: Handle, start: np.ndarray, target: np.ndarray, project: Projection) -> np.ndarray:
    """Readings (n,) near `start` at which the handle is nearest to a target (2,) [pixels].

    Damped Gauss-Newton from the present place: the handle moves along the curve, and does not jump to another part of
    it under the mouse.

    Args:
        project: points (m, 3) in the world to pixels (m, 2).
    """
    free, widths = list(held.free), np.ptp(held.ranges, axis=1)
    now = held.inside(np.array(start, dtype=np.float64))
    error = project(held.points(now[None]))[0] - target
    damping = 1e-3
    for _ in range(MOST_STEPS):
        if np.linalg.norm(error) < NEAR:
            break
        steps = np.zeros((2 * len(free), len(now)))
        for number, k in enumerate(free):
            steps[2 * number, k], steps[2 * number + 1, k] = 1e-4 * widths[k], -1e-4 * widths[k]
        seen = project(held.points(now + steps)).reshape(len(free), 2, 2)
        slope = ((seen[:, 0] - seen[:, 1]) / 2e-4).T  # pixels over the whole range
        change = _step(slope, error, damping, held.at_end(now, slope.T @ error))
        tried = now.copy()
        tried[free] += change * widths[free]
        tried = held.inside(tried)
        found = project(held.points(tried[None]))[0] - target
        if np.linalg.norm(found) < np.linalg.norm(error):
            moved = np.abs(tried - now).max()
            now, error, damping = tried, found, 0.3 * damping
            if moved == 0.0:
                break
        else:
            damping = 10.0 * damping
    return now


def _step(slope: np.ndarray, error: np.ndarray, damping: float, stopped: np.ndarray) -> np.ndarray:
    """Step (f,) of the free coordinates, as shares of their ranges, that reduces an error (2,); coordinates `stopped`
    (f,) at an end do not move.
    """
    change = np.zeros(slope.shape[1])
    moving = np.flatnonzero(~stopped)
    if len(moving):
        part = slope[:, moving]
        square = part.T @ part
        square += damping * max(float(np.trace(square)), 1e-9) * np.eye(len(moving))
        change[moving] = np.clip(-np.linalg.solve(square, part.T @ error), -LONGEST, LONGEST)
    return change


def read(scene: Scene, item: Object) -> Handle:
    """The handle of a joint of the scene; ModelError if the joint is incomplete."""
    joint = joints.read_joint(scene, item)
    if joint.num_coordinates != len(item.condyle.joint.coordinates):
        raise physics_access.model_error(
            f"joint {item.name!r} has {joint.num_coordinates} coordinates but settings for "
            f"{len(item.condyle.joint.coordinates)}; set its type again"
        )
    return handle(item, joint, 1.0 / units.length_scale(scene))
