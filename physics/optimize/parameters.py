"""What a motion depends on: torques, inputs, start, masses, springs and gravity, each by kind and name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..errors import ModelError
from ..kernels import layout
from ..model.model import Model
from ..motions.table import Table
from ..validation import chosen, instances, near_names, whole_number

#: entries of an inertia: those of the matrix's last three rows stand in it twice
ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


class Kind(NamedTuple):
    """A kind of parameter: where its numbers are (see `Values`), what its name is that of, its unit, and its least
    value.
    """

    field: str
    of: str
    unit: str
    least: float = -np.inf


#: all kinds; N m and rad of angles are N and m of lengths
KINDS = {
    "torque": Kind("table", "coordinate", "N m"),
    "input": Kind("table", "input", "the input's own: N of a tension, 1 of an excitation"),
    "position": Kind("q", "coordinate", "rad"),
    "speed": Kind("qd", "coordinate", "rad/s"),
    "mass": Kind("mass", "body", "kg"),
    "center": Kind("center", "body", "m, (3,) in the body's frame"),
    "inertia": Kind(
        "inertia", "body", "kg m^2, (6,): xx, yy, zz, xy, xz, yz about the mass centre, body axes"
    ),
    "stiffness": Kind("stiffness", "coordinate", "N m/rad", 0.0),
    "rest": Kind("rest", "coordinate", "rad"),
    "damping": Kind("damping", "coordinate", "N m s/rad", 0.0),
    "gravity": Kind("gravity", "", "m/s^2, (3,)"),
}


@dataclass(frozen=True)
class Parameter:
    """A number or an array on which a motion depends.

    Attributes:
        kind: ``"torque"`` (generalized force of a coordinate, constant or at the rows of a `Table`) and ``"input"`` (of
            the model: a tension, an excitation, the magnitude of a wrench, a controller's target), ``"position"`` and
            ``"speed"`` (a coordinate at the start), ``"mass"``, ``"center"``, ``"inertia"`` of a body,
            ``"stiffness"``, ``"rest"``, ``"damping"`` of a coordinate's own spring, or ``"gravity"``. Units are in
            `KINDS`.
        name: of the coordinate (``"body.coordinate"``), the input or the body; empty for gravity.
        index: of one entry of an array (a row of a table, an axis); None: all.
    """

    kind: str
    name: str = ""
    index: int | None = None

    def __post_init__(self) -> None:
        chosen(self.kind, KINDS, "kind of a parameter")

    def place(self, model: Model, rows: int) -> tuple[Any, ...]:
        """Index into its array of `Values`, with a table of so many rows; ModelError if the model has no such thing."""
        kind = KINDS[self.kind]
        own: tuple[int, ...] = ()
        names = {"coordinate": model.coordinate_names, "input": model.input_names, "body": model.body_names}
        if kind.of:
            known = names[kind.of]
            if self.name not in known:
                raise ModelError(
                    f"a parameter {self.kind!r}: no {kind.of} is named {self.name!r}{near_names(self.name, known)}"
                )
            own = (known.index(self.name) + (model.num_coordinates if kind.of == "input" else 0),)
        elif self.name:
            raise ModelError(f"a parameter {self.kind!r} has no name, got {self.name!r}")
        size = {"table": rows, "center": 3, "inertia": 6, "gravity": 3}.get(kind.field, 1)
        if size == 1 and self.index is not None:
            raise ModelError(
                f"{self.kind} of {self.name!r} is one number: it has no index {self.index!r:.80}"
            )
        rest: Any = slice(None) if self.index is None else self.index
        if self.index is not None:
            whole_number(self.index, f"index of {self.kind} of {self.name!r}", 0, size - 1)
        if kind.field == "table":
            return (0 if size == 1 else rest, *own)
        return (*own, rest) if size > 1 else own


@dataclass
class Values:
    """All numbers that may be parameters of a motion, or its gradient by them.

    Attributes:
        table: forces and inputs (K, nv + inputs). q, qd: start (nv,). mass (nb,), center (nb, 3), inertia (nb, 6).
        stiffness, rest, damping: (nv,). gravity: (3,).
    """

    table: FloatArray
    q: FloatArray
    qd: FloatArray
    mass: FloatArray
    center: FloatArray
    inertia: FloatArray
    stiffness: FloatArray
    rest: FloatArray
    damping: FloatArray
    gravity: FloatArray

    @classmethod
    def of(cls, model: Model, state: State, table: FloatArray) -> Values:
        """Those of a model, a state and a table."""
        springs = model.arrays[4]
        return cls(
            table.copy(),
            np.array(state.q),
            np.array(state.qd),
            np.array([body.mass for body in model.bodies]),
            np.array([body.com for body in model.bodies]),
            np.array([[body.inertia[entry] for entry in ENTRIES] for body in model.bodies]),
            springs[:, layout.STIFFNESS].copy(),
            springs[:, layout.REST].copy(),
            springs[:, layout.DAMPING].copy(),
            np.array(model.gravity),
        )

    def model(self, old: Model) -> Model:
        """The model with these numbers; itself if they are its own. Limits keep their springs, also those that were
        derived from the inertia that they carry.
        """
        before = Values.of(old, old.state(), self.table)
        names = [each.name for each in fields(self) if each.name not in ("table", "q", "qd")]
        if all(np.array_equal(getattr(self, name), getattr(before, name)) for name in names):
            return old
        bodies = []
        for i, body in enumerate(old.bodies):
            own, inertia = old.coordinate_slice(body.name), np.empty((3, 3))
            for (j, k), value in zip(ENTRIES, self.inertia[i]):
                inertia[j, k] = inertia[k, j] = value
            limits = old.arrays[4][own]
            changed = replace(
                body,
                mass=float(self.mass[i]),
                com=self.center[i].copy(),
                inertia=inertia,
                stiffness=self.stiffness[own].copy(),
                rest=self.rest[own].copy(),
                damping=self.damping[own].copy(),
                limit_stiffness=limits[:, layout.LIMIT_STIFFNESS].copy(),
                limit_damping=limits[:, layout.LIMIT_DAMPING].copy(),
            )
            changed.lock()
            bodies.append(changed)
        parts = old.springs, old.forces, old.inputs[: len(old.inputs) - _driven(old)], old.controllers
        rest = dict(old.constraints), old.contacts, old.muscles, old.colliders
        return Model(bodies, self.gravity, *parts, *rest)

    def state(self, model: Model, old: State) -> State:
        """The state of a model with these coordinates and velocities."""
        return replace(model.state(q=self.q, qd=self.qd, time=old.time), chart=old.chart)

    def forces(self, times: FloatArray) -> FloatArray | Table:
        """The table as an argument of `simulate`."""
        return self.table[0].copy() if len(times) == 1 else Table(times.copy(), self.table.copy())


def _driven(model: Model) -> int:
    """Number of inputs that belong to controllers."""
    return sum(len(controller.inputs(model.bodies)) for controller in model.controllers)


class Places:
    """Checked parameters of a model, in order, and where each is in an array of them all."""

    def __init__(self, model: Model, parameters: Any, rows: int, values: Values) -> None:
        self.parameters: tuple[Parameter, ...] = instances(parameters, Parameter, "parameters")
        if not self.parameters:
            raise ModelError("parameters: at least one is needed, got none")
        self.places = [each.place(model, rows) for each in self.parameters]
        shapes = [self._entry(values, k).shape for k in range(len(self.parameters))]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        self.shapes: Sequence[tuple[int, ...]] = shapes
        self.slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        for k, each in enumerate(self.parameters):
            if each in self.parameters[:k]:
                raise ModelError(f"parameters: {each} is given twice")

    def _entry(self, values: Values, k: int) -> FloatArray:
        field = getattr(values, KINDS[self.parameters[k].kind].field)
        entry: FloatArray = np.asarray(field[self.places[k]])
        return entry

    def read(self, values: Values) -> FloatArray:
        """All parameters' numbers (n,)."""
        return np.concatenate([self._entry(values, k).ravel() for k in range(len(self.parameters))])

    def write(self, row: FloatArray, values: Values) -> None:
        """Put all parameters' numbers (n,) into values."""
        for k, each in enumerate(self.parameters):
            getattr(values, KINDS[each.kind].field)[self.places[k]] = row[self.slices[k]].reshape(
                self.shapes[k]
            )

    def named(self, row: FloatArray) -> dict[Parameter, FloatArray]:
        """Numbers (n,) by parameter, each in its own shape."""
        parts = zip(self.parameters, self.slices, self.shapes)
        return {each: row[part].reshape(shape).copy() for each, part, shape in parts}

    def at_ends(self, values: Values) -> tuple[Parameter, ...]:
        """The parameters with a number at the end of its range: only one side of it has a motion."""
        return tuple(
            each
            for k, each in enumerate(self.parameters)
            if (self._entry(values, k) <= KINDS[each.kind].least).any()
        )
