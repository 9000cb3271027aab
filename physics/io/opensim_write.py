"""Writes models as OpenSim's; what the format cannot hold is refused by name before anything is written."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body
from ..constraints import CouplingConstraint, DistanceConstraint, PointConstraint, WeldConstraint
from ..errors import ModelError
from ..geometry import lie
from ..joints import Custom, Linear
from ..model.model import Model
from ..muscles import Schutte
from ..validation import instance, number
from .files import write_atomically
from .opensim_out import Names, collection, expression, function_element, made, offset
from .opensim_out_joints import Form, form_of
from .opensim_out_muscles import Muscles

VERSION = "40000"
OPEN = 1000.0  # rad or m: end of a range without limit
USUAL = {"rad": 2.0 * np.pi, "m": 10.0}  # ends of the range of a coordinate without limits


@dataclass(frozen=True)
class OpenSimReport:
    """What `write_opensim` wrote.

    Attributes:
        bodies, muscles: OpenSim's names by ours.
        coordinates: likewise, ``body.coordinate``; without those of ball and free joints, which have three angles about
            x, y and z in place of a rotation vector.
        errors: of what became splines: the largest difference of a joint's poses by the name of its body, of a moving
            point by the name of its muscle [m, rad].
        notes: what the file holds otherwise than the model.
    """

    bodies: Mapping[str, str]
    muscles: Mapping[str, str]
    coordinates: Mapping[str, str]
    errors: Mapping[str, float]
    notes: tuple[str, ...]


def write_opensim(model: Model, path: str | os.PathLike[str], *, tolerance: float) -> OpenSimReport:
    """Write a model as an ``.osim`` file of OpenSim 4.

    Joints that OpenSim has are exact. Others with one coordinate become custom joints with splines. Limits become
    ranges, in which OpenSim keeps coordinates without a force.

    Args:
        tolerance: largest error of poses of joints and of moving points that become splines [m, rad].

    Raises:
        ModelError: the format cannot hold a part of the model; the message names all of them. Nothing is written.
        OSError: the file cannot be written.
    """
    writing = _Writing(instance(model, Model, "model"), number(tolerance, "tolerance", positive=True))
    root = writing.document()
    if writing.refused:
        raise ModelError(f"OpenSim's format cannot hold {'; '.join(writing.refused)}")
    ElementTree.indent(root)
    with write_atomically(path) as beside:
        Path(beside).write_bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
    return writing.report()


class _Writing:
    """Writes one model."""

    def __init__(self, model: Model, tolerance: float) -> None:
        self.model, self.tolerance = model, tolerance
        self.refused: list[str] = []
        self.notes: list[str] = []
        self.errors: dict[str, float] = {}
        names = Names("ground")
        self.bodies = {body.name: names(body.name) for body in model.bodies}
        self.default = model.state().q
        self.coordinates: dict[str, str] = {}  # names, by ours
        self.places: dict[str, tuple[str, tuple[float, float]]] = {}  # paths and ranges
        self.forces: list[Element] = []
        self.force_names = Names()
        self.muscle_names: dict[str, str] = {}
        self._coordinate_names = Names()
        chosen = Counter(  # names of coordinates that were chosen for the model
            name
            for body in model.bodies
            if isinstance(body.joint, Custom)
            for name in body.joint.coordinate_names
        )
        self._single = {name for name, count in chosen.items() if count == 1}

    def report(self) -> OpenSimReport:
        return OpenSimReport(
            self.bodies, self.muscle_names, self.coordinates, self.errors, tuple(dict.fromkeys(self.notes))
        )

    def document(self) -> Element:
        joints = [made_joint for body in self.model.bodies if (made_joint := self._joint(body)) is not None]
        named = Names()
        rows = [self._constraint(name, named(name), each) for name, each in self.model.constraints.items()]
        self._springs()
        muscles = Muscles(self._frame, self._place, self.force_names, self.tolerance)
        for muscle in self.model.muscles:
            try:
                given = self.muscle_names[muscle.name] = self.force_names(muscle.name)
                self.forces.append(muscles.element(muscle, given))
                if isinstance(muscle.law, Schutte) and muscle.law.minimum_activation > 0.0:
                    self.notes.append("minimum_activation of Schutte's muscles is not written")
            except ModelError as error:
                self.refused.append(f"muscle {muscle.name!r}: {error}")
        self.errors |= muscles.errors
        bodies = [self._body(body, muscles.surfaces.get(body.name, ())) for body in self.model.bodies]
        ground = made("Ground", *_wraps(muscles.surfaces.get(None, ())), name="ground")
        kept = [each for each in rows if each is not None]
        sets = [("BodySet", bodies), ("JointSet", joints), ("ConstraintSet", kept), ("ForceSet", self.forces)]
        parts = [ground, *(collection(tag, members) for tag, members in sets)]
        root = Element("OpenSimDocument", {"Version": VERSION})
        root.append(made("Model", *parts, name="model", gravity=self.model.gravity))
        for kind in ("force", "controller", "contact", "feedback_law"):
            self.refused += [f"{kind} {each.name!r}" for each in getattr(self.model, f"{kind}s")]
        return root

    def _body(self, body: Body, surfaces: Any) -> Element:
        i = body.inertia
        moments = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
        solid = {"mass": body.mass, "mass_center": body.com, "inertia": moments}
        return made("Body", *_wraps(surfaces), name=self.bodies[body.name], **solid)

    def _frame(self, body: Any) -> str:
        name = body.name if isinstance(body, Body) else body
        return "/ground" if name is None else f"/bodyset/{self.bodies[name]}"

    def _place(self, coordinate: str) -> tuple[str, tuple[float, float]]:
        if coordinate not in self.places:
            raise ModelError(f"it follows {coordinate!r}, which is no coordinate in OpenSim")
        return self.places[coordinate]

    def _joint(self, body: Body) -> Element | None:
        first = self.model.coordinate_slice(body.name).start
        inner = body.joint.range.reshape(-1, 2)
        span = np.column_stack(
            [np.maximum(body.limits[:, 0], inner[:, 0]), np.minimum(body.limits[:, 1], inner[:, 1])]
        )
        held = np.where(body.held, body.limits[:, 0], np.nan)
        try:
            form = form_of(body.joint, held, span, self.tolerance)
            self._check(body, form)
        except ModelError as error:
            self.refused.append(f"joint of body {body.name!r}: {error}")
            return None
        if form.error:
            self.errors[body.name] = form.error
        owner = f"{self.bodies[body.name]}_joint"
        names = [self._coordinate(body, k, first, form, span, owner) for k in form.coordinates]
        parent = None if body.parent < 0 else self.model.bodies[body.parent].name
        ends = [(self._frame(parent), body.joint_in_parent)]
        ends.append((self._frame(body.name), lie.inverse(body.body_in_joint)))
        if form.turned:
            ends.reverse()
        around = {"parent": form.before, "child": lie.inverse(form.after)}
        frames = [
            offset(f"{end}_offset", frame, pose @ around[end]) for end, (frame, pose) in zip(around, ends)
        ]
        sockets = {f"socket_{end}_frame": f"{end}_offset" for end in ("parent", "child")}
        parts = [made("coordinates", *(element for _, element in names)), made("frames", *frames)]
        if form.transform is not None:
            for entry in form.transform.iter("coordinates"):
                entry.text = names[int(entry.text)][0] if entry.text else ""
            parts.append(form.transform)
        return made(form.tag, *parts, name=owner, **sockets, **form.values)

    def _check(self, body: Body, form: Form) -> None:
        """ModelError for what OpenSim's coordinates do not have."""
        if body.armature.any():
            raise ModelError("it has an armature")
        if body.limit_restitution is not None or body.joint.rotation_limits:
            raise ModelError("its limits are hard, or of a rotation")
        laws = (*body.elastic, *body.damper, *body.viscosity, body.stiffness.any(), body.damping.any())
        limited = np.isfinite(body.limits)[list(form.coordinates)[:3]].any()
        if form.angles and (any(laws) or limited):
            raise ModelError("it has springs or limits on a rotation vector")
        if np.isfinite(body.limits[~body.held]).any():
            self.notes.append("limits are ranges, without spring and damper")

    def _coordinate(
        self, body: Body, k: int, first: int, form: Form, span: FloatArray, owner: str
    ) -> tuple[str, Element]:
        """Name and element of a coordinate, with the forces on it."""
        ours = body.joint.coordinate_names[k]
        name = self._coordinate_names(ours if ours in self._single else f"{body.name}_{ours}")
        key = f"{body.name}.{ours}"
        usual = USUAL.get(body.joint.coordinate_units[k], 10.0)
        limited = np.isfinite(body.limits[k]).any() and not body.held[k]
        lower, upper = (
            float(end) if np.isfinite(end) else sign * (OPEN if limited else usual)
            for end, sign in zip(span[k], (-1.0, 1.0))
        )
        if not form.angles:
            self.coordinates[key] = name
            self.places[key] = f"/jointset/{owner}/{name}", (lower, upper)
            self._coordinate_forces(body, k, name)
        default = 0.0 if form.angles else min(max(float(self.default[first + k]), lower), upper)
        settings = {"default_value": default, "range": (lower, upper)}
        return name, made("Coordinate", name=name, **settings, clamped=limited, locked=bool(body.held[k]))

    def _coordinate_forces(self, body: Body, k: int, name: str) -> None:
        if body.stiffness[k] or body.damping[k]:
            names = {"name": self.force_names(f"{name}_spring"), "coordinate": name}
            spring = {
                "stiffness": body.stiffness[k],
                "rest_length": body.rest[k],
                "viscosity": body.damping[k],
            }
            self.forces.append(made("SpringGeneralizedForce", **names, **spring))
        laws = ((body.elastic[k], "q", ""), (body.viscosity[k], "q", "*qdot"), (body.damper[k], "qdot", ""))
        try:
            text = "".join(f"-{expression(law, x)}{times}" for law, x, times in laws if law is not None)
        except ModelError as error:
            self.refused.append(f"a law of coordinate {body.name}.{body.joint.coordinate_names[k]}: {error}")
            return
        if text:
            names = {"name": self.force_names(f"{name}_force"), "coordinate": name}
            self.forces.append(made("ExpressionBasedCoordinateForce", **names, expression=text))

    def _springs(self) -> None:
        names = [body.name for body in self.model.bodies]
        for spring in self.model.springs:
            ends = [self._frame(None if k < 0 else names[k]) for k in (spring.body, spring.other)]
            values: dict[str, Any] = {
                "point1": spring.point,
                "point2": spring.other_point,
                "name": self.force_names(spring.name),
            }
            if spring.damping:
                values["expression"] = (
                    f"{spring.stiffness!r}*(d-{spring.rest_length!r})+{spring.damping!r}*ddot"
                )
                tag, keys = "ExpressionBasedPointToPointForce", ("body1", "body2")
            else:
                values |= {"stiffness": spring.stiffness, "rest_length": spring.rest_length}
                tag, keys = "PointToPointSpring", ("socket_body1", "socket_body2")
            self.forces.append(made(tag, **dict(zip(keys, ends)), **values))

    def _constraint(self, ours: str, name: str, given: Any) -> Element | None:
        ends = [self._frame(getattr(given, end)) for end in ("body", "other") if hasattr(given, end)]
        if isinstance(given, WeldConstraint):
            frames = [
                offset(f"frame{k}", end, pose)
                for k, end, pose in zip((1, 2), ends, (given.frame, given.other_frame))
            ]
            sockets = {f"socket_frame{k}": f"frame{k}" for k in (1, 2)}
            return made("WeldConstraint", made("frames", *frames), name=name, **sockets)
        rod = isinstance(given, DistanceConstraint) and given.sense == "rod"
        if isinstance(given, PointConstraint) or rod:
            values: dict[str, Any] = {f"socket_body_{k}": end for k, end in zip((1, 2), ends)}
            values |= {"location_body_1": given.point, "location_body_2": given.other_point}
            if rod:
                values["constant_distance"] = given.length
            return made("ConstantDistanceConstraint" if rod else "PointConstraint", name=name, **values)
        element = self._coupler(name, given) if isinstance(given, CouplingConstraint) else None
        if element is None:
            self.refused.append(f"constraint {ours!r} of type {given.type!r}")
        return element

    def _coupler(self, name: str, given: CouplingConstraint) -> Element | None:
        weights, function = np.array([*given.drivers.values()]), function_element(given.function)
        if isinstance(given.function, Linear):
            row = [*(given.function.slope * weights), given.function.offset]
            function = made("LinearFunction", coefficients=row)
        elif len(weights) != 1 or weights[0] != 1.0:
            return None
        known = all(each in self.coordinates for each in (given.coordinate, *given.drivers))
        if given.more or function is None or not known:
            return None
        drivers = " ".join(self.coordinates[each] for each in given.drivers)
        holder = made("coupled_coordinates_function", function)
        follower = self.coordinates[given.coordinate]
        ends = {"independent_coordinate_names": drivers, "dependent_coordinate_name": follower}
        return made("CoordinateCouplerConstraint", holder, name=name, **ends)


def _wraps(surfaces: Any) -> list[Element]:
    return [collection("WrapObjectSet", surfaces)] if surfaces else []
