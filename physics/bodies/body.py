"""One rigid body and the joint that carries it, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays
from ..joints import Joint
from ..joints.packing import Link
from ..registry import described
from ..validation import finite_array, float_array, inertia_matrix, number, per_coordinate
from .laws import LAWS, Laws, check_dampers, check_elastic, check_viscosities, coordinate_functions


@dataclass(frozen=True, eq=False)
class Body(ReadOnlyArrays):
    """A rigid body and the joint that carries it; arrays are read-only. n is the number of the joint's coordinates.

    On rotation vectors (spherical and free joints) springs, limits and armature act on r in the current chart: they are
    smooth within half a turn of r = 0, and jump where the chart changes. Limits of Euler angles do not depend on the
    chart.

    Attributes:
        name: unique in its model. parent: index of the parent body, -1 for the world. joint: its motion in the parent.
        joint_in_parent: pose of the joint's fixed frame in the parent's body frame (4, 4), the identity by default.
        body_in_joint: pose of the body frame in the joint's moving frame (4, 4), the identity by default.
        mass: [kg], positive.
        com: centre of mass in the body frame (3,) [m].
        inertia: (3, 3) about the centre of mass in body axes [kg m^2], positive definite, a + b >= c.
        stiffness, rest, damping: of a spring and a damper on each coordinate; a number or (n,) [N m/rad, rad, N m
            s/rad; for lengths N/m, m, N s/m].
        elastic: a force law for each coordinate, or None: a function tau(q) of ``joints`` (polynomial, spline, table).
            The spring's force is -tau(q), so that ``Linear(k)`` is a spring of stiffness k and rest 0; its energy is
            the exact integral of tau from 0. Given as a function (joints of one coordinate), a list, or {name or index:
            function}.
        damper: likewise a force law tau(q') of the velocity, 0 at rest; the damper's force is -tau(q').
        viscosity: likewise a function c(q), not negative, of a damper whose force is -c(q) q'.
        armature: inertia of a rotor on each coordinate, a number or (n,) [kg m^2 or kg].
        limits: (n, 2) of the joint's readings (``Joint.readings``), infinite where open; given as None, ``"range"``
            (the joint's own), (lower, upper) of a single coordinate, or (n, 2) with None for an open end. Equal ones
            hold a coordinate.
        limit_stiffness, limit_damping: of the one-sided springs at the limits; None: derived from the inertia that the
            coordinate moves, for a bounce of about 20 Hz at half of critical damping.
        limit_restitution: None for limits that are springs. With (n,) in [0, 1] they are hard: an impulse through the
            whole tree reverses the coordinate with that share of its speed (fixed-step methods only).
    """

    name: str
    parent: int
    joint: Joint
    joint_in_parent: FloatArray
    body_in_joint: FloatArray
    mass: float
    com: FloatArray
    inertia: FloatArray
    stiffness: FloatArray
    rest: FloatArray
    damping: FloatArray
    elastic: Laws
    damper: Laws
    viscosity: Laws
    armature: FloatArray
    limits: FloatArray
    limit_stiffness: FloatArray | None
    limit_damping: FloatArray | None
    limit_restitution: FloatArray | None

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which coordinates have equal limits and keep their values (n,)."""
        return self.limits[:, 0] == self.limits[:, 1]

    def link(self, coordinates: FloatArray, laws: Sequence[FloatArray | None]) -> Link:
        """The body for packing, with its rows of dof_float and the records of its coordinates' laws."""
        return Link(
            self.parent,
            self.joint.factorization(),
            self.joint_in_parent,
            self.body_in_joint,
            self.mass,
            self.com,
            self.inertia,
            coordinates,
            tuple(laws),
        )

    def to_dict(self, bodies: Sequence[Body]) -> dict[str, Any]:
        """JSON-able description, without laws where there are none; infinite limits become None."""
        values = described(self) | {
            "parent": None if self.parent < 0 else bodies[self.parent].name,
            "limits": [[x if np.isfinite(x) else None for x in pair] for pair in self.limits.tolist()],
        }
        return {key: value for key, value in values.items() if key not in LAWS or any(value)}


def make_body(name: str, parent: int, joint: Any, values: Mapping[str, Any]) -> Body:
    """Check all values and make the body; ModelError names body, thing and value."""
    of = f"of body {name!r}"
    if not isinstance(joint, Joint):
        raise ModelError(f"joint {of} must be one of physics.joints, got {joint!r:.80}")
    n = joint.num_coordinates
    checked: dict[str, Any] = {
        key: lie.frame_or_identity(values[key], f"{key} {of}") for key in ("joint_in_parent", "body_in_joint")
    }
    checked |= {
        key: per_coordinate(values[key], n, f"{key} {of}", not_negative=True)
        for key in ("stiffness", "damping", "armature")
    }
    checked |= {
        key: None if values[key] is None else per_coordinate(values[key], n, f"{key} {of}", not_negative=True)
        for key in ("limit_stiffness", "limit_damping", "limit_restitution")
    }
    restitution = checked["limit_restitution"]
    if restitution is not None and (restitution > 1.0).any():
        raise ModelError(f"limit_restitution {of} must lie in [0, 1], got {restitution.max():g}")
    checked |= {key: coordinate_functions(values[key], joint, f"{key} {of}") for key in LAWS}
    check_elastic(checked["elastic"], f"elastic {of}")
    check_dampers(checked["damper"], f"damper {of}")
    check_viscosities(checked["viscosity"], f"viscosity {of}")
    return Body(
        name=name,
        parent=parent,
        joint=joint,
        mass=number(values["mass"], f"mass {of}", positive=True),
        com=finite_array(values["com"], (3,), f"com {of}"),
        inertia=inertia_matrix(values["inertia"], f"inertia {of}"),
        rest=per_coordinate(values["rest"], n, f"rest {of}"),
        limits=_limits(values["limits"], joint, f"limits {of}"),
        **checked,
    ).lock()


def name_of(body: Any) -> Any:
    """The name of a body; anything else as it is, such as a name."""
    return body.name if isinstance(body, Body) else body


def given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a builder's method, its ``locals()``, with the names of bodies."""
    return {name: name_of(value) for name, value in arguments.items()}


def point_inertia(mass: float, offset: FloatArray) -> FloatArray:
    """Inertia (3, 3) of a mass at an offset (3,): the term of the parallel axis theorem (Steiner)."""
    return mass * (float(offset @ offset) * np.eye(3) - np.outer(offset, offset))


def _limits(value: Any, joint: Joint, name: str) -> FloatArray:
    n = joint.num_coordinates
    if value is None:
        return np.tile([-np.inf, np.inf], (n, 1))
    if isinstance(value, str):
        if value != "range":
            raise ModelError(f"{name} must be None, 'range' or pairs of numbers, got {value!r}")
        return np.array(joint.range, dtype=np.float64).reshape(n, 2)
    try:
        listed = np.asarray(value, dtype=object)  # None: an open end
    except (ValueError, MemoryError) as error:
        raise ModelError(f"{name} must be pairs (lower, upper), got {value!r:.80}") from error
    pairs = listed[None] if n == 1 and listed.ndim == 1 else listed
    if n == 0 and pairs.size == 0:
        pairs = pairs.reshape(0, 2)
    if pairs.shape != (n, 2):
        raise ModelError(f"{name} must be {n} pairs (lower, upper), got {value!r:.80}")
    limits = np.array(
        [
            [-np.inf if low is None else _bound(low, name), np.inf if high is None else _bound(high, name)]
            for low, high in pairs
        ]
    ).reshape(-1, 2)
    turning = {first + k for first, _ in (*joint.angle_groups, *joint.rotation_limits) for k in range(3)}
    for d, (lower, upper) in enumerate(limits):
        holds = lower == upper and np.isfinite(lower) and d not in turning
        if not (lower < upper or holds):
            raise ModelError(f"{name} are empty or reversed: [{lower:g}, {upper:g}]")
    return limits


def _bound(value: Any, name: str) -> float:
    """One end of a limit; infinite is open."""
    if type(value) is float and value == value:
        return value
    bound = float_array(value, name)
    if bound.shape != () or np.isnan(bound):
        raise ModelError(f"{name} must be numbers or None, got {value!r:.80}")
    return float(bound)
