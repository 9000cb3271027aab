"""Imports muscles and wrap objects of an OpenSim model as muscles and obstacles of the scene."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from bpy.types import Object

from ..blender import physics_access, units
from ..data import findings
from ..reading.muscle_points import LENGTHS
from ..reading.muscles import FIGURES
from . import muscles, obstacles
from .opensim_state import joint_of, target_of

if TYPE_CHECKING:
    from ..data.muscles import ForceLawProperties
    from .opensim_state import Imported, Standing

#: force per cross-section of muscle [N/m^2] (Rajagopal et al. 2016: 60 N/cm^2), for the thickness of bellies
SPECIFIC_TENSION = 6e5
#: greatest thickness of a drawn belly, as a share of its length
STOUTEST = 0.4


def add_muscles(standing: Standing, made: Imported) -> None:
    """Add all obstacles and muscles; invalid ones are left out with a warning."""
    surfaces: dict[str, str] = {}
    convert = physics_access.part("io.opensim_muscles").obstacle
    for name, given in standing.read.wrap_objects.items():
        kind = convert(given)
        surfaces[json.dumps(kind.to_dict())] = name
        made.obstacles[name] = _obstacle(standing, made, name, kind)
    ph = physics_access.physics()
    _name_starts(standing, made)
    for muscle in standing.model.muscles:
        try:
            item = _muscle(standing, made, muscle, surfaces)
            made.muscles[muscle.name] = item
        except ph.ModelError as error:
            made.warnings.append(findings.about(None, "import-muscle", muscle=muscle.name, error=error))


def _name_starts(standing: Standing, made: Imported) -> None:
    """Warn about the file's start activations, since the add-on takes them from the excitation at the first frame."""
    given = [
        f"{name!r} ({muscle.parameters['default_activation']:g})"
        for name, muscle in standing.read.muscles.items()
        if "default_activation" in muscle.parameters
    ]
    if given:
        made.warnings.append(findings.about(None, "import-activations", muscles=findings.few(given)))


def _obstacle(standing: Standing, made: Imported, name: str, given: Any) -> Object:
    metres = units.length_scale(standing.scene)
    figures: dict[str, Any] = {}
    for key in ("radius", "major_radius", "length"):
        value = getattr(given, key, None)
        if value is not None:
            figures[key] = float(value) / metres
    if given.type == "torus":
        figures["radius"] = float(given.minor_radius) / metres
    if given.type == "cylinder" and given.length is None:
        figures["length"] = 0.0
    if given.type == "ellipsoid":
        figures["radii"] = tuple(np.asarray(given.radii) / metres)
    if isinstance(given.side, str):
        figures |= {"side": given.side, "always_side": given.always}
    matrix = standing.matrix(given.body, given.frame)
    return obstacles.add_obstacle(
        standing.scene, target_of(made, given.body), given.type, matrix, name, update=False, **figures
    )


def _muscle(
    standing: Standing, made: Imported, muscle: physics_access.Muscle, surfaces: dict[str, str]
) -> Object:
    points, rules = [], []
    for number, point in enumerate(muscle.points, 1):
        position = []
        for axis, part in zip("XYZ", point.position):
            if isinstance(part, float | int):
                position.append(float(part))
                continue
            position.append(float(part.function(_value(standing, part.coordinate))))
            rules.append((number, axis, part.coordinate, 0.0, 0.0, json.dumps(part.function.to_dict())))
        if point.condition is not None:
            where = point.condition
            rules.append((number, "CONDITION", where.coordinate, where.lower, where.upper, ""))
        points.append((target_of(made, point.body), standing.place(point.body, position)))
    item = muscles.add_muscle(standing.scene, points, muscle.name)
    for number, kind, coordinate, lower, upper, function in rules:
        row = item.condyle.muscle.rules.add()
        row.point, row.kind, row.lower, row.upper, row.function = number, kind, lower, upper, function
        body, row.coordinate = joint_of(standing, coordinate)
        row.joint = made.joints[body]
    item.condyle.muscle.wraps_once = muscle.wraps_once
    for strand, wrap in muscle.strands.items():
        for surface in wrap.obstacles:
            name = surfaces[json.dumps(surface.to_dict())]
            muscles.wrap_over(item, made.obstacles[name], strand + 1)
    # without surfaces, round which only compiled kernels are fast: it is for the thickness that is drawn
    chords = np.diff([place for _, place in points], axis=0)
    length = float(np.linalg.norm(chords, axis=1).sum()) * units.length_scale(standing.scene)
    _set_law(standing, item, muscle, length)
    return item


def _value(standing: Standing, coordinate: str) -> float:
    return float(standing.state.q[standing.model.coordinate_names.index(coordinate)])


def _set_law(standing: Standing, item: Object, muscle: physics_access.Muscle, length: float) -> None:
    """Set the force law, and the thickness of the belly from its force and fibres."""
    settings = item.condyle.muscle
    law: Any = muscle.law
    settings.law.kind = "none" if law is None else law.type
    if law is None:
        return
    metres = units.length_scale(standing.scene)
    if law.type == "tension":
        settings.law.max_force = law.max_force
        return
    if law.type == "cord":
        _set_cord(settings.law, law, standing.read.muscles[muscle.name].parameters, metres)
        return
    described = law.to_dict()
    described.pop("type")
    for key, name in FIGURES.items():
        value = described.pop(name)
        setattr(settings.law, key, value / metres if key in LENGTHS else value)
    if "damping" in described:
        settings.law.damping = described.pop("damping")
    names = "max_isometric_force", "optimal_fibre_length", "tendon_slack_length"
    usual = type(law)(*(getattr(law, name) for name in names)).to_dict()
    settings.law.details = json.dumps(
        {name: value for name, value in described.items() if value != usual[name]}
    )
    volume = law.max_isometric_force * law.optimal_fibre_length / SPECIFIC_TENSION
    length = length or law.optimal_fibre_length + law.tendon_slack_length
    shares, radius = belly(length, volume, law.tendon_slack_length)
    settings.origin_tendon, settings.insertion_tendon = shares
    settings.radius = radius / metres


def _set_cord(settings: ForceLawProperties, law: Any, file: Mapping[str, float], metres: float) -> None:
    """Set the law of a cord by the file's slack length and stiffness, or 1 m and 1 N where it has none."""
    rest = file.get("slack_length", file.get("resting_length", 0.0)) or 1.0
    stiffness = file.get("linear_stiffness", file.get("pcsa_force", rest * file.get("stiffness", 0.0)))
    settings.slack_length, settings.cord_stiffness = rest / metres, stiffness if stiffness > 0.0 else 1.0
    sized = physics_access.part("io.opensim_cords").sized
    # of what is stored, in single precision, so that the law is the file's
    unit = sized(law, 1.0 / (settings.slack_length * metres), 1.0 / settings.cord_stiffness)
    settings.details = json.dumps({key: value for key, value in unit.to_dict().items() if key != "type"})


def belly(length: float, volume: float, tendon: float) -> tuple[tuple[float, float], float]:
    """Shares of a muscle's length [m] that are tendon, at both ends, and its belly's radius [m] for a volume of fibres
    [m^3].

    Pennate fibres are often far shorter than the belly. To avoid a disc, tendons are drawn shorter, until the belly is
    at most `STOUTEST` times as thick as long.
    """
    tube_volume = physics_access.part("analysis.muscle_drawing").tube_volume
    whole = float(np.clip(tendon / max(length, 1e-6), 0.0, 0.9))
    shares, radius = (0.0, 0.0), 0.0
    for part in np.linspace(1.0, 0.0, 41):
        shares = min(0.35 * part * whole, 0.48), min(0.65 * part * whole, 0.48)
        radius = float(np.sqrt(volume / tube_volume(length, shares)))
        if 2.0 * radius <= STOUTEST * length * (1.0 - sum(shares)):
            break
    return shares, radius
