"""Place and axes of a preset's joint, from the bounding boxes of the two bodies. World, Blender units.

The joint of a bone is at its head; the joint of objects is where they meet. A shoulder blade glides over its parent, so
its joint is in the middle of the parent.

In the joint's frame x is the child's first axis of rotation, z points from the child's far end to the joint (up for a
child below it), and y is perpendicular to both.
"""

from dataclasses import dataclass

import numpy as np

from ..blender import physics_access, units
from ..data.references import Body
from .presets import FRONT, Preset

ROUNDS = 20  # of alternating projections between two boxes
# Half the width of a bone's box as a share of its length: with water in half of the box, the mass is 65 kg times the
# cube of the length in metres, the median of arm and leg segments (de Leva 1996: forearm 61, hand 66, upper arm 91).
BONE_WIDTH = 0.18
SQUARE = 0.3  # sine of the angle below which two directions count as parallel


@dataclass(frozen=True)
class Box:
    """Bounding box of a body: its middle (3,), its axes as columns (3, 3) and half its size along each (3,).

    head: of a bone (3,); None of an object.
    """

    middle: np.ndarray
    axes: np.ndarray
    half: np.ndarray
    head: np.ndarray | None = None

    def nearest(self, point: np.ndarray) -> np.ndarray:
        """The point of the solid box nearest to a point (3,)."""
        local = self.axes.T @ (point - self.middle)
        return self.middle + self.axes @ np.clip(local, -self.half, self.half)

    def reach(self, direction: np.ndarray) -> float:
        """Extent of the box from its middle in a direction (3,)."""
        return float(np.abs(self.axes.T @ direction) @ self.half)


def box_of(body: Body) -> Box:
    """The bounding box of an object or bone; of an object without size, by its Empty's display size.

    Raises:
        ModelError: its transform is not rigid with uniform scale.
    """
    pose, scale = units.split_scale(body.matrix, body.name, body.owner)
    if body.bone:
        half = np.array([BONE_WIDTH, 0.5, BONE_WIDTH]) * body.pose_bone.bone.length * scale
        head = pose[:3, 3]
        return Box(head + pose[:3, :3] @ (0.0, half[1], 0.0), pose[:3, :3], half, head)
    corners = np.array([tuple(corner) for corner in body.object.bound_box], dtype=np.float64)
    low, high = corners.min(axis=0), corners.max(axis=0)
    if not (high > low).any():  # an Empty
        low, high = np.full(3, -body.object.empty_display_size), np.full(3, body.object.empty_display_size)
    middle = pose[:3, 3] + pose[:3, :3] @ (0.5 * scale * (low + high))
    return Box(middle, pose[:3, :3], 0.5 * scale * (high - low))


def frame_of(preset: Preset, parent: Box, child: Box, on_left: bool) -> np.ndarray:
    """World matrix (4, 4) of the joint of a child on the figure's left or right."""
    size = float(np.linalg.norm(child.half))
    if preset.anchor == "PARENT":
        return _on_surface(parent, child)
    if preset.anchor == "BEHIND":  # of a jaw: at its heads, behind and above
        front, up = np.array(FRONT), np.array((0.0, 0.0, 1.0))
        behind = child.middle - child.reach(front) * front + child.reach(up) * up
        place = behind if child.head is None else child.head
        return _frame(place, front, np.array(preset.toward))
    place = between(parent, child) if child.head is None else child.head
    distal = child.middle - place
    if np.linalg.norm(distal) < 1e-3 * size:
        distal = child.middle - parent.middle
    if np.linalg.norm(distal) < 1e-3 * size:
        distal = np.array((0.0, 0.0, -1.0))
    distal = distal / np.linalg.norm(distal)
    if preset.anchor == "EDGE":
        return _edge(place, distal, child)
    frame = _frame(place, distal, np.array(preset.toward))
    if preset.kind == "euler" and not on_left:
        frame[:3, 1:3] *= -1.0  # the right side mirrors the left one: abduction is outward on both
    if preset.name == "thumb":  # z is the axis of flexion, y points to the second axis
        frame[:3, :3] = frame[:3, :3] @ np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return frame


def between(parent: Box, child: Box) -> np.ndarray:
    """The middle of the gap between two boxes; a common point if they overlap."""
    on_child = child.nearest(parent.middle)
    on_parent = parent.nearest(child.middle)
    for _ in range(ROUNDS):
        on_parent = parent.nearest(0.5 * (on_parent + on_child))
        on_child = child.nearest(on_parent)
    return 0.5 * (on_parent + on_child)


def _frame(place: np.ndarray, distal: np.ndarray, toward: np.ndarray) -> np.ndarray:
    """The frame in which a positive rotation about x turns `distal` towards `toward`."""
    for wanted in (toward, np.array(FRONT), np.array((0.0, 0.0, -1.0))):
        axis = np.cross(distal, wanted)
        if np.linalg.norm(axis) > SQUARE:
            break
    return _pose(place, axis / np.linalg.norm(axis), -distal)


def _edge(place: np.ndarray, distal: np.ndarray, child: Box) -> np.ndarray:
    """The frame of a door: x along the longest side of the child's box across the direction away from the joint."""
    aside = [k for k in range(3) if abs(child.axes[:, k] @ distal) < np.sqrt(0.5)]
    axis = child.axes[:, max(aside, key=lambda k: child.half[k])]
    return _pose(place, axis - (axis @ distal) * distal, -distal)


def _on_surface(parent: Box, child: Box) -> np.ndarray:
    """The frame in the parent's middle with z towards the child and y up, so that an ellipsoid about it has the child
    on its surface."""
    outward = child.middle - parent.middle
    if np.linalg.norm(outward) < 1e-3 * np.linalg.norm(parent.half):
        raise physics_access.model_error("the child is in the parent's middle: move it to the surface")
    outward = outward / np.linalg.norm(outward)
    up = np.array((0.0, 0.0, 1.0)) if abs(outward[2]) < np.sqrt(0.5) else np.array((0.0, 1.0, 0.0))
    return _pose(parent.middle, np.cross(up, outward), outward)


def _pose(place: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Frame with z as given, and x as near as possible to the given one."""
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = np.column_stack([x, np.cross(z, x), z]), place
    return frame
