"""Parameters that may change during a run: forces and inputs, gravity, force elements, contacts, controllers, a grip.

A model is immutable. The run uses a copy whose arrays are read-only for the kernels, which compile separately for
writable ones, while this module writes to the same memory. Sizes and addresses never change.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..contacts import Contact, pack_contacts
from ..errors import ModelError
from ..forces import BodyDamping, Force, Ground, Mount, Spring, Wrench
from ..forces.feedback import pack_feedback
from ..kernels import layout
from ..kernels.stepping import feedback_layout
from ..model.model import Model
from ..motions.excitation import excite
from ..motions.table import Table, interpolated
from ..validation import finite_array, number, per_coordinate

#: the adjustable parameters of each kind of element, and their bounds
TURNED: dict[type, tuple[str, ...]] = {
    Ground: ("stiffness", "exponent", "damping", "friction", "smooth_speed"),
    Mount: ("stiffness_along", "stiffness_across", "damping_along", "damping_across"),
    Spring: ("stiffness", "damping", "rest_length"),
    Contact: ("friction", "restitution"),
}
POSITIVE = ("smooth_speed",)
AT_LEAST = {"exponent": 1.0}
AT_MOST = {"restitution": 1.0}
GRIP_KEYS = ("body", "point", "target", "stiffness", "damping")
KEYS = ("gravity", "inputs", "forces", "contacts", "grip", "controllers", "loads", "feedback")
#: columns of a feedback law's parameters
LAWS = {"gain": feedback_layout.GAIN, "level": feedback_layout.LEVEL}
#: columns of a controller's parameters in the laws of its coordinates
GAINS = {"stiffness": layout.LAW_GAIN, "damping": layout.LAW_RATE_GAIN}


class Knobs:
    """The adjustable parameters of a running model.

    Attributes:
        model: the copy to run; it has an additional spring for the grip, and a force and a damper in the mass centre of
            each body with a controller, all without force at first.
        table: times (K,) and forces with inputs (K, nv + num_inputs) of the run; `turn` overwrites columns.
        feedback: of `pack_feedback`; `turn` overwrites gains and levels.
    """

    def __init__(self, model: Model, table: tuple[FloatArray, FloatArray]) -> None:
        """Make the copy; table: as returned by `motions.table.force_table`."""
        self._given = table[1].copy()
        self.table = table[0].copy(), table[1].copy()
        self._names = {name: k for k, name in enumerate((*model.coordinate_names, *model.input_names))}
        self._turned = np.zeros(len(self._names), dtype=np.bool_)
        name = "grip"
        while any(element.name.startswith(name) for element in (*model.springs, *model.forces)):
            name += "_"
        self._grip = Spring(name, 0, np.zeros(3), -1, np.zeros(3), 0.0, 0.0, 0.0)
        self._controlled = {each.name: each.body for each in model.controllers}
        self._loads = {
            model.body_names[body]: _load(f"{name} {model.body_names[body]}", body, model)
            for body in self._controlled.values()
        }
        forces = (*model.forces, *(each for load in self._loads.values() for each in load))
        springs = (*model.springs, self._grip)
        self._elements: dict[str, Spring | Force] = {element.name: element for element in (*springs, *forces)}
        self._contacts = {contact.name: contact for contact in model.contacts}
        self.model = model.altered(springs=springs, forces=forces)
        self._inputs = {element.name: k for k, element in enumerate(self.model.inputs)}
        self._data, self._dofs, self._pairs = _open(self.model)
        self.feedback = pack_feedback(self.model)

    def turn(self, changes: Mapping[str, Any]) -> None:
        """Change parameters from the next step on. Nothing changes if a value is invalid.

        Args:
            changes: any of ``gravity``: (3,) [m/s^2]; ``inputs``: {coordinate or input: number, or None for the value
                of the table}; ``forces``: {spring or force: {parameter: number}}; ``contacts``: likewise; ``grip``:
                None, or {body, point in its frame (3,) [m], target in the world (3,) [m], stiffness, damping};
                ``controllers``: {controller: some of stiffness, damping, armature (n,)}, the last of its coordinates;
                ``loads``: {body with a controller: some of force (3,) in the world [N], damping [N s/m], both in its
                mass centre and beside those of the model, so the damping may be negative}; ``feedback``: {law: some of
                gain, level}.

        Raises:
            ModelError: an unknown name, or an invalid number.
        """
        for key in changes:
            if key not in KEYS:
                raise ModelError(f"unknown parameter {key!r} of a live run; known are {', '.join(KEYS)}")
        gravity = changes.get("gravity")
        if gravity is not None:
            gravity = finite_array(gravity, (3,), "gravity")
        inputs = self._checked_inputs(changes.get("inputs") or {})
        elements = _changed(self._elements, changes.get("forces") or {}, "spring or force")
        contacts = _changed(self._contacts, changes.get("contacts") or {}, "contact")
        for name, values in (changes.get("loads") or {}).items():
            elements |= self._loaded(name, values)
        gained = [self._gains(*each) for each in (changes.get("controllers") or {}).items()]
        laws = [self._law(*each) for each in (changes.get("feedback") or {}).items()]
        if "grip" in changes:
            elements[self._grip.name] = self._gripping(changes["grip"])
        if gravity is not None:
            self._data[:3] = gravity
        for column, value in inputs.items():
            self.table[1][:, column] = self._given[:, column] if value is None else value
            self._turned[column] = value is not None
        for where, gains in gained:
            rows = self._dofs[where, layout.LAW].astype(np.int64)
            for key, gain in gains.items():
                if key in GAINS:
                    self._data[rows + GAINS[key]] = gain
                else:
                    self._dofs[where, layout.ARMATURE] = gain
        for row, numbers in laws:
            for key, value in numbers.items():
                self.feedback[0][0][row, LAWS[key]] = value
        self._elements |= elements
        self._contacts |= contacts
        if elements:
            self._write_elements()
        if contacts:
            self._pairs[:] = pack_contacts(tuple(self._contacts.values()), self.model.body_frames)

    def driven(self, controllers: Mapping[str, Any]) -> Callable[[float, FloatArray, FloatArray], FloatArray]:
        """Forces and inputs as a function of (t, q, q').

        They are the table's, or a muscle's controller where its input was not changed. ModelError as
        `motions.excitation.excite`.
        """
        if not controllers:
            return lambda t, q, qd: interpolated(t, *self.table)
        controlled = excite(self.model, controllers, Table(self.table[0], self._given))

        def driven(t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
            values: FloatArray = controlled(t, q, qd)
            values[self._turned] = self.table[1][0, self._turned]  # a changed value is constant over time
            return values

        return driven

    def _checked_inputs(self, values: Mapping[str, Any]) -> dict[int, float | None]:
        for name in values:
            if name not in self._names:
                raise ModelError(f"no coordinate or input {name!r}; there are {', '.join(self._names)}")
        return {
            self._names[name]: None if value is None else number(value, name)
            for name, value in values.items()
        }

    def _gains(self, name: str, values: Mapping[str, Any]) -> tuple[slice, dict[str, FloatArray]]:
        """Coordinates of a controller, and its new parameters."""
        if name not in self._controlled:
            raise ModelError(
                f"no controller is named {name!r}; there are {', '.join(self._controlled) or 'none'}"
            )
        where = self.model.coordinate_slice(self.model.body_names[self._controlled[name]])
        known = {*GAINS, "armature"}
        if not set(values) <= known:
            raise ModelError(
                f"{', '.join(map(str, set(values) - known))} of controller {name!r} cannot change"
            )
        made = {
            key: per_coordinate(value, where.stop - where.start, f"{key} of {name!r}", not_negative=True)
            for key, value in values.items()
        }
        return where, made

    def _law(self, name: str, values: Mapping[str, Any]) -> tuple[int, dict[str, float]]:
        """Row of a feedback law, and its new parameters."""
        names = [law.name for law in self.model.feedback_laws]
        if name not in names:
            raise ModelError(f"no feedback is named {name!r}; there are {', '.join(names) or 'none'}")
        if not set(values) <= set(LAWS):
            raise ModelError(f"a feedback has gain and level, got {', '.join(map(str, values))}")
        made = {key: number(value, f"{key} of feedback {name!r}") for key, value in values.items()}
        return names.index(name), made

    def _loaded(self, name: str, values: Mapping[str, Any]) -> dict[str, Force]:
        """The changed load of a body."""
        if name not in self._loads:
            raise ModelError(f"no load can act on {name!r}; it can on {', '.join(self._loads) or 'nothing'}")
        if not set(values) <= {"force", "damping"}:
            raise ModelError(f"a load has force and damping, got {', '.join(map(str, values))}")
        found: dict[str, Force] = {}
        push, damper = self._loads[name]
        if "force" in values:
            force = finite_array(values["force"], (3,), f"force on {name!r}")
            found[push.name] = dataclasses.replace(push, force=force)
        if "damping" in values:
            linear = number(values["damping"], f"damping of {name!r}")
            found[damper.name] = dataclasses.replace(damper, linear=linear)
        return found

    def _gripping(self, grip: Mapping[str, Any] | None) -> Spring:
        if grip is None:
            return dataclasses.replace(self._grip, stiffness=0.0, damping=0.0)
        if set(grip) != set(GRIP_KEYS):
            raise ModelError(f"a grip has {', '.join(GRIP_KEYS)}, got {', '.join(map(str, grip))}")
        return dataclasses.replace(
            self._grip,
            body=self.model.index(grip["body"]),
            point=finite_array(grip["point"], (3,), "point of the grip"),
            other_point=finite_array(grip["target"], (3,), "target of the grip"),
            stiffness=number(grip["stiffness"], "stiffness of the grip", not_negative=True),
            damping=number(grip["damping"], "damping of the grip", not_negative=True),
        )

    def _write_elements(self) -> None:
        at = int(self._data[layout.ELEMENT_ROWS])
        for element in self._elements.values():
            row = element.packed(self.model.body_frames, self._inputs)
            self._data[at : at + len(row)] = row
            at += len(row)


def _changed(known: Mapping[str, Any], changes: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The changed elements with their new parameters."""
    changed = {}
    for name, values in changes.items():
        if name not in known:
            raise ModelError(f"no {what} is named {name!r}; there are {', '.join(known) or 'none'}")
        element = known[name]
        turned = TURNED.get(type(element), ())
        for key, value in values.items():
            if key not in turned:
                raise ModelError(
                    f"{key!r} of {name!r} cannot change during a run; {', '.join(turned) or 'nothing'} can"
                )
            checked = number(value, f"{key} of {name!r}", positive=key in POSITIVE, not_negative=True)
            if checked < AT_LEAST.get(key, 0.0) or checked > AT_MOST.get(key, np.inf):
                raise ModelError(f"{key} of {name!r} cannot be {checked:g}")
        changed[name] = dataclasses.replace(element, **{key: float(value) for key, value in values.items()})
    return changed


def _load(name: str, body: int, model: Model) -> tuple[Wrench, BodyDamping]:
    """A force and a damper in a body's mass centre that do nothing yet."""
    center, none = model.bodies[body].com, np.zeros(3)
    push = Wrench(f"{name} push", body, center, none, none, "world", 1.0)
    return push, BodyDamping(f"{name} damper", body, center, 0.0, 0.0)


def _open(model: Model) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Replace data, coordinates and contact pairs of a copied model by arrays whose memory is returned for writing."""
    olds = (*model.arrays[layout.MODEL_DATA :], model.contact_pairs)
    data, dofs, pairs = made = np.array(olds[0]), np.array(olds[1]), np.array(olds[2])
    shown = [each.view() for each in made]
    for view in shown:
        view.flags.writeable = False
    con_int, con_float, con_data, marked, spaces = model._constraint_arrays
    seen = [next((new for old, new in zip(olds, shown) if array is old), array) for array in marked]
    own = vars(model)  # of a copy that nobody else has
    own["contact_pairs"], own["arrays"] = shown[2], (*model.arrays[: layout.MODEL_DATA], shown[0], shown[1])
    own["gravity"] = shown[0][layout.GRAVITY : layout.GRAVITY + 3]
    own["_constraint_arrays"] = con_int, con_float, con_data, tuple(seen), spaces
    return data, dofs, pairs
