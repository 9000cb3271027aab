"""Muscles of a model as OpenSim's: paths, wrap objects, force laws."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ..errors import ModelError
from ..muscles import Cord, Cylinder, DeGroote, Millard, Muscle, Obstacle, PathPoint, Schutte, Tension
from .opensim_laws import LAWS, MARGIN, SCHUTTE_CURVES
from .opensim_out import Names, angles, collection, expression, function_or_spline, made
from .opensim_parts import WRAPS

INFINITE = 1000.0  # m: length of a cylinder without ends
ACTIVATION = 0.05  # OpenSim's default


class Muscles:
    """Writes muscles.

    Args:
        frame: the path of a body's frame by its name. coordinate: the path of a coordinate and its range.
        names: of forces. tolerance: of splines in place of functions [m].

    Attributes:
        surfaces: wrap objects by body. errors: of splines, by muscle [m].
    """

    def __init__(
        self,
        frame: Callable[[str | None], str],
        coordinate: Callable[[str], tuple[str, tuple[float, float]]],
        names: Names,
        tolerance: float,
    ) -> None:
        self.frame, self.coordinate, self.names, self.tolerance = frame, coordinate, names, tolerance
        self.surfaces: dict[str | None, list[Element]] = {}
        self.errors: dict[str, float] = {}
        self._known: dict[str, str] = {}
        self._surface_names = Names()

    def element(self, muscle: Muscle, given: str) -> Element:
        """The muscle under a name; ModelError if OpenSim has no such one."""
        if muscle.masses is not None:
            raise ModelError("its mass lies along its path")
        path = self._path(muscle)
        law = muscle.law
        if isinstance(law, Cord):
            text = {"expression": _cord(law), "clamp_stretch": False}
            return made("ExpressionBasedPathForce", path, name=given, **text)
        if not isinstance(muscle.tension, str) and muscle.tension != 0.0:
            raise ModelError(f"its excitation or tension is the number {muscle.tension:g}, not an input")
        if law is None or isinstance(law, Tension):
            return made("PathActuator", path, name=given, optimal_force=1.0 if law is None else law.max_force)
        for tag, (kind, entries) in LAWS.items():
            if isinstance(law, kind):
                return _hill(tag, path, given, muscle, entries)
        raise ModelError(f"OpenSim has no law of type {law.type!r}")

    def _path(self, muscle: Muscle) -> Element:
        points = [self._point(k, point, muscle.name) for k, point in enumerate(muscle.points)]
        spans: dict[Any, tuple[str, int, int]] = {}
        for k, wrap in muscle.strands.items():
            for j, obstacle in enumerate(wrap.obstacles):
                surface = self._surface(obstacle)
                key = surface if muscle.wraps_once else (k, j)
                spans[key] = surface, spans.get(key, (surface, k + 1))[1], k + 2
        wraps = [
            made("PathWrap", name=f"wrap_{n}", method="hybrid", wrap_object=surface, range=f"{first} {last}")
            for n, (surface, first, last) in enumerate(spans.values())
        ]
        parts = [collection("PathPointSet", points), *([collection("PathWrapSet", wraps)] if wraps else [])]
        return made("GeometryPath", *parts, name="path")

    def _point(self, k: int, point: PathPoint, muscle: str) -> Element:
        place: dict[str, Any] = {"name": f"point_{k}", "socket_parent_frame": self.frame(point.body)}
        if not point.moves:
            place["location"] = point.position
            if point.condition is None:
                return made("PathPoint", **place)
            where = point.condition
            path, _ = self.coordinate(where.coordinate)
            span = where.lower + MARGIN, where.upper - MARGIN
            return made("ConditionalPathPoint", **place, socket_coordinate=path, range=span)
        if point.condition is not None:
            raise ModelError("a point moves and depends on a coordinate's range")
        holders = []
        for axis, part in zip("xyz", point.position):
            if isinstance(part, float):
                first = next(each for each in point.position if not isinstance(each, float))
                path, _ = self.coordinate(first.coordinate)
                function = made("Constant", value=part)
            else:
                path, span = self.coordinate(part.coordinate)
                function, error = function_or_spline(part.function, span, self.tolerance)
                if error:
                    self.errors[muscle] = max(error, self.errors.get(muscle, 0.0))
            holders.append(made(f"{axis}_location", function))
            place[f"socket_{axis}_coordinate"] = path
        return made("MovingPathPoint", *holders, **place)

    def _surface(self, obstacle: Obstacle) -> str:
        """The name of the wrap object, which is added to its body at its first use."""
        key = json.dumps(obstacle.to_dict())
        if key not in self._known:
            name = self._surface_names(obstacle.type)
            self.surfaces.setdefault(obstacle.body, []).append(_wrap_object(obstacle, name))
            self._known[key] = name
        return self._known[key]


def _wrap_object(obstacle: Obstacle, name: str) -> Element:
    side = obstacle.side
    if not isinstance(side, str):
        along = np.flatnonzero(side)
        side = f"{'+-'[int(side[along[0]] < 0.0)]}{'xyz'[along[0]]}" if len(along) == 1 else None
    if side not in ("shorter", *(f"{sign}{axis}" for sign in "+-" for axis in "xyz")):
        raise ModelError(f"the side {obstacle.side!r:.40} of a {obstacle.type} is no quadrant")
    if obstacle.always and not isinstance(obstacle, Cylinder):
        raise ModelError(f"a path always passes a {obstacle.type} on one side, as OpenSim's do not")
    values = {
        "quadrant": "all" if side == "shorter" else side.removeprefix("+"),
        "translation": obstacle.frame[:3, 3],
        "xyz_body_rotation": angles(obstacle.frame[:3, :3]),
        "active": True,
    }
    for kind, (make, entries) in WRAPS.items():
        if isinstance(obstacle, make):
            size = {theirs: getattr(obstacle, ours) for theirs, ours in entries.items()}
            if "length" in size and size["length"] is None:
                size["length"] = INFINITE
            return made(f"Wrap{kind.title()}", name=name, **size, **values)
    raise ModelError(f"OpenSim has no wrap object of type {obstacle.type!r}")


def _cord(law: Cord) -> str:
    rate = "max(0,ldot)" if law.lengthening_only else "ldot"
    parts = [expression(law.elastic, "s")]
    parts += [] if law.viscosity is None else [f"{expression(law.viscosity, 's')}*{rate}"]
    return "+".join(parts + ([] if law.damper is None else [expression(law.damper, "ldot")]))


def _hill(tag: str, path: Element, name: str, muscle: Muscle, entries: Mapping[str, str]) -> Element:
    law: Any = muscle.law
    numbers = {ours: getattr(law, ours) for ours in entries.values()}
    if isinstance(law, Millard):
        if law.passive_stiffness is None:
            numbers["passive_stiffness"] = 2.0 / (law.passive_strain_one - law.passive_strain_zero)
        if law.tendon_stiffness is None:
            numbers["tendon_stiffness"] = 1.375 / law.tendon_strain
    plain: dict[str, Any] = {theirs: numbers[ours] for theirs, ours in entries.items() if "." not in theirs}
    curves: dict[str, dict[str, float]] = {}
    for theirs, ours in entries.items():
        curve, _, key = theirs.rpartition(".")
        if curve:
            curves.setdefault(curve, {})[key] = numbers[ours]
    children = [made(curve, name=f"{name}_{curve}", **values) for curve, values in curves.items()]
    plain["default_activation"] = ACTIVATION if muscle.activation is None else muscle.activation
    if isinstance(law, Schutte):
        scale = 1.0 / law.max_contraction_velocity
        fall = scale / law.deactivation_time
        rise = scale / law.activation_time - fall
        if rise < 0.0:
            raise ModelError("its activation_time exceeds its deactivation_time")
        plain |= {"time_scale": scale, "activation1": rise, "activation2": fall}
        held = {theirs: getattr(law, ours) for theirs, ours in SCHUTTE_CURVES.items()}
        children += [made(name, function_or_spline(f, (0.0, 2.0), 1e-9)[0]) for name, f in held.items() if f]
    if isinstance(law, DeGroote):
        plain["ignore_passive_fiber_force"] = not law.passive
    else:
        plain["default_fiber_length"] = law.optimal_fibre_length
    return made(tag, path, *children, name=name, ignore_tendon_compliance=law.rigid_tendon, **plain)
