"""The part of a model's builder that adds forces, inputs, controllers and wobbling masses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bodies.body import Body, given
from ..bodies.names import NameIndex, coordinate_names
from ..errors import FormatError, ModelError
from ..registry import arguments, check_keys, checked_entries
from ..validation import unit_axis
from . import BodyDamping, Input, PositionController, Spring, Wrench
from .base import body_index, checked_name, make_force
from .controller import make_controller
from .element_building import ElementBuilder
from .inputs import make_input

KINDS = ("wrench", "body_damping", "ground", "mount", "bushing", "sphere_contact")  # of forces in files


class ForceBuilder(ElementBuilder):
    """Collects forces, inputs and controllers on bodies; each is checked and added only if it is valid."""

    bodies: list[Body]
    add_body: Any

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Input] = []
        self.controllers: list[PositionController] = []
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
        """Add a spring with a damper between a point of a body and one of another body, or of the world (None).

        Args:
            name: unique among springs and forces, not empty.
            body, other: bodies added before, or their names.
            point, other_point: in their body frames (3,) [m]; in the world for None.
            stiffness: [N/m]. damping: [N s/m]. rest_length: [m]. None of them negative.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        self._check_free(checked_name(name, "spring"))
        spring = make_force(Spring, name, self.body_numbers(), given(locals()))
        self.springs.append(spring)
        return spring

    def add_input(self, name: str, value: float = 0.0) -> Input:
        """Add an input, a number that tables and controllers may change while the model moves.

        Args:
            name: unique among inputs, not empty.
            value: the default, in force while nothing drives it.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        known = self.inputs_by_name(self.inputs), self._input_names()
        result = make_input(name, value, *known)
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
            name: unique among springs and forces, not empty.
            body: a body added before, or its name.
            direction: (3,) in the axes; its length does not matter.
            magnitude: [N], or the name of an input added before.
            point: where it acts, in the body frame (3,) [m].
            axes: ``"world"``, or ``"body"``: the direction turns with the body.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
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
    ) -> Wrench:
        """Add magnitude times a moment and a force in a point of a body.

        Args:
            name, body, point, axes: as for `add_force`.
            moment, force: (3,) [N m, N for each unit of magnitude].
            magnitude: a number, or the name of an input added before.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        if isinstance(magnitude, str) and magnitude not in self.inputs_by_name(self.inputs):
            raise ModelError(
                f"magnitude of force {name!r} follows an unknown input {magnitude!r}; add inputs first"
            )
        return self._added(Wrench, given(locals()))

    def add_body_damping(
        self, name: str, body: Body | str, *, angular: float = 0.0, linear: float = 0.0, point: Any = None
    ) -> BodyDamping:
        """Add damping of a body's motion against the world (Wang 2022, sec. 3.10.1).

        Args:
            name: unique among springs and forces, not empty.
            body: a body added before, or its name.
            angular: moment against the angular velocity [N m s/rad]. linear: force against the velocity of the point
                [N s/m]. Neither negative, not both 0.
            point: in the body frame (3,) [m]; None for the mass centre.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
        """
        values = given(locals())
        if point is None:
            index = body_index(values["body"], self.body_numbers(), f"body of force {name!r}")
            values["point"] = self.bodies[index].com
        return self._added(BodyDamping, values)

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
        """Add a controller of a joint's coordinates; meanings and units as in `PositionController`.

        Args:
            name: unique among controllers, not empty.
            body: a body added before, or its name, without a controller so far.
            stiffness, damping, target: a number, or (n,) one per coordinate.
            force_limit: likewise; None: no limit.

        Raises:
            ModelError: an argument is invalid; nothing is added then.
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

    def add_described(self, description: Mapping[str, Any]) -> None:
        """Add the inputs, springs, forces and controllers of a `Model.to_dict`."""
        builder = type(self)

        def listed(key: str, known: Any, required: Any) -> list[Mapping[str, Any]]:
            return checked_entries(description.get(key, ()), key, known, required)

        for entry in listed("inputs", *arguments(builder.add_input)):
            self.add_input(**entry)
        known, required = arguments(builder.add_spring)
        for entry in listed("springs", known, set(required) - {"stiffness"}):
            self.add_spring(**{"stiffness": 0.0, **entry})
        adders = {kind: getattr(builder, f"add_{kind}") for kind in KINDS}
        for entry in listed("forces", None, ("type", "name", "body")):
            kind = entry["type"]
            if kind not in adders:
                raise FormatError(f"unknown force type {kind!r:.80}; known are {', '.join(sorted(adders))}")
            values = {key: value for key, value in entry.items() if key != "type"}
            check_keys(values, *arguments(adders[kind]), f"force {entry['name']!r:.80}")
            adders[kind](self, **values)
        for entry in listed("controllers", *arguments(builder.add_controller)):
            self.add_controller(**entry)
