"""A point of one body on a surface of another: a plane, or plane segments (ArtiSynth's guide, secs. 3.4.13-14).

One constraint and no coordinates: the body stays free to turn and to slide along the surface. A unilateral one keeps
its value from falling below 0, a bilateral one keeps it at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import lie
from .._typing import FloatArray
from ..body import Body
from ..dynamics import body_poses, check_state
from ..dynamics.jacobian import body_bias, body_jacobian
from ..errors import ModelError
from ..immutable import ReadOnlyArrays
from ..model import Model, State
from ..validation import finite_array, truth


@dataclass(frozen=True, eq=False)
class Connector(ReadOnlyArrays):
    """Base of the connectors: a point of `body`, and a frame D on `other` whose surface it keeps to.

    Attributes:
        body: name of the body with the point.
        point: where on it, (3,) in its frame.
        other: name of the body that carries the surface; None: the world.
        frame: D in the other body's frame, (4, 4).
        unilateral: keeps the point on the side that the normal shows to, not on the surface.
    """

    body: Any
    point: Any = (0.0, 0.0, 0.0)
    other: Any = None
    frame: Any = None
    unilateral: bool = False
    type: ClassVar[str]

    def __post_init__(self) -> None:
        names = [item.name if isinstance(item, Body) else item for item in (self.body, self.other)]
        if not isinstance(names[0], str) or not names[0]:
            raise ModelError(f"body of a {self._called} must be named, got {self.body!r:.80}")
        if names[1] is not None and not isinstance(names[1], str):
            raise ModelError(f"other of a {self._called} must be a body or None, got {self.other!r:.80}")
        if names[0] == names[1]:
            raise ModelError(f"a {self._called} needs two bodies, got {names[0]!r} twice")
        frame = (
            np.eye(4) if self.frame is None else lie.check_frames(self.frame, f"frame of a {self._called}")
        )
        if frame.shape != (4, 4):
            raise ModelError(f"frame of a {self._called} must have shape (4, 4), got {frame.shape}")
        object.__setattr__(self, "body", names[0])
        object.__setattr__(self, "other", names[1])
        object.__setattr__(self, "point", finite_array(self.point, (3,), f"point of a {self._called}"))
        object.__setattr__(self, "frame", frame)
        unilateral = truth(self.unilateral, f"unilateral of a {self._called}")
        object.__setattr__(self, "unilateral", unilateral)
        self.lock()

    @property
    def _called(self) -> str:
        return self.type.replace("_", " ")

    def surface(self, place: FloatArray) -> tuple[float, FloatArray]:
        """Signed distance of a place (3,) in D from the surface, and the surface's normal (3,) there."""
        raise TypeError(f"{type(self).__name__} does not say what its surface is")

    def value(self, model: Model, state: State) -> FloatArray:
        """Signed distance of the point from the surface along its normal (1,) [m].

        Raises:
            ModelError: the model has no such body; the state is not one of the model.
        """
        return np.array([self._contact(model, state)[0]])

    def jacobian(self, model: Model, state: State) -> FloatArray:
        """Its derivatives by the coordinates (1, nv)."""
        _, normal, where = self._contact(model, state)
        row = normal @ _point_jacobian(model, state, self.body, where)
        if self.other is not None:
            row = row - normal @ _point_jacobian(model, state, self.other, where)
        result: FloatArray = row[None]
        return result

    def bias(self, model: Model, state: State) -> FloatArray:
        """J' q' (1,): its second derivative by time where the coordinates have no accelerations [m/s^2]."""
        _, normal, where = self._contact(model, state)
        velocity, acceleration, _ = _point_motion(model, state, self.body, where)
        if self.other is not None:
            drag, pull, turning = _point_motion(model, state, self.other, where)
            acceleration = acceleration - pull - 2.0 * np.cross(turning, velocity - drag)
        return np.array([normal @ acceleration])

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description, ``{"type": ..., ...}``; ``constraints.from_dict`` reads it."""
        return {
            "type": self.type,
            "body": self.body,
            "point": self.point.tolist(),
            "other": self.other,
            "frame": self.frame.tolist(),
            "unilateral": self.unilateral,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Connector) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.type, self.body, self.other, self.point.tobytes(), self.frame.tobytes()))

    def _contact(self, model: Model, state: State) -> tuple[float, FloatArray, FloatArray]:
        """Value, normal (3,) and point (3,), both in the world."""
        poses = body_poses(model, check_state(model, state))
        where = poses[model.index(self.body)] @ np.append(self.point, 1.0)
        frame = self.frame if self.other is None else poses[model.index(self.other)] @ self.frame
        value, normal = self.surface((lie.inverse(frame) @ where)[:3])
        return value, frame[:3, :3] @ normal, where[:3]


def _point_jacobian(model: Model, state: State, body: str, where: FloatArray) -> FloatArray:
    """Velocity (3, nv) in world axes of the point of a body that is at `where`."""
    pose = body_poses(model, state)[model.index(body)]
    jacobian = body_jacobian(model, state, body)
    lever = lie.hat(pose[:3, :3].T @ (where - pose[:3, 3]))
    result: FloatArray = pose[:3, :3] @ (jacobian[3:] - lever @ jacobian[:3])
    return result


def _point_motion(
    model: Model, state: State, body: str, where: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Velocity, acceleration without those of the coordinates, and the body's angular velocity, in world axes."""
    pose = body_poses(model, state)[model.index(body)]
    rotation = pose[:3, :3]
    lever = rotation.T @ (where - pose[:3, 3])
    twist = body_jacobian(model, state, body) @ state.qd
    rate = body_bias(model, state, body)
    velocity = twist[3:] + np.cross(twist[:3], lever)
    acceleration = rate[3:] + np.cross(rate[:3], lever) + np.cross(twist[:3], velocity)
    return rotation @ velocity, rotation @ acceleration, rotation @ twist[:3]


@dataclass(frozen=True, eq=False)
class PlanarConnector(Connector):
    """Keeps a point on the x-y plane of D, or with `unilateral` at z >= 0 (ArtiSynth's guide, sec. 3.4.13).

    Attributes as of `Connector`: body, point, other, frame, unilateral.
    """

    type: ClassVar[str] = "planar_connector"

    def surface(self, place: FloatArray) -> tuple[float, FloatArray]:
        return float(place[2]), np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class SegmentedPlanarConnector(Connector):
    """Keeps a point on a polyline in the x-z plane of D, drawn out along y (ArtiSynth's guide, sec. 3.4.14).

    The segment that is nearest counts, as a whole plane; the first and the last go on beyond their ends. Where several
    are as near, behind an outer corner, it is the one whose plane is farthest: so the value is continuous there.

    Attributes:
        segments: corners (m, 2) of the polyline, x and z. Along it the normal is to the left, seen against y: of a
            segment along x it is z (eq. 3.30).
    """

    segments: Any = ()
    type: ClassVar[str] = "segmented_planar_connector"

    def __post_init__(self) -> None:
        super().__post_init__()
        count = np.shape(self.segments)[:1]
        corners = finite_array(self.segments, (*count, 2), f"segments of a {self._called}")
        if len(corners) < 2:
            raise ModelError(f"a {self._called} needs at least 2 corners (m, 2), got {len(corners)}")
        lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
        if not (lengths > 1e-12).all():
            k = int(np.argmin(lengths))
            raise ModelError(f"corners {k} and {k + 1} of a {self._called} coincide: {corners[k].tolist()}")
        corners.flags.writeable = False
        object.__setattr__(self, "segments", corners)

    def surface(self, place: FloatArray) -> tuple[float, FloatArray]:
        along = np.diff(self.segments, axis=0)
        lengths = np.linalg.norm(along, axis=1)
        along = along / lengths[:, None]
        normals = np.stack([-along[:, 1], along[:, 0]], axis=1)  # u x y of eq. 3.30, in x and z
        offset = place[[0, 2]] - self.segments[:-1]
        heights = np.einsum("ij,ij->i", offset, normals)
        covered = np.einsum("ij,ij->i", offset, along)
        lower, upper = np.zeros(len(lengths)), lengths.copy()
        lower[0], upper[-1] = -np.inf, np.inf
        distances = np.hypot(heights, covered - np.clip(covered, lower, upper))
        nearest = distances <= distances.min() * (1.0 + 1e-12)
        k = int(np.argmax(np.where(nearest, np.abs(heights), -1.0)))
        return float(heights[k]), np.array([normals[k, 0], 0.0, normals[k, 1]])

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "segments": self.segments.tolist()}
