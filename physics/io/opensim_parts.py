"""What an OpenSim model holds beside bodies and joints, as plain values: our names, SI units, the file's axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..constraints import CouplingConstraint
from ..errors import ModelError
from ..joints import Function
from ..model.builder import ModelBuilder
from ..model.model import Model
from ..validation import number


@dataclass(frozen=True)
class OpenSimFrame:
    """Where a thing is fixed: a body (None: the ground) and a pose (4, 4) in its frame."""

    body: str | None
    pose: FloatArray


@dataclass(frozen=True)
class OpenSimCoordinate:
    """A coordinate of a joint.

    Attributes:
        name: as OpenSim has it. coordinate: ``body.coordinate`` in our model.
        motion: ``"rotational"`` and ``"translational"``, where it is the angle or the way itself, or ``"coupled"``
            (motion files never give those in degrees).
        default, default_speed: where a motion starts. range: (lower, upper).
        clamped: whether the range bounds what may be set. locked: whether it keeps its default value.
    """

    name: str
    coordinate: str
    motion: str
    default: float = 0.0
    default_speed: float = 0.0
    range: tuple[float, float] = (-10.0, 10.0)
    clamped: bool = False
    locked: bool = False


@dataclass(frozen=True)
class OpenSimPoint:
    """A point of a path, or a marker.

    Attributes:
        name: as in the file. body: what it is fixed to, None: the ground. location: (3,) in the body's frame [m].
        coordinate, range: of a conditional point: it counts while the coordinate is within.
        moves: of a moving point: (function, coordinate or None) for x, y and z, in `frame`.
        frame: pose (4, 4) in the body of the frame that moving points are given in.
    """

    name: str
    body: str | None
    location: FloatArray
    coordinate: str | None = None
    range: tuple[float, float] | None = None
    moves: tuple[tuple[Function, str | None], ...] = ()
    frame: FloatArray | None = None


@dataclass(frozen=True)
class OpenSimWrapObject:
    """A surface that paths wrap over.

    Attributes:
        name: unique in the model. kind: ``"sphere"``, ``"cylinder"``, ``"ellipsoid"`` or ``"torus"``.
        frame: body and pose; the axis of cylinder and torus is its z.
        size: radius; radius and length; three semi-axes; inner and outer radius [m].
        quadrant: ``"all"``, or the half that paths keep to: ``"x"``, ``"-x"``, ... in its frame.
        active: whether paths are to wrap over it.
    """

    name: str
    kind: str
    frame: OpenSimFrame
    size: tuple[float, ...]
    quadrant: str = "all"
    active: bool = True


@dataclass(frozen=True)
class OpenSimPathWrap:
    """That a path wraps over an object, by a method, between two of its points (-1: from the first, to the last)."""

    wrap_object: str
    method: str = "hybrid"
    range: tuple[int, int] = (-1, -1)


@dataclass(frozen=True)
class OpenSimMuscle:
    """A muscle, or another force along a path.

    Attributes:
        name: unique in the model. kind: its class in OpenSim. points, wraps: its path.
        parameters: its numbers by OpenSim's names, those of curves as ``curve.name``. flags: its truth values.
        active: whether it applies its force.
    """

    name: str
    kind: str
    points: tuple[OpenSimPoint, ...]
    wraps: tuple[OpenSimPathWrap, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    active: bool = True


@dataclass(frozen=True)
class OpenSimGeometry:
    """A shape to be drawn: the file as named, where it was found (or None), its frame and scale (3,)."""

    name: str
    frame: OpenSimFrame
    file: str
    path: Path | None
    scale: FloatArray


@dataclass(frozen=True)
class OpenSimModel:
    """A model as `read_opensim` found it; axes are the file's, y up in nearly all of them.

    Attributes:
        name: of the model. builder: holds bodies, joints, constraints and gravity; more can be added to it.
        coordinates: by OpenSim's name. frames: every body's and offset frame's place by its path in the file
            (``/bodyset/tibia_r``), those that were merged into another body too.
        muscles, wrap_objects: by name. markers, geometry: in the file's order. groups: names of muscles by group.
        warnings: what the file holds and this reader does not, one sentence each.
    """

    name: str
    builder: ModelBuilder
    coordinates: Mapping[str, OpenSimCoordinate]
    frames: Mapping[str, OpenSimFrame]
    muscles: Mapping[str, OpenSimMuscle]
    wrap_objects: Mapping[str, OpenSimWrapObject]
    markers: tuple[OpenSimPoint, ...]
    geometry: tuple[OpenSimGeometry, ...]
    groups: Mapping[str, tuple[str, ...]]
    warnings: tuple[str, ...]

    def build(self) -> Model:
        """The model that the builder holds now."""
        return self.builder.build()

    def state(self, model: Model, values: Mapping[str, Any] | None = None, time: float = 0.0) -> State:
        """A state of the model at the file's default values and speeds; followers are where their drivers put them.

        Args:
            model: what `build` gave.
            values: {OpenSim's name of a coordinate: its value} that take the place of default values.
            time: [s].

        Raises:
            ModelError: the model is another one, or it has no such coordinate.
        """
        given = dict(values or {})
        names = model.coordinate_names
        q, qd = model.state(time=time).q.copy(), np.zeros(len(names))
        for name, coordinate in self.coordinates.items():
            if coordinate.coordinate not in names:
                raise ModelError(f"the model has no coordinate {coordinate.coordinate!r} ({name!r})")
            index = names.index(coordinate.coordinate)
            q[index] = number(given.pop(name, coordinate.default), f"value of {name!r}")
            qd[index] = coordinate.default_speed
        if given:
            raise ModelError(
                f"no coordinate is named {next(iter(given))!r}; there are {', '.join(self.coordinates)}"
            )
        for constraint in model.constraints.values():
            if isinstance(constraint, CouplingConstraint):
                lead = sum(weight * q[names.index(name)] for name, weight in constraint.drivers.items())
                speed = sum(weight * qd[names.index(name)] for name, weight in constraint.drivers.items())
                value, slope, _ = constraint.function.derivatives(lead)
                follower = names.index(constraint.coordinate)
                q[follower], qd[follower] = value, slope * speed
        return model.state(q, qd, time)
