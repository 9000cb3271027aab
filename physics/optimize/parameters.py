"""What a motion depends on: torques, inputs, start, masses, springs, joints and gravity, each by kind and name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..errors import ModelError
from ..kernels import layout
from ..model.model import Model
from ..motions.table import Table
from ..validation import chosen, instances, near_names, whole_number
from .control_frames import check_joint, control_numbers, with_numbers
from .muscle_numbers import (
    all_numbers,
    displacement,
    law_fields,
    law_numbers,
    radii_of,
    slices_of,
    with_law,
    with_radii,
)
from .path_points import check_points, moved_muscles, point_numbers, point_slices, slices

#: All that may be a parameter, or a gradient by it: forces and inputs "table" (K, nv + inputs), start "q", "qd" (nv,),
#: "mass" (nb,), "center" (nb, 3), "inertia" (nb, 6), "stiffness", "rest", "damping" (nv,), "gravity" (3,), "young" (m,)
#: of soft bodies with tetrahedra, `OF_SOFT` (m,) of all soft bodies, "frames" (m, 6) of all bodies' joints, "points"
#: (m, 3) of all muscles' paths, "radii" (m,) of the surfaces under them, "laws" (m,) of all muscles, "gains" and
#: "levels" (m,) of all feedback laws.
Values: TypeAlias = dict[str, FloatArray]
#: entries of an inertia; the last three stand twice in the matrix
ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
SPRINGS = {"stiffness": layout.STIFFNESS, "rest": layout.REST, "damping": layout.DAMPING}
#: numbers of all soft bodies
OF_SOFT = ("density", "mass_damping", "stiffness_damping")
OF_MODEL = ("mass", "center", "inertia", *SPRINGS, "gravity", "young", "frames", "points", "radii", "laws")
FEEDBACK = {"gains": "gain", "levels": "level"}
#: those whose derivatives are by differences of each stage's equations
DIFFERED = ("radii", "laws")


class Kind(NamedTuple):
    """A kind of parameter: its key in `Values`, what its name is that of, its unit, and its least value."""

    key: str
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
    "young": Kind("young", "soft body with tetrahedra", "Pa", 1e-3),
    "density": Kind("density", "soft body", "kg/m^3, without tetrahedra kg/m", 1e-9),
    "mass_damping": Kind("mass_damping", "soft body", "1/s", 0.0),
    "stiffness_damping": Kind("stiffness_damping", "soft body", "s", 0.0),
    "frames": Kind(
        "frames",
        "body",
        "rad and m, (m, 6): rotation vector and position of each control frame of its joint's spline curve, or control "
        "values of its spline surface in C order",
    ),
    "points": Kind("points", "muscle", "m, (m, 3): points of its path, each in its body's frame"),
    "radii": Kind("radii", "muscle", "m, (m,): radii of the surfaces under its path, in its order", 0.0),
    "law": Kind("laws", "number of a law", "the number's own"),
    "gain": Kind("gains", "feedback law", "what the law changes by its signal"),
    "level": Kind("levels", "feedback law", "of the law's signal"),
}


@dataclass(frozen=True)
class Parameter:
    """A number or an array on which a motion depends.

    Attributes:
        kind: ``"torque"`` (generalized force of a coordinate, constant or at the rows of a `Table`) and ``"input"`` (of
            the model: a tension, an excitation, the magnitude of a wrench, a controller's target), ``"position"`` and
            ``"speed"`` (a coordinate at the start), ``"mass"``, ``"center"``, ``"inertia"`` of a body,
            ``"stiffness"``, ``"rest"``, ``"damping"`` of a coordinate's own spring, ``"young"``, ``"density"``,
            ``"mass_damping"``, ``"stiffness_damping"`` of a soft body, ``"frames"``, the control frames of a body's
            spline joint, whose knots stay, ``"points"`` of a muscle's path, ``"radii"`` of the surfaces under it,
            ``"law"``, a number of a muscle's law, ``"gain"`` or ``"level"`` of a feedback law, or ``"gravity"``. Units
            are in `KINDS`.
        name: of the coordinate (``"body.coordinate"``), the input, the body, the soft body, the muscle, the number of
            its law (``"muscle.max_isometric_force"``), or the feedback law; empty for gravity.
        index: of one entry of an array (a row of a table, an axis, a control frame, a point, a radius); None: all.
    """

    kind: str
    name: str = ""
    index: int | None = None

    def __post_init__(self) -> None:
        chosen(self.kind, KINDS, "kind of a parameter")

    def place(self, model: Model, rows: int) -> tuple[Any, ...]:
        """Index into its array of `Values`, with a table of so many rows; ModelError if the model has no such thing."""
        kind = KINDS[self.kind]
        names = {"coordinate": model.coordinate_names, "input": model.input_names, "body": model.body_names}
        names["muscle"] = tuple(muscle.name for muscle in model.muscles)
        names["soft body with tetrahedra"] = tuple(model.soft_bodies[k].name for k in solid(model))
        names["soft body"] = tuple(each.name for each in model.soft_bodies)
        names["number of a law"] = tuple(
            f"{each.name}.{name}" for each in model.muscles for name in law_fields(each)
        )
        names["feedback law"] = tuple(law.name for law in model.feedback_laws)
        known = names.get(kind.of, ("",))
        if self.name not in known:
            what = f"no {kind.of} is named" if kind.of else "it has no name, got"
            near = near_names(self.name, known) if kind.of else ""
            raise ModelError(f"a parameter {self.kind!r}: {what} {self.name!r}{near}")
        if kind.key in ("frames", "points", "radii"):
            return (self._rows(model),)
        place = known.index(self.name) + (model.num_coordinates if kind.of == "input" else 0)
        own = (place,) if kind.of else ()
        size = {"table": rows, "center": 3, "inertia": 6, "gravity": 3}.get(kind.key, 1)
        if size == 1 and self.index is not None:
            raise ModelError(
                f"{self.kind} of {self.name!r} is one number: it has no index {self.index!r:.80}"
            )
        rest: Any = slice(None)
        if self.index is not None:
            rest = whole_number(self.index, f"index of {self.kind} of {self.name!r}", 0, size - 1)
        if kind.key == "table":
            return (0 if size == 1 else rest, *own)
        return (*own, rest) if size > 1 else own

    def _rows(self, model: Model) -> Any:
        """Rows of the body's control frames, or of the muscle's points, among those of all."""
        if self.kind == "frames":
            check_joint(model, self.name)
            part = frame_slices(model)[model.index(self.name)]
        else:
            number = [muscle.name for muscle in model.muscles].index(self.name)
            if self.kind == "points":
                check_points(model.muscles[number], self.index)
                part = point_slices(model)[number]
            else:
                part = slices_of(model, radii_of)[number]
                if part.start == part.stop:
                    raise ModelError(f"muscle {self.name!r} wraps over no surface with a radius")
        if self.index is None:
            return part
        what = f"index of {self.kind} of {self.name!r}"
        return part.start + whole_number(self.index, what, 0, part.stop - part.start - 1)


def frame_slices(model: Model) -> list[slice]:
    """Of each body's control frames among those of all."""
    return slices(len(control_numbers(body.joint)) for body in model.bodies)


def values_of(model: Model, state: State, table: FloatArray) -> Values:
    """The numbers of a model, a state and a table."""
    bodies = {
        "mass": np.array([body.mass for body in model.bodies]),
        "center": np.array([body.com for body in model.bodies]),
        "inertia": np.array([[body.inertia[entry] for entry in ENTRIES] for body in model.bodies]),
    }
    springs = {key: model.arrays[4][:, column].copy() for key, column in SPRINGS.items()}
    start = {"table": table.copy(), "q": np.array(state.q), "qd": np.array(state.qd)}
    frames = np.concatenate([control_numbers(body.joint) for body in model.bodies])
    points = np.concatenate([np.zeros((0, 3)), *map(point_numbers, model.muscles)])
    joints = {"gravity": np.array(model.gravity), "frames": frames, "points": points}
    joints["young"] = np.array([model.soft_bodies[k].young for k in solid(model)])
    joints |= {key: np.array([getattr(each, key) for each in model.soft_bodies]) for key in OF_SOFT}
    muscles = {"radii": all_numbers(model, radii_of), "laws": all_numbers(model, law_numbers)}
    laws = {
        key: np.array([getattr(law, name) for law in model.feedback_laws]) for key, name in FEEDBACK.items()
    }
    return {**start, **bodies, **springs, **joints, **muscles, **laws}


def model_with(values: Values, old: Model) -> Model:
    """The model with other numbers; itself if they are its own. Limits keep their springs, also those that were derived
    from the inertia that they carry.
    """
    before = values_of(old, old.state(), values["table"])
    if all(np.array_equal(values[key], before[key]) for key in (*OF_MODEL, *OF_SOFT, *FEEDBACK)):
        return old
    bodies, frames = [], frame_slices(old)
    for i, body in enumerate(old.bodies):
        own, inertia = old.coordinate_slice(body.name), np.empty((3, 3))
        for (j, k), value in zip(ENTRIES, values["inertia"][i]):
            inertia[j, k] = inertia[k, j] = value
        limits = old.arrays[4][own]
        changed = replace(
            body,
            joint=with_numbers(body.joint, values["frames"][frames[i]]),
            mass=float(values["mass"][i]),
            com=values["center"][i].copy(),
            inertia=inertia,
            limit_stiffness=limits[:, layout.LIMIT_STIFFNESS].copy(),
            limit_damping=limits[:, layout.LIMIT_DAMPING].copy(),
            stiffness=values["stiffness"][own].copy(),
            rest=values["rest"][own].copy(),
            damping=values["damping"][own].copy(),
        )
        changed.lock()
        bodies.append(changed)
    radii, laws = slices_of(old, radii_of), slices_of(old, law_numbers)
    muscles = [
        with_law(with_radii(muscle, values["radii"][part]), values["laws"][own])
        for muscle, part, own in zip(moved_muscles(old, values["points"]), radii, laws)
    ]
    numbers: list[Any] = [
        {key: float(values[key][k]) for key in OF_SOFT} for k in range(len(old.soft_bodies))
    ]
    soft = [replace(each, **own) for each, own in zip(old.soft_bodies, numbers)]
    for k, young in zip(solid(old), values["young"].tolist()):
        soft[k] = replace(soft[k], young=young)
    gains = zip(old.feedback_laws, values["gains"].tolist(), values["levels"].tolist())
    changed_laws = [replace(law, gain=gain, level=level) for law, gain, level in gains]
    parts: Any = {"bodies": bodies, "muscles": muscles, "soft_bodies": soft, "feedback_laws": changed_laws}
    return old.altered(gravity=values["gravity"].copy(), **parts)


def solid(model: Model) -> list[int]:
    """Numbers of the soft bodies that have tetrahedra."""
    return [k for k, each in enumerate(model.soft_bodies) if len(each.tets)]


def forces_of(values: Values, times: FloatArray) -> FloatArray | Table:
    """The table at these times as an argument of `simulate`."""
    table = values["table"].copy()
    return table[0] if len(times) == 1 else Table(times.copy(), table)


class Places:
    """Checked parameters of a model, in order, and where each is in an array of them all."""

    def __init__(self, model: Model, parameters: Any, rows: int, values: Values) -> None:
        self.parameters: tuple[Parameter, ...] = instances(parameters, Parameter, "parameters")
        if not self.parameters:
            raise ModelError("parameters: at least one is needed, got none")
        for k, each in enumerate(self.parameters):
            if each in self.parameters[:k]:
                raise ModelError(f"parameters: {each} is given twice")
        self.places = [(KINDS[each.kind].key, each.place(model, rows)) for each in self.parameters]
        self.shapes = [values[key][place].shape for key, place in self.places]
        self.slices = slices(int(np.prod(shape)) for shape in self.shapes)

    def read(self, values: Values) -> FloatArray:
        """All parameters' numbers (n,)."""
        return np.concatenate([np.ravel(values[key][place]) for key, place in self.places])

    def write(self, row: FloatArray, values: Values) -> None:
        """Put all parameters' numbers (n,) into values."""
        for (key, place), part, shape in zip(self.places, self.slices, self.shapes):
            values[key][place] = row[part].reshape(shape)

    def displacements(self, model: Model) -> tuple[list[int], list[int]]:
        """Numbers of the bodies whose control frames, and of the path points of all, that are parameters; rising."""
        frames = {model.index(each.name) for each in self.parameters if each.kind == "frames"}
        count = sum(len(muscle.points) for muscle in model.muscles)
        points = [np.atleast_1d(np.arange(count)[place]) for key, place in self.places if key == "points"]
        return sorted(frames), sorted({int(k) for part in points for k in part})

    def differed(self, values: Values) -> list[tuple[str, int, float]]:
        """Keys and indices of the numbers whose derivatives are by differences, and by how much they are displaced."""
        return [
            (key, int(k), displacement(key, float(values[key][k])))
            for key, place in self.places
            if key in DIFFERED
            for k in np.atleast_1d(np.arange(len(values[key]))[place])
        ]

    def named(self, row: FloatArray) -> dict[Parameter, FloatArray]:
        """Numbers (n,) by parameter, each in its own shape."""
        parts = zip(self.parameters, self.slices, self.shapes)
        return {each: row[part].reshape(shape).copy() for each, part, shape in parts}

    def ranges(self, model: Model) -> FloatArray:
        """Least and greatest value (n, 2) that a model takes of each number."""
        result = np.tile([-np.inf, np.inf], (self.slices[-1].stop, 1))
        for each, part in zip(self.parameters, self.slices):
            result[part, 0] = KINDS[each.kind].least
            pulled = [muscle for muscle in model.muscles if muscle.tension == each.name]
            if each.kind == "input" and pulled:
                useful = [
                    (0.0, np.inf) if each.law is None else each.law.useful_excitations for each in pulled
                ]
                result[part] = np.min(useful, axis=0)
        return result
