"""Adds the muscles of an OpenSim model to its builder: points, conditions, wrapping surfaces, force laws."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body
from ..errors import ModelError
from ..model.builder import ModelBuilder
from ..model.model import Model
from ..muscles import Condition, Cylinder, Ellipsoid, Moving, Obstacle, PathPoint
from ..muscles.wrapping import Wrap
from .opensim_functions import SPAN, scaled, shifted
from .opensim_laws import MARGIN, law_of
from .opensim_notes import Notes
from .opensim_parts import (
    WRAPS,
    OpenSimCoordinate,
    OpenSimMuscle,
    OpenSimPoint,
    OpenSimWrapObject,
    follow_drivers,
)
from .opensim_tables import summed

# random poses at which paths are tested against their surfaces, beside those along each coordinate
POSES = 60
ALONG = 9
ACTIVATION = 0.05  # default initial activation
METHODS = ("hybrid", "")
ROUND_OFF = 1e-6  # of rotations that are kept in single precision
INSIDE = 5e-5  # of the radii: depth of a point from which on it is inside an ellipsoid in OpenSim


def add_muscles(
    builder: ModelBuilder,
    muscles: Mapping[str, OpenSimMuscle],
    wrap_objects: Mapping[str, OpenSimWrapObject],
    coordinates: Mapping[str, OpenSimCoordinate],
    smoothing: float | None,
    notes: Notes,
) -> None:
    """Add all muscles; one that cannot be added is left out, with a warning.

    Args:
        builder: with the bodies. smoothing: of the wraps, None for the default.
    """
    wrapped = any(
        wrap_objects[wrap.wrap_object].active for muscle in muscles.values() for wrap in muscle.wraps
    )
    meetings = Meetings(builder, coordinates) if wrapped else None  # bodies only: no muscles yet
    for muscle in muscles.values():
        try:
            path: list[Any] = [path_point(point, coordinates) for point in muscle.points]
            if meetings is not None:
                path = _with_wraps(path, muscle, wrap_objects, meetings, smoothing, notes)
            law = law_of(muscle, notes)
            start = (
                None
                if law is None or not law.state_names
                else muscle.parameters.get("default_activation", ACTIVATION)
            )
            excitation = 0.0 if muscle.law is not None else None
            once = sum(isinstance(item, Wrap) for item in path) > 1
            builder.add_muscle(
                muscle.name, path, law=law, excitation=excitation, activation=start, wraps_once=once
            )
        except ModelError as error:
            notes.warn(f"a muscle is left out: {error}", muscle.name)


def path_point(point: OpenSimPoint, coordinates: Mapping[str, OpenSimCoordinate]) -> PathPoint:
    """Our path point; ModelError as of `in_frame`."""
    condition = None
    if point.coordinate is not None and point.range is not None:
        lower, upper = point.range
        condition = Condition(coordinates[point.coordinate].coordinate, lower - MARGIN, upper + MARGIN)
    if not point.moves or point.frame is None:
        return PathPoint(point.body, point.location.tolist(), condition)
    parts = [
        float(function(0.0)) if follows is None else Moving(coordinates[follows].coordinate, function)
        for function, follows in point.moves
    ]
    return PathPoint(point.body, in_frame(parts, point.frame, point.name), condition)


def in_frame(parts: Sequence[float | Moving], pose: FloatArray, name: str) -> list[float | Moving]:
    """Components of a point of a frame in another one, in which that frame has a pose (4, 4) [m].

    Raises:
        ModelError: one of them would follow several coordinates.
    """
    found: list[float | Moving] = []
    for row in pose[:3]:
        moving = [(part, w) for part, w in zip(parts, row) if isinstance(part, Moving) and abs(w) > ROUND_OFF]
        rest = row[3] + sum(w * part for part, w in zip(parts, row) if not isinstance(part, Moving))
        if len({part.coordinate for part, _ in moving}) > 1:
            raise ModelError(
                f"point {name!r} follows several coordinates in a frame that is rotated, which is not supported"
            )
        whole = summed([scaled(part.function, float(w)) for part, w in moving], *SPAN, name)
        found.append(
            float(rest) if whole is None else Moving(moving[0][0].coordinate, shifted(whole, float(rest)))
        )
    return found


def obstacle(given: OpenSimWrapObject) -> Obstacle:
    """Our wrapping surface; a path always passes a cylinder in its quadrant."""
    side: Any = "shorter"
    if given.quadrant != "all" and not (given.kind == "cylinder" and given.quadrant.endswith("z")):
        side = given.quadrant if given.quadrant.startswith("-") else f"+{given.quadrant}"
    make, entries = WRAPS[given.kind]
    size: dict[str, Any] = dict(zip(entries.values(), given.size))
    if make is Ellipsoid:
        size = {"radii": np.array(given.size)}
    always = make is Cylinder and side != "shorter"
    return make(body=given.frame.body, frame=given.frame.pose, side=side, always=always, **size)


class Meetings:
    """Poses of a model throughout its coordinates' ranges, to find where paths meet surfaces."""

    def __init__(self, builder: ModelBuilder, coordinates: Mapping[str, OpenSimCoordinate]) -> None:
        self.model: Model = builder.build()
        self.places = {name: index for index, name in enumerate(self.model.coordinate_names)}
        rng = np.random.default_rng(0)
        count = self.model.num_coordinates
        ranges = np.zeros((count, 2))
        middle = np.zeros(count)
        for coordinate in coordinates.values():
            index = self.places[coordinate.coordinate]
            ranges[index] = np.clip(coordinate.range, -np.pi, np.pi)
            middle[index] = coordinate.default
        along = np.tile(middle, (1 + count * ALONG, 1))
        rows = 1 + np.arange(count * ALONG).reshape(count, ALONG)
        along[rows.T, np.arange(count)] = np.linspace(ranges[:, 0], ranges[:, 1], ALONG)
        anywhere = rng.uniform(ranges[:, 0], ranges[:, 1], (POSES, count))
        self.q = np.concatenate([along, anywhere])
        follow_drivers(self.model, self.q, np.zeros_like(self.q))
        self.poses: dict[str, FloatArray] = {}
        for body in self.model.bodies:
            parent = None if body.parent < 0 else self.model.body_names[body.parent]
            self.poses[body.name] = self._world(parent) @ self._in_parent(body)

    def _in_parent(self, body: Body) -> FloatArray:
        """Poses (poses, 4, 4) of a body in its parent; most differ in one coordinate, so a joint has few of its own."""
        rows, where = np.unique(
            self.q[:, self.model.coordinate_slice(body.name)], axis=0, return_inverse=True
        )
        found = body.joint_in_parent @ body.joint.transform(rows) @ body.body_in_joint
        return found[where.ravel()]

    def find(self, path: Sequence[PathPoint], surface: OpenSimWrapObject) -> tuple[FloatArray, Any]:
        """For each segment of a path where along it it is nearest to a surface on average, and whether it may wrap
        there: all that move relative to it, and those fixed there that meet it with both ends outside.
        """
        count = max(len(path) - 1, 0)
        if count == 0:
            return np.zeros(0), np.zeros(0, dtype=bool)
        frame = self._world(surface.frame.body) @ surface.frame.pose
        ends = np.stack([self._places(point) for point in path], axis=1) - frame[:, None, :3, 3]
        ends = ends @ frame[:, :3, :3]
        places, met = meets(ends[:, :-1], ends[:, 1:], surface)
        counted = met | ~met.any(axis=0)
        along = np.where(counted, places, 0.0).sum(axis=0) / counted.sum(axis=0)
        own = surface.frame.body
        here = np.array([p.body == own and not p.moves and p.condition is None for p in path])
        fixed = here[:-1] & here[1:]
        may = ~fixed | met[0]
        if surface.kind != "torus":
            deeper = ends[0] * (1.0 + INSIDE)
            inside = meets(deeper, deeper, surface)[1]
            may &= ~(fixed & (inside[:-1] | inside[1:]))
        return along, may

    def _places(self, point: PathPoint) -> FloatArray:
        """World places (poses, 3) of a point."""
        local = [
            part.function(self.q[:, self.places[part.coordinate]])
            if isinstance(part, Moving)
            else np.full(len(self.q), float(part))
            for part in point.position
        ]
        world = self._world(point.body)
        return np.einsum("pij,jp->pi", world[:, :3, :3], np.array(local)) + world[:, :3, 3]

    def _world(self, body: str | None) -> FloatArray:
        return np.tile(np.eye(4), (len(self.q), 1, 1)) if body is None else self.poses[body]


def meets(start: FloatArray, end: FloatArray, surface: OpenSimWrapObject) -> tuple[FloatArray, Any]:
    """Where line segments (..., 3), in the frame of a surface, are nearest to it (0 to 1), and whether inside."""
    if surface.kind == "torus":  # a path is meant to pass through the ring
        height = start[..., 2] - end[..., 2]
        share = start[..., 2] / np.where(height == 0.0, 1.0, height)
        crossing = start + share[..., None] * (end - start)
        inside = np.hypot(crossing[..., 0], crossing[..., 1]) < surface.size[1]
        return share, (start[..., 2] * end[..., 2] < 0.0) & inside
    scale = {"sphere": np.full(3, surface.size[0]), "cylinder": np.array([surface.size[0]] * 2 + [np.inf])}
    radii = scale.get(surface.kind, np.resize(np.array(surface.size), 3))
    first, step = start / radii, (end - start) / radii
    length = (step**2).sum(axis=-1)
    share = np.clip(-(first * step).sum(axis=-1) / np.where(length == 0.0, 1.0, length), 0.0, 1.0)
    deepest = first + share[..., None] * step
    inside = (deepest**2).sum(axis=-1) < 1.0
    if surface.kind == "cylinder":
        height = start[..., 2] + share * (end[..., 2] - start[..., 2])
        inside &= np.abs(height) <= 0.5 * surface.size[1]
    return share, inside


def _with_wraps(
    path: list[Any],
    muscle: OpenSimMuscle,
    wrap_objects: Mapping[str, OpenSimWrapObject],
    meetings: Meetings,
    smoothing: float | None,
    notes: Notes,
) -> list[Any]:
    """The path with its surfaces between the points where it may meet them."""
    over: dict[int, list[tuple[float, Obstacle]]] = {}
    for wrap in muscle.wraps:
        surface = wrap_objects[wrap.wrap_object]
        if not surface.active:
            notes.note("an inactive wrap object is left out", f"{muscle.name} over {surface.name}")
            continue
        first = max(wrap.range[0] - 1, 0) if wrap.range[0] > 0 else 0
        last = min(wrap.range[1], len(path)) if wrap.range[1] > 0 else len(path)
        if first + 1 >= last:
            notes.note("a wrap lies between no two points", f"{muscle.name} over {surface.name}")
            continue
        along, may = meetings.find(path[first:last], surface)
        if not may.any():
            notes.note("a path never meets its wrap object", f"{muscle.name} over {surface.name}")
            continue
        if wrap.method not in METHODS:
            notes.warn(
                f"method {wrap.method!r} is not supported; the path is the shortest one",
                f"{muscle.name} over {surface.name}",
            )
        for k in np.flatnonzero(may):
            over.setdefault(first + int(k), []).append((float(along[k]), obstacle(surface)))
    with_wraps: list[Any] = []
    for k, point in enumerate(path):
        with_wraps.append(point)
        if k in over:
            row = [surface for _, surface in sorted(over[k], key=lambda entry: entry[0])]
            with_wraps.append(Wrap(tuple(row)) if smoothing is None else Wrap(tuple(row), smoothing))
    return with_wraps
