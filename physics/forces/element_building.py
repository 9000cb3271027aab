"""The part of a model's builder that adds forces between two bodies: ground, mounts, bushings, contacts of spheres."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..bodies.body import Body, given
from ..bodies.names import NameIndex
from ..errors import ModelError
from . import Bushing, Force, Ground, Mount, SphereContact, Spring
from .base import checked_name, make_force
from .ground import SMOOTH_SPEED
from .sphere_contact import DEPTH_STEEPNESS, SPEED_STEEPNESS

Made = TypeVar("Made", bound=Force)


class ElementBuilder:
    """Collects springs and forces of unique names; `bodies` belong to `ForceBuilder`."""

    body_numbers: Callable[[], Mapping[str, int]]

    def __init__(self) -> None:
        super().__init__()
        self.springs: list[Spring] = []
        self.forces: list[Force] = []
        self._by_name = {"spring": NameIndex(), "force": NameIndex()}

    def add_ground(
        self,
        name: str,
        body: Body | str,
        points: Any,
        *,
        stiffness: float,
        exponent: float = 1.0,
        damping: float = 0.0,
        friction: float = 0.0,
        radius: float = 0.0,
        plane: Any = None,
        other: Body | str | None = None,
        smooth_speed: float = SMOOTH_SPEED,
    ) -> Ground:
        """Add deformable ground under points of a body (Ertl et al. 1993, eq. 8); meanings and units as in `Ground`.

        Args:
            name: unique among springs and forces, not empty.
            body: a body added before, or its name.
            points: (n, 3), or one point (3,), in its body frame [m].
            stiffness, exponent, damping, friction, radius, smooth_speed: of the ground.
            plane: pose (4, 4), z its normal, in the world or the frame of `other`; None for z = 0.
            other: the body that carries the plane, None for the world.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        return self._added(Ground, given(locals()))

    def add_mount(
        self,
        name: str,
        body: Body | str,
        point: Any,
        other: Body | str | None,
        other_point: Any,
        *,
        axis: Any,
        stiffness_along: float,
        stiffness_across: float,
        damping_along: float = 0.0,
        damping_across: float = 0.0,
    ) -> Mount:
        """Add a soft mount of a point of a body in another (Ertl et al. 1993, eqs. 16b, 16c).

        Args:
            name: unique among springs and forces, not empty.
            body, other: bodies added before, or their names; None for the world.
            point: in the frame of the body (3,) [m]; other_point: its place in the frame of the other body.
            axis: (3,) in the frame of the other; its length does not matter.
            stiffness_along, stiffness_across, damping_along, damping_across: meanings and units as in `Mount`.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        return self._added(Mount, given(locals()))

    def add_bushing(
        self,
        name: str,
        body: Body | str,
        other: Body | str | None,
        *,
        elastic: Any,
        damping: Any = 0.0,
        frame: Any = None,
        other_frame: Any = None,
        measured_in: str = "other",
    ) -> Bushing:
        """Add a bushing between frames of two bodies, or of a body and the world (None).

        Args:
            name: unique among springs and forces, not empty.
            body, other: bodies added before, or their names.
            elastic: 6 functions or stiffnesses, of angles, then of displacements.
            damping, frame, other_frame, measured_in: meanings and units as in `Bushing`.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        return self._added(Bushing, given(locals()))

    def add_sphere_contact(
        self,
        name: str,
        body: Body | str,
        center: Any,
        radius: float,
        *,
        stiffness: float,
        dissipation: float = 0.0,
        static_friction: float = 0.0,
        dynamic_friction: float = 0.0,
        viscous_friction: float = 0.0,
        transition_speed: float = SMOOTH_SPEED,
        plane: Any = None,
        other: Body | str | None = None,
        depth_share: float = 0.5,
        offset: float = 0.0,
        depth_steepness: float = DEPTH_STEEPNESS,
        speed_steepness: float = SPEED_STEEPNESS,
    ) -> SphereContact:
        """Add contact of a sphere with a half-space; meanings and units as in `SphereContact`.

        Args:
            name: unique among springs and forces, not empty.
            body: a body added before, or its name. other: likewise, None for the world.
            center, radius, ...: as in `SphereContact`. plane: None for z = 0.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        return self._added(SphereContact, given(locals()))

    def _check_free(self, name: str) -> None:
        for kind, known in (("spring", self.springs), ("force", self.forces)):
            if name in self._by_name[kind](known):
                raise ModelError(f"there is a {kind} named {name!r} already")

    def _added(self, kind: type[Made], values: Mapping[str, Any]) -> Made:
        self._check_free(checked_name(values["name"], kind.what))
        force = make_force(kind, values["name"], self.body_numbers(), values)
        self.forces.append(force)
        return force
