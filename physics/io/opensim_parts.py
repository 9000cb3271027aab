"""Parts of an OpenSim model other than bodies and joints, as plain values: our names, SI units, the file's axes."""

import warnings
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
from ..motions.motion import Motion
from ..muscles import Cylinder, Ellipsoid, ForceLaw, Obstacle, Sphere, Torus
from ..validation import near_names, number, rising

# our surface by OpenSim's kind of wrap object, and its numbers by OpenSim's entries
WRAPS: dict[str, tuple[type[Obstacle], dict[str, str]]] = {
    "sphere": (Sphere, {"radius": "radius"}),
    "cylinder": (Cylinder, {"radius": "radius", "length": "length"}),
    "ellipsoid": (Ellipsoid, {"dimensions": "radii"}),
    "torus": (Torus, {"inner_radius": "minor_radius", "outer_radius": "major_radius"}),
}

# An assembly ends with steps below NEAR. Redundant constraints have singular values below REDUNDANT of the largest and
# contradict each other by up to MET [m, rad]. Five public shoulders take 12 steps.
ROUNDS, NEAR, REDUNDANT, MET = 100, 1e-10, 1e-10, 1e-5


@dataclass(frozen=True)
class OpenSimFrame:
    """A frame: its body (None: the ground) and its pose (4, 4) in the body's frame."""

    body: str | None
    pose: FloatArray

    def place(self, point: Any) -> FloatArray:
        """A point (3,) of the frame in the frame of its body."""
        return self.pose[:3, :3] @ point + self.pose[:3, 3]


@dataclass(frozen=True)
class OpenSimCoordinate:
    """A coordinate of a joint.

    Attributes:
        name: in OpenSim. coordinate: ``body.coordinate`` in our model.
        motion: ``"rotational"`` or ``"translational"`` if it is an angle or a distance itself, else ``"coupled"``
            (which motion files never give in degrees).
        default, default_speed: initial values. range: (lower, upper).
        clamped: whether the range limits it. locked: whether it keeps its default value. joint: its joint in OpenSim.
        prescribed: its value as a function of time [s], if that is not constant.
    """

    name: str
    coordinate: str
    motion: str
    default: float = 0.0
    default_speed: float = 0.0
    range: tuple[float, float] = (-10.0, 10.0)
    clamped: bool = False
    locked: bool = False
    joint: str = ""
    prescribed: Function | None = None


@dataclass(frozen=True)
class OpenSimPoint:
    """A point of a path, or a marker.

    Attributes:
        name: in the file. body: its body, None: the ground. location: (3,) in the body's frame [m].
        coordinate, range: of a conditional point, active while the coordinate is within the range.
        moves: of a moving point: (function, coordinate or None) for x, y and z, in `frame`.
        frame: pose (4, 4) in the body of the frame of a moving point.
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
        name: unique in the model. kind: a key of `WRAPS`.
        frame: body and pose; the axis of cylinder and torus is its z.
        size: radius; radius and length; three semi-axes; inner and outer radius [m].
        quadrant: ``"all"``, or the half-space of paths in its frame: ``"x"``, ``"-x"``, ...
        active: whether paths wrap over it.
    """

    name: str
    kind: str
    frame: OpenSimFrame
    size: tuple[float, ...]
    quadrant: str = "all"
    active: bool = True


@dataclass(frozen=True)
class OpenSimPathWrap:
    """A path's wrap over an object, by a method, between two of its points (-1: the first, the last)."""

    wrap_object: str
    method: str = "hybrid"
    range: tuple[int, int] = (-1, -1)


@dataclass(frozen=True)
class OpenSimMuscle:
    """A muscle, or another force along a path.

    Attributes:
        name: unique in the model. kind: its class in OpenSim. points, wraps: its path.
        parameters: numbers by OpenSim's names, those of curves as ``curve.name``. flags: truth values likewise.
        active: whether it applies its force. law: of what is no muscle, such as a ligament. curves: of Schutte's law,
            by our names.
    """

    name: str
    kind: str
    points: tuple[OpenSimPoint, ...]
    wraps: tuple[OpenSimPathWrap, ...] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    active: bool = True
    law: ForceLaw | None = None
    curves: Mapping[str, Function] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenSimActuator:
    """An actuator without a path, whose force is its control times its optimal force.

    Attributes:
        name: unique among forces, that of the model's input for its control, if it has no coordinate.
        kind: its class in OpenSim. coordinate: ``body.coordinate`` that it drives, or None.
        optimal_force: [N or N m].
    """

    name: str
    kind: str
    coordinate: str | None
    optimal_force: float


@dataclass(frozen=True)
class OpenSimGeometry:
    """A mesh to draw: the file as named, the path where it was found (or None), its frame and scale (3,)."""

    name: str
    frame: OpenSimFrame
    file: str
    path: Path | None
    scale: FloatArray


@dataclass(frozen=True)
class OpenSimModel:
    """A model read by `read_opensim`, in the file's axes (usually y up).

    Attributes:
        name: of the model. builder: with bodies, joints, constraints and gravity; may be extended.
        coordinates: by OpenSim's name, which a second one of the same name has after its joint's
        (``knee_l/angle``). frames: of every body and offset frame by its path in the file
            (``/bodyset/tibia_r``), those of merged bodies included.
        muscles, wrap_objects: by name. markers, geometry: in the file's order. groups: names of muscles by group.
        warnings: what is read otherwise than OpenSim reads it and changes the physics, one line for each cause.
        notes: likewise, without effect on the physics. actuators: by name, those without a path.
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
    notes: tuple[str, ...] = ()
    actuators: Mapping[str, OpenSimActuator] = field(default_factory=dict)

    def build(self) -> Model:
        """The model of the builder's current content."""
        return self.builder.build()

    def controls(self, model: Model, values: Mapping[str, Any]) -> FloatArray:
        """Generalized forces and inputs (nv + num_inputs,) for controls of actuators and excitations of muscles.

        Args:
            model: the result of `build`. values: {name of an actuator or a muscle: number}; the others are not driven.

        Raises:
            ModelError: an unknown name, or a number that is not finite.
        """
        given: dict[str, float] = {}
        for name, value in values.items():
            control = number(value, f"control of {name!r:.80}")
            actuator = self.actuators.get(name)
            if actuator is None and f"{name}.excitation" not in model.input_names:
                known = (*self.actuators, *self.muscles)
                raise ModelError(f"no actuator or muscle is named {name!r:.80}{near_names(name, known)}")
            key = f"{name}.excitation"
            if actuator is not None:
                key = actuator.coordinate or name
                control *= 1.0 if actuator.coordinate is None else actuator.optimal_force
            given[key] = given.get(key, 0.0) + control
        return model.with_inputs(given)

    def motions(self, times: Any) -> dict[str, Motion]:
        """Motions of the coordinates that are prescribed by functions of time, for `simulate`.

        Args:
            times: (K,), increasing [s]; cubics through the functions there.

        Raises:
            ModelError: times that do not increase or are not finite.
        """
        times = rising(times, "times", 2)
        of_time = {each.coordinate: each.prescribed for each in self.coordinates.values() if each.prescribed}
        return {name: Motion(times, function(times)) for name, function in of_time.items()}

    def state(
        self, model: Model, values: Mapping[str, Any] | None = None, time: float = 0.0, assembled: bool = True
    ) -> State:
        """A state of the model at the file's default values and speeds; coupled coordinates follow their drivers.

        Args:
            model: the result of `build`.
            values: {OpenSim's name of a coordinate: value} in place of the default.
            time: [s].
            assembled: whether other constraints move the coordinates without a value, with the least sum of squared
                changes in rad and m; with a warning none where that fails.

        Raises:
            ModelError: another model, or an unknown coordinate.
        """
        given = dict(values or {})
        names = model.coordinate_names
        q, qd, kept = model.state(time=time).q.copy(), np.zeros(len(names)), model.prescribed.copy()
        for name, coordinate in self.coordinates.items():
            if coordinate.coordinate not in names:
                raise ModelError(f"the model has no coordinate {coordinate.coordinate!r} ({name!r})")
            index = names.index(coordinate.coordinate)
            kept[index] |= name in given
            q[index] = number(given.pop(name, coordinate.default), f"value of {name!r}")
            qd[index] = coordinate.default_speed
        if given:
            unknown = next(iter(given))
            raise ModelError(f"no coordinate is named {unknown!r}{near_names(unknown, self.coordinates)}")
        follow_drivers(model, q, qd)
        return model.state(_assembled(model, q, kept) if assembled else q, qd, time)


def _assembled(model: Model, q: FloatArray, kept: Any) -> FloatArray:
    """Coordinates (nv,) that meet the constraints, with the least sum of squared changes of those that no coupler sets.

    Newton's method without curvatures of the constraints. kept (nv,): coordinates that only couplers move.
    """
    ties = tuple(model.constraints.values())
    coupled = [tie.coordinate for tie in ties if isinstance(tie, CouplingConstraint)]
    if len(coupled) == len(ties):
        return q
    own, found = ~np.isin(model.coordinate_names, coupled), q.copy()
    free = np.flatnonzero(~(kept & own | model.prescribed))
    weights = own[free].astype(float)
    for _ in range(ROUNDS):
        value, jacobian, _ = model.evaluate_constraints(model.state(found), ties)
        rows = jacobian[:, free]
        left = np.block([[np.diag(weights), rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        right = np.concatenate([weights * (q - found)[free], -value])
        step = np.linalg.lstsq(left, right, rcond=REDUNDANT)[0][: len(free)]
        found[free] += step
        if np.abs(step).max(initial=0.0) <= NEAR and np.abs(value).max(initial=0.0) <= MET:
            return found
    warnings.warn(
        "the constraints cannot be met; the coordinates are those of the file or given", stacklevel=3
    )
    return q


def follow_drivers(model: Model, q: FloatArray, qd: FloatArray) -> None:
    """Set coupled coordinates (..., nv) and their speeds by their drivers', in place."""
    names = model.coordinate_names
    for constraint in model.constraints.values():
        if isinstance(constraint, CouplingConstraint):
            k = names.index(constraint.coordinate)
            q[..., k], qd[..., k] = constraint.followed(names, q, qd)
