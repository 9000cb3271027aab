"""The part of a model's builder that adds forces, inputs, controllers and wobbling masses."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from ..bodies.body import Body, given
from ..bodies.names import NameIndex, coordinate_names
from ..errors import FormatError, ModelError
from ..registry import arguments, check_keys, checked_entries, required
from ..validation import number, unit_axis
from . import (
    BodyDamping,
    Bushing,
    Feedback,
    Force,
    ForceField,
    Ground,
    Input,
    Mount,
    PositionController,
    SphereContact,
    Spring,
    Wrench,
)
from .base import body_index, checked_name, make_force, new_name
from .controller import make_controller
from .elements import DEPTH_STEEPNESS, SMOOTH_SPEED, SPEED_STEEPNESS
from .field import NONE_BELOW

Made = TypeVar("Made", bound=Spring | Force)
# of forces in files
KINDS = ("wrench", "body_damping", "ground", "mount", "bushing", "sphere_contact", "force_field")


class ForceBuilder:
    """Collects forces, inputs and controllers on bodies.

    Names are not empty, and unique: among springs and forces, among inputs, or among controllers. Bodies are those
    added before, or their names; None is the world. Meanings, shapes and units of all other arguments are those of the
    class of the result.
    """

    bodies: list[Body]
    add_body: Any

    def __init__(self) -> None:
        super().__init__()
        self.springs: list[Spring] = []
        self.forces: list[Force] = []
        self.inputs: list[Input] = []
        self.controllers: list[PositionController] = []
        self.feedback_laws: list[Feedback] = []
        self._by_name = {"spring": NameIndex(), "force": NameIndex()}
        self._bodies_by_name = NameIndex()
        self.inputs_by_name = NameIndex()
        self._controllers_by_name = NameIndex()
        self._controllers_by_body = NameIndex()
        self._controllers_by_input = NameIndex()

    def add_spring(
        self,
        name: str,
        body: Body | str,
        point: Any,
        other: Body | str | None,
        other_point: Any,
        *,
        stiffness: float,
        damping: float = 0.0,
        rest_length: float = 0.0,
    ) -> Spring:
        """Add a spring with a damper between a point of a body and one of another body, or of the world."""
        return self._added(Spring, given(locals()))

    def add_input(self, name: str, value: float = 0.0) -> Input:
        """Add an input, a number that tables and controllers may change while the model moves.

        Args:
            value: the default, in force while nothing drives it.
        """
        known = self.inputs_by_name(self.inputs), self._input_names()
        result = Input(new_name(name, "input", *known), number(value, f"value of input {name!r}"))
        self.inputs.append(result)
        return result

    def add_force(
        self,
        name: str,
        body: Body | str,
        direction: Any,
        magnitude: float | str,
        *,
        point: Any = (0.0, 0.0, 0.0),
        axes: str = "world",
    ) -> Wrench:
        """Add a force in a point of a body (Wang 2022, sec. 3.10.2).

        Args:
            direction: (3,) in the axes; its length does not matter.
            magnitude: [N], or the name of an input added before.
            point, axes: as in `Wrench`.
        """
        force = unit_axis(direction, f"direction of force {name!r}")
        return self.add_wrench(name, body, (0.0, 0.0, 0.0), force, magnitude, point=point, axes=axes)

    def add_wrench(
        self,
        name: str,
        body: Body | str,
        moment: Any,
        force: Any,
        magnitude: float | str = 1.0,
        *,
        point: Any = (0.0, 0.0, 0.0),
        axes: str = "world",
        other: Body | str | None = None,
    ) -> Wrench:
        """Add magnitude, a number or the name of an input added before, times a moment and a force.

        Between a body and its parent it is what a motor in their joint gives: unlike a generalized force on the
        coordinates of a ball joint it keeps its axes through whole turns.

        Raises:
            ModelError: a value, or another body where the axes are the world's: add a wrench on each of them.
        """
        if other is not None and axes == "world":
            raise ModelError(
                f"axes of force {name!r} with another body must be 'body' or 'other', got 'world'"
            )
        self._check_followed(name, "magnitude", magnitude)
        return self._added(Wrench, given(locals()))

    def _check_followed(self, name: str, what: str, value: Any) -> None:
        if isinstance(value, str) and value not in self.inputs_by_name(self.inputs):
            raise ModelError(f"{what} of force {name!r} follows an unknown input {value!r}; add inputs first")

    def add_force_field(
        self,
        name: str,
        body: Body | str,
        point: Any,
        other: Body | str | None = None,
        *,
        effect: str,
        strength: float | str,
        mass: float,
        frame: Any = None,
        shape: str = "point",
        falloff: str = "sphere",
        linear: float = 0.0,
        flow: float = 0.0,
        unit: float = 1.0,
        power: float = 0.0,
        least: float = NONE_BELOW,
        most: float = NONE_BELOW,
        radial_power: float = 0.0,
        radial_least: float = NONE_BELOW,
        radial_most: float = NONE_BELOW,
        side: float = 0.0,
        squared: float = 0.0,
    ) -> ForceField:
        """Add a force field that acts on a point of a body; meanings and units as in `ForceField`.

        Args:
            name: unique among springs and forces, not empty.
            body: a body added before, or its name. other: likewise, None for the world.
            point, effect, ...: as in `ForceField`. frame: None for the identity.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        self._check_followed(name, "strength", strength)
        return self._added(ForceField, given(locals()))

    def add_body_damping(
        self, name: str, body: Body | str, *, angular: float = 0.0, linear: float = 0.0, point: Any = None
    ) -> BodyDamping:
        """Add damping of a body's motion against the world (Wang 2022, sec. 3.10.1).

        angular, linear: not both 0. point: None for the mass centre.
        """
        values = given(locals())
        if point is None:
            index = body_index(values["body"], self.body_numbers(), f"body of force {name!r}")
            values["point"] = self.bodies[index].com
        return self._added(BodyDamping, values)

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
        """Add deformable ground under points (n, 3) of a body, or one (3,) (Ertl et al. 1993, eq. 8).

        plane: None for z = 0 of the other body, which carries it.
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

        axis: its length does not matter.
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
        """Add a bushing between frames of two bodies, or of a body and the world.

        elastic: 6 functions or stiffnesses, of angles, then of displacements. frame, other_frame: None: the bodies'.
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
        """Add contact of a sphere with a half-space; plane: None for z = 0 of the other body."""
        return self._added(SphereContact, given(locals()))

    def add_controller(
        self,
        name: str,
        body: Body | str,
        *,
        stiffness: Any,
        damping: Any = 0.0,
        force_limit: Any = None,
        target: Any = 0.0,
    ) -> PositionController:
        """Add a controller of a joint's coordinates, of a body without one so far.

        Args:
            stiffness, damping, target: a number, or (n,) one per coordinate.
            force_limit: likewise; None: no limit.
        """
        values = given(locals())
        driven = self._controllers_by_body(self.controllers, lambda other: [other.body])
        known = self._controllers_by_name(self.controllers), driven
        controller = make_controller(name, self.bodies, self.body_numbers(), *known, values)
        taken = self.inputs_by_name(self.inputs), self._input_names()
        for needed in controller.inputs(self.bodies):
            if any(needed.name in names for names in taken):
                raise ModelError(f"controller {name!r} needs the input name {needed.name!r}, which is taken")
        self.controllers.append(controller)
        return controller

    def add_feedback(self, name: str, of: str, *, gain: float, **more: Any) -> Feedback:
        """Add a law that changes a torque, or an input added before, by a signal of the state.

        more: the other numbers and names of `Feedback`, which has their meanings, units and defaults.

        Raises:
            ModelError: a wrong number, a name twice, or a name of what the model does not have.
        """
        made = Feedback(
            new_name(name, "feedback", [each.name for each in self.feedback_laws]), of, gain, **given(more)
        )
        free = {
            name: not prescribed
            for each in self.bodies
            for name, prescribed in zip(coordinate_names(each), each.joint.prescribed)
        }
        driven = [
            *(name for name in free if free[name]),
            *self.inputs_by_name(self.inputs),
            *self._input_names(),
        ]
        grounds = [force for force in self.forces if isinstance(force, Ground | SphereContact)]
        made.check(driven, free, self.body_numbers(), [self.bodies[each.body].name for each in grounds])
        self.feedback_laws.append(made)
        return made

    def read_feedback_laws(self, entries: Any) -> None:
        """Add the laws of a `Model.to_dict`."""
        known = [each.name for each in fields(Feedback)]
        for entry in checked_entries(entries, "feedback_laws", known, required(Feedback)):
            self.add_feedback(**entry)

    def _added(self, kind: type[Made], values: Mapping[str, Any]) -> Made:
        name = checked_name(values["name"], kind.what)
        for what, known in (("spring", self.springs), ("force", self.forces)):
            if name in self._by_name[what](known):
                raise ModelError(f"there is a {what} named {name!r} already")
        made = make_force(kind, name, self.body_numbers(), values)
        others: list[Any] = self.springs if kind is Spring else self.forces
        others.append(made)
        return made

    def _input_names(self) -> Mapping[str, int]:
        """The names of the controllers' inputs."""
        return self._controllers_by_input(
            self.controllers, lambda controller: [each.name for each in controller.inputs(self.bodies)]
        )

    def body_numbers(self) -> Mapping[str, int]:
        """The number of each body by its name."""
        return self._bodies_by_name(self.bodies)

    def check_inputs(self) -> None:
        """ModelError if an input has the name of a coordinate."""
        names = {name for body in self.bodies for name in coordinate_names(body)}
        for name in (*self.inputs_by_name(self.inputs), *self._input_names()):
            if name in names:
                raise ModelError(f"input {name!r} has the name of a coordinate")

    def read_springs(self, entries: Any) -> None:
        """Add the springs of a `Model.to_dict`; one without stiffness only damps."""
        known, required = arguments(ForceBuilder.add_spring)
        for entry in checked_entries(entries, "springs", known, set(required) - {"stiffness"}):
            self.add_spring(**{"stiffness": 0.0, **entry})

    def read_forces(self, entries: Any) -> None:
        """Add the forces of a `Model.to_dict`."""
        adders = {kind: getattr(type(self), f"add_{kind}") for kind in KINDS}
        for entry in checked_entries(entries, "forces", None, ("type", "name", "body")):
            kind = entry["type"]
            if kind not in adders:
                raise FormatError(f"unknown force type {kind!r:.80}; known are {', '.join(sorted(adders))}")
            values = {key: value for key, value in entry.items() if key != "type"}
            check_keys(values, *arguments(adders[kind]), f"force {entry['name']!r:.80}")
            adders[kind](self, **values)
