"""The forces on bodies: each is a dataclass whose fields say how they are checked and packed (`ForceElement`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..joints.functions import Function, Linear, function_from_dict
from ..kernels import layout
from ..validation import NOT_NEGATIVE, POSITIVE, finite, is_sequence, number, one_of, per_coordinate
from .base import (
    OTHER_AXIS,
    OTHER_POINT,
    PLANE,
    POINT,
    POSE,
    VECTOR,
    ForceElement,
    element_row,
    link_axes,
    link_points,
)

SMOOTH_SPEED = 0.01  # m/s: default sliding speed below which friction rises smoothly
DEPTH_STEEPNESS, SPEED_STEEPNESS = 300.0, 50.0


@dataclass(frozen=True, eq=False)
class Spring(ForceElement):
    """Pulls its ends together with stiffness (length - rest_length) + damping d(length)/dt (Wang 2022, sec. 3.10.3).

    Attributes:
        point, other_point: its ends in their body frames (3,) [m].
        stiffness: [N/m], not negative. damping: [N s/m], not negative. rest_length: [m], not negative.
    """

    point: FloatArray = field(metadata=POINT)
    other: int
    other_point: FloatArray = field(metadata=OTHER_POINT)
    stiffness: float = field(metadata=NOT_NEGATIVE)
    damping: float = field(metadata=NOT_NEGATIVE)
    rest_length: float = field(metadata=NOT_NEGATIVE)
    what: ClassVar[str] = "spring"
    element: ClassVar[int] = layout.SPRING_ELEMENT


@dataclass(frozen=True, eq=False)
class BodyDamping(ForceElement):
    """Moment -angular w and force -linear v at a point of a body with velocity v (Wang 2022, sec. 3.10.1).

    Attributes:
        point: in the body frame (3,) [m]; the mass centre by default.
        angular: [N m s/rad], not negative. linear: [N s/m], not negative.
    """

    point: FloatArray = field(metadata=POINT)
    angular: float = field(metadata=NOT_NEGATIVE)
    linear: float = field(metadata=NOT_NEGATIVE)
    type: ClassVar[str] = "body_damping"
    element: ClassVar[int] = layout.DAMPING_ELEMENT
    needs_some: ClassVar[tuple[str, ...]] = ("angular", "linear")


@dataclass(frozen=True, eq=False)
class Mount(ForceElement):
    """Keeps a point of a body near a place in another body, stiffer the farther (Ertl et al. 1993, eqs. 16b, 16c).

    For a displacement s along the axis the force is -(stiffness_along sign(s) |s|^3 + damping_along s'), for t across
    it -(stiffness_across |t|^2 t + damping_across t'), in the frame of the body that carries the axis; that body gets
    the opposite wrench. The stored energy is stiffness_along s^4 / 4 + stiffness_across |t|^4 / 4.

    Attributes:
        point: in the body's frame (3,) [m]. other_point: its place in the frame of the other body (3,) [m].
        axis: (3,) in the frame of the other body, of length 1.
        stiffness_along, stiffness_across: [N/m^3], not negative.
        damping_along, damping_across: [N s/m], not negative.
    """

    point: FloatArray = field(metadata=POINT)
    other: int
    other_point: FloatArray = field(metadata=OTHER_POINT)
    axis: FloatArray = field(metadata=OTHER_AXIS)
    stiffness_along: float = field(metadata=NOT_NEGATIVE)
    stiffness_across: float = field(metadata=NOT_NEGATIVE)
    damping_along: float = field(metadata=NOT_NEGATIVE)
    damping_across: float = field(metadata=NOT_NEGATIVE)
    type: ClassVar[str] = "mount"
    element: ClassVar[int] = layout.MOUNT_ELEMENT


def _points(value: Any, name: str) -> FloatArray:
    points = np.atleast_2d(finite(value, name))
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise ModelError(f"{name} must have shape (n, 3), n >= 1, got {points.shape}")
    return points


def _exponent(value: Any, name: str) -> float:
    exponent = number(value, name)
    if exponent < 1.0:
        raise ModelError(f"{name} must be at least 1, got {exponent:g}")
    return exponent


@dataclass(frozen=True, eq=False)
class Ground(ForceElement):
    """Pushes points of a body out of a deformable plane (Ertl et al. 1993, eq. 8).

    A point closer to the plane than the radius deforms the ground by delta. The ground pushes back along the plane's
    normal with F = stiffness delta^exponent + damping d(delta)/dt, unless that is negative, and against the sliding
    velocity with friction F. Below smooth_speed friction rises with the speed v as (3 - x^2) x / 2, x = v /
    smooth_speed. The body that carries the plane gets the opposite wrench. The ground stores the energy stiffness
    delta^(exponent + 1) / (exponent + 1).

    Attributes:
        points: in the body frame (n, 3) [m]. radius: [m], not negative.
        plane: pose in the frame of the other body (4, 4); its z axis is the normal, its origin lies in the plane.
        stiffness: a [N/m^exponent], positive. exponent: b, at least 1. damping: d [N s/m], not negative.
        friction: mu, not negative. smooth_speed: [m/s], positive.
    """

    points: FloatArray = field(metadata=POINT | {"check": _points})
    other: int
    plane: FloatArray = field(metadata=PLANE)
    radius: float = field(metadata=NOT_NEGATIVE)
    stiffness: float = field(metadata=POSITIVE)
    exponent: float = field(metadata={"check": _exponent})
    damping: float = field(metadata=NOT_NEGATIVE)
    friction: float = field(metadata=NOT_NEGATIVE)
    smooth_speed: float = field(metadata=POSITIVE)
    type: ClassVar[str] = "ground"
    element: ClassVar[int] = layout.GROUND_ELEMENT
    row = (
        "plane",
        "stiffness",
        "exponent",
        "damping",
        "friction",
        "smooth_speed",
        "radius",
        "count",
        "points",
    )

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.points)


@dataclass(frozen=True, eq=False)
class SphereContact(ForceElement):
    """Pushes a sphere out of a half-space by stiffness delta^1.5 (1 + 1.5 dissipation delta'), never pulls.

    After Hertz, Hunt and Crossley. Friction is that force times (min(v, 1) (mu_d + 2 (mu_s - mu_d) / (1 + v^2)) +
    viscosity s) for a sliding speed s, v = s / transition_speed (Sherman, Seth & Delp 2011). With an offset the force
    is smooth everywhere (Serrancoli et al. 2019): delta^2 and s^2 become delta^2 + offset and s^2 + offset, and what
    would end fades out by hyperbolic tangents. Then the stored energy is approximate: 0.4 delta times the force at
    rest.

    Attributes:
        center: in the body's frame (3,) [m]. radius: [m], positive.
        plane: pose in the frame of the other body (4, 4); the z axis is the normal out of the half-space.
        stiffness: [N/m^1.5], positive. dissipation: [s/m].
        static_friction, dynamic_friction: without unit. viscous_friction: [s/m]. None negative.
        transition_speed: [m/s], positive.
        depth_share: where the force acts: from the sphere's lowest point (0) to the plane (1).
        offset: [m^2, m^2/s^2], 0: none. depth_steepness: [1/m]. speed_steepness: [s/m].
    """

    center: FloatArray = field(metadata=POINT)
    radius: float = field(metadata=POSITIVE)
    other: int
    plane: FloatArray = field(metadata=PLANE)
    stiffness: float = field(metadata=POSITIVE)
    dissipation: float = field(metadata=NOT_NEGATIVE)
    static_friction: float = field(metadata=NOT_NEGATIVE)
    dynamic_friction: float = field(metadata=NOT_NEGATIVE)
    viscous_friction: float = field(metadata=NOT_NEGATIVE)
    transition_speed: float = field(metadata=POSITIVE)
    depth_share: float = field(metadata=NOT_NEGATIVE)
    offset: float = field(metadata=NOT_NEGATIVE)
    depth_steepness: float = field(metadata=NOT_NEGATIVE)
    speed_steepness: float = field(metadata=NOT_NEGATIVE)
    type: ClassVar[str] = "sphere_contact"
    element: ClassVar[int] = layout.SPHERE_ELEMENT
    count: ClassVar[int] = 1
    row = (
        *("plane", "stiffness", "dissipation", "static_friction", "dynamic_friction", "viscous_friction"),
        *("radius", "count", "center"),
        *("transition_speed", "offset", "depth_steepness", "speed_steepness", "depth_share"),
    )


MAGNITUDE = {"check": lambda value, name: value if isinstance(value, str) else number(value, name)}
WRENCH_AXES = {"world": layout.WORLD_AXES, "body": layout.BODY_AXES, "other": layout.OTHER_AXES}


@dataclass(frozen=True, eq=False)
class Wrench(ForceElement):
    """magnitude times a moment and a force at a point of a body (Wang 2022, sec. 3.10.2).

    A force of constant magnitude and direction in the world stores the energy -magnitude force . x (Wang 2022, eq.
    3.30, 0 at the world's origin). Moments, forces that turn with a body, and those that follow an input store none.

    Attributes:
        point: where the force acts, in the body frame (3,) [m].
        moment, force: (3,) [N m, N for each unit of magnitude].
        axes: ``"world"``, or ``"body"`` or ``"other"``: both turn with the body, or with the other.
        other: index of the body that gets the opposite, at the same place, unless axes are the world's; or -1.
        magnitude: a number, or the name of the model's input that it follows.
    """

    point: FloatArray = field(metadata=POINT)
    moment: FloatArray = field(metadata=VECTOR)
    force: FloatArray = field(metadata=VECTOR)
    axes: str = field(metadata=one_of(*WRENCH_AXES))
    magnitude: float | str = field(metadata=MAGNITUDE)
    other: int = -1
    type: ClassVar[str] = "wrench"
    needs_some: ClassVar[tuple[str, ...]] = ("moment", "force")

    @property
    def stores_all(self) -> bool:
        """Whether its stored energy accounts for all of its work."""
        return self.axes == "world" and not isinstance(self.magnitude, str) and not self.moment.any()

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        turns, owner = (
            WRENCH_AXES[self.axes],
            {"world": -1, "body": self.body, "other": self.other}[self.axes],
        )
        point = link_points(self.point, self.body, body_frames)
        both = [link_axes(vector, owner, body_frames) for vector in (self.moment, self.force)]
        size = (0.0, inputs[self.magnitude]) if isinstance(self.magnitude, str) else (self.magnitude, -1)
        return element_row(layout.WRENCH_ELEMENT, self.body, self.other, point, *both, turns, *size)


def _functions(value: Any, name: str) -> tuple[Function, ...]:
    if not is_sequence(value) or len(value) != 6:
        raise ModelError(f"{name} must be 6 functions or numbers, got {value!r:.80}")
    return tuple(_function(each, f"{name}, entry {k}") for k, each in enumerate(value))


def _function(given: Any, name: str) -> Function:
    """A function, its description, or a stiffness."""
    if isinstance(given, Mapping):
        return function_from_dict(given)
    if isinstance(given, Function):
        given.integral(name)
        return given
    return Linear(float(per_coordinate(given, 1, name, not_negative=True)[0]))


@dataclass(frozen=True, eq=False)
class Bushing(ForceElement):
    """Holds a frame of a body to one of another by six springs and dampers (Sherman, Seth & Delp 2011).

    They act on the three angles about x, then y, then z of the moving frame that turn the fixed one into it, and on the
    displacements of its origin along the fixed axes. The angles have a gimbal lock at a quarter turn about y.

    Attributes:
        frame, other_frame: poses (4, 4) in the body and the other one.
        elastic: moments by the three angles [N m], forces by the three displacements [N]: functions of ``joints``.
        damping: (6,) [N m s/rad, N s/m], not negative.
        measured_in: ``"other"``: its frame is the fixed one; ``"body"``: the body's frame is.
    """

    frame: FloatArray = field(metadata=POSE)
    other: int
    other_frame: FloatArray = field(metadata=POSE)
    elastic: tuple[Function, ...] = field(metadata={"check": _functions})
    damping: FloatArray = field(
        metadata={"check": lambda value, name: per_coordinate(value, 6, name, not_negative=True)}
    )
    measured_in: str = field(metadata=one_of("other", "body"))
    type: ClassVar[str] = "bushing"

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        frames = []
        for body, frame in ((self.body, self.frame), (self.other, self.other_frame)):
            pose = frame if body < 0 else body_frames[body] @ frame
            frames.append(np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]]))
        records = [each.integral("elastic of a bushing") for each in self.elastic]
        places = layout.BUSHING_HEADER + np.cumsum([0, *map(len, records[:-1])])
        turned = [float(self.measured_in == "body")]
        parts = (*frames, turned, self.damping, places, np.concatenate(records))
        return element_row(layout.BUSHING_ELEMENT, self.body, self.other, *parts)
