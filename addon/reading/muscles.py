"""Reads a muscle's curve into a muscle of physics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..animation.scene_model import ModelMuscle
from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import references
from ..data.references import Body
from ..data.stored_joints import json_object
from . import muscle_lengths, muscle_points, obstacles
from .carriers import Carriers
from .connections import Coordinates
from .connections import coordinate as read_coordinate
from .muscle_points import LENGTHS, smoothing_of, strands_over

#: physics names of the settings of a force law
FIGURES = {
    "max_force": "max_isometric_force",
    "fibre_length": "optimal_fibre_length",
    "tendon_length": "tendon_slack_length",
    "pennation": "pennation",
    "max_speed": "max_contraction_velocity",
    "rise_time": "activation_time",
    "fall_time": "deactivation_time",
    "least_activation": "minimum_activation",
    "rigid_tendon": "rigid_tendon",
}
#: elastic force of a ligament of stiffness 1 by its length over the slack one (Blankevoort & Huiskes 1991)
LIGAMENT = {
    "type": "piecewise_polynomial",
    "x": [0.0, 1.0, 1.06, 2.0],
    "coefficients": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.5 / 0.06], [0.03, 1.0, 0.0]],
}


def add_all(
    scene: Scene, builder: physics_access.ModelBuilder, known: Carriers, joints: Mapping[int, Coordinates]
) -> tuple[ModelMuscle, ...]:
    """Add every active muscle of the scene to a model builder, except those attached to no simulated body.

    Args:
        known: of the model's bodies. joints: by session uid of their Empties.

    Raises:
        ModelError: a muscle cannot be read; names it. The scene is unchanged.
    """
    found = []
    for item in muscle_points.muscles_of(scene):
        if not item.condyle.muscle.active:
            continue
        try:
            path = read_path(scene, item, known, joints)
            if joins_nothing(path):
                continue
            muscle = _add(scene, item, builder, path, joints)
        except physics_access.physics().CondyleError as error:
            text = str(error)
            raise model_error(text if repr(item.name) in text else f"muscle {item.name!r}: {text}") from error
        found.append(muscle)
    return tuple(found)


def _add(
    scene: Scene,
    item: Object,
    builder: physics_access.ModelBuilder,
    path: list[physics_access.PathPoint | physics_access.Wrap],
    joints: Mapping[int, Coordinates],
) -> ModelMuscle:
    settings = item.condyle.muscle
    law = read_law(scene, item)
    controlled, excitation = None, settings.excitation
    excitable = settings.law.kind not in ("none", "cord")
    if settings.excited_by == "CONTROLLER" and excitable:
        control = settings.control
        controlled, _ = read_coordinate(control.joint, control.coordinate, joints, "controller's joint")
        excitation = control.rest
    builder.add_muscle(
        item.name,
        path,
        masses=read_masses(scene, item),
        law=law,
        wraps_once=settings.wraps_once,
        excitation=None if excitable or law is None else 0.0,
        activation=excitation if law is not None and law.state_names else None,
    )
    return ModelMuscle(
        item.session_uid, item.name, f"{item.name}.excitation" if excitable else None, controlled
    )


def read_masses(scene: Scene, item: Object) -> physics_access.MassPoints | None:
    """The muscle's mass points of physics; None without mass. Tendons have their present lengths."""
    settings = item.condyle.muscle
    kind = physics_access.physics().muscles.MassPoints
    if settings.mass == 0.0:
        return None
    if settings.mass_lies == "PATH":
        return kind.uniform(settings.mass, settings.num_points)
    length = muscle_lengths.true_length(scene, item)
    tendons = length * np.array([settings.origin_tendon, settings.insertion_tendon])
    shared = settings.tendon_mass * settings.mass if tendons.sum() > 0.0 else 0.0
    on_tendons = shared * tendons / tendons.sum() if shared > 0.0 else np.zeros(2)
    return kind.belly(settings.mass - shared, settings.num_points, tendons=tendons, tendon_masses=on_tendons)


def read_law(scene: Scene, item: Object) -> physics_access.ForceLaw | None:
    """The muscle's force law of physics; None without force. ModelError for an invalid setting."""
    settings = item.condyle.muscle.law
    if settings.kind == "none":
        return None
    if settings.kind == "tension":
        return physics_access.physics().muscles.Tension(settings.max_force)
    metres = units.length_scale(scene)
    from_dict = physics_access.physics().muscles.law_from_dict
    details = json_object(settings.details, "the text of its details") if settings.details else {}
    if settings.kind == "cord":
        law = from_dict({"type": "cord", "elastic": LIGAMENT, **details})
        sized = physics_access.part("io.opensim_cords").sized
        return sized(law, settings.slack_length * metres, settings.cord_stiffness)
    described = {
        name: getattr(settings, key) * (metres if key in LENGTHS else 1.0) for key, name in FIGURES.items()
    }
    described["rigid_tendon"] = bool(settings.rigid_tendon)
    if settings.kind != "thelen":
        described["damping"] = settings.damping
    return from_dict({"type": settings.kind, **described, **details})


def read_path(
    scene: Scene, item: Object, known: Carriers, joints: Mapping[int, Coordinates]
) -> list[physics_access.PathPoint | physics_access.Wrap] | None:
    """Path points and wraps of physics, in metres; what stands still counts as the world."""
    references.check_evaluated(item, f"muscle {item.name!r}")
    points = muscle_points.points_of(item)
    kind, invert = physics_access.physics().muscles.PathPoint, physics_access.physics().lie.inverse
    rules = item.condyle.muscle.rules
    path: list[Any] = []
    strands = strands_over(item, points)
    for number, point in enumerate(points):
        name, base = _on(scene, item, point.target, known)
        moves = any(rule.point == number + 1 and rule.kind != "CONDITION" for rule in rules)
        own = muscle_points.pose_of(point.target) if moves else base
        local = invert(own) @ np.append(point.place, 1.0)
        position, condition = _ruled(item, number, local[:3] * units.length_scale(scene), joints)
        if moves:  # functions are in the frame of its body, which may not be simulated
            pose = units.to_metres(invert(base) @ own, scene)
            in_frame = physics_access.part("io.opensim_muscles").in_frame
            position = in_frame(position, pose, f"{number + 1}")
        path.append(kind(name, position, condition))
        if number in strands:
            surfaces = []
            for surface in strands[number]:
                on, frame = _on(scene, item, Body(surface), known)
                surfaces.append(obstacles.placed(scene, surface, on, frame))
            path.append(physics_access.physics().muscles.Wrap(surfaces, smoothing_of(scene, item)))
    return path


def joins_nothing(path: list[physics_access.PathPoint | physics_access.Wrap]) -> bool:
    """Whether all points and obstacles of a path from `read_path` are fixed in the simulation."""
    points = [part for part in path if hasattr(part, "moves")]
    wraps = [part for part in path if not hasattr(part, "moves")]
    bodies = {point.body for point in points}.union(*(wrap.bodies for wrap in wraps))
    return bodies == {None} and not any(point.moves for point in points)


def _on(scene: Scene, item: Object, target: Body | None, known: Carriers) -> tuple[str | None, np.ndarray]:
    """Name in the model of the body that carries a target, and its pose (4, 4); None and identity: the world."""
    if target is not None and not references.in_scene(scene, target.object):
        raise model_error(f"{target.name}, to which it is hooked, is not in scene {scene.name!r}")
    return known.on(target)


def _ruled(
    item: Object, number: int, local: np.ndarray, joints: Mapping[int, Coordinates]
) -> tuple[list[Any], Any]:
    """Position and condition of a point by its rules."""
    muscles = physics_access.physics().muscles
    position: list[Any] = [float(value) for value in local]
    condition = None
    for rule in item.condyle.muscle.rules:
        if rule.point != number + 1:
            continue
        name, _ = read_coordinate(rule.joint, rule.coordinate, joints, f"point {rule.point}'s joint")
        if rule.kind == "CONDITION":
            condition = muscles.Condition(name, rule.lower, rule.upper)
        else:
            described = json_object(rule.function, f"the function of point {rule.point}")
            function = physics_access.part("joints.functions").function_from_dict(described)
            position["XYZ".index(rule.kind)] = muscles.Moving(name, function)
    return position, condition
