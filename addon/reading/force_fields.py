"""Reads Blender's force fields, which act on the links of chains as on its particles, for each kilogram of a link.

Wind that fills all space and stands still is a force and a damper; only what changes from place to place, or moves,
needs elements whose kernels are compiled for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..animation.scene_model import ModelField
from ..blender import physics_access, units
from ..data import force_fields, references
from ..data.references import Body
from . import collider_fit, muscle_points
from .carriers import Carriers

FALLOFFS = {"SPHERE": "sphere", "TUBE": "tube", "CONE": "cone"}
SIDES = {"BOTH": 0.0, "POSITIVE": 1.0, "NEGATIVE": -1.0}


def add_all(
    scene: Scene, builder: physics_access.ModelBuilder, known: Carriers, bodies: Iterable[Body]
) -> tuple[ModelField, ...]:
    """Add what the fields of a scene do to those of the bodies that are links of chains.

    Raises:
        ModelError: Blender does not evaluate a field's object.
    """
    links = [body for body in bodies if body.data.body.spring.enabled and body.data.body.fields > 0.0]
    made = list[ModelField]()
    for item in force_fields.in_use(scene) if links else ():
        references.check_evaluated(item, f"force field {item.name!r}")
        # Blender's particles are slowed by the square of their speed times what it calls linear, and the other way
        # round
        path = "linear_drag" if item.field.type == "DRAG" else "strength"
        strength = f"{item.name} strength"
        builder.add_input(strength, getattr(item.field, path))
        made.append(ModelField(strength, item.session_uid, f"field.{path}"))
        base = known.base(Body(item))
        frame = physics_access.physics().lie.inverse(muscle_points.pose_of(base))
        frame = units.to_metres(frame @ collider_fit.frame_of(item.matrix_world)[0], scene)
        names = {each.name: each for each in builder.bodies}
        for body in links:
            _add(scene, builder, item, strength, names[body.name], body, known.name(base), frame)
    return tuple(made)


def _add(
    scene: Scene,
    builder: physics_access.ModelBuilder,
    item: Object,
    strength: str,
    link: Any,
    body: Body,
    base: str | None,
    frame: np.ndarray,
) -> None:
    """Add a field's force on one link."""
    field, unit, name = item.field, units.length_scale(scene), f"{body.name} in {item.name}"
    mass = link.mass * body.data.body.fields
    effect = force_fields.EFFECTS[field.type]
    flow = 0.0 if effect == "drag" else field.flow
    if effect == "wind" and base is None and _is_even(field):
        force = unit * mass * frame[:3, 2]
        builder.add_wrench(name, link.name, (0.0, 0.0, 0.0), force, strength, point=link.com)
        if flow > 0.0:
            builder.add_body_damping(f"{name} (flow)", link.name, linear=flow * mass)
        return
    builder.add_force_field(
        name,
        link.name,
        link.com,
        base,
        frame=frame,
        effect=effect,
        strength=strength,
        shape=force_fields.SHAPES[field.shape],
        falloff=FALLOFFS[field.falloff_type],
        linear=field.quadratic_drag,
        flow=flow,
        mass=mass,
        unit=unit,
        power=field.falloff_power,
        least=field.distance_min if field.use_min_distance else -1.0,
        most=field.distance_max if field.use_max_distance else -1.0,
        radial_power=field.radial_falloff,
        radial_least=field.radial_min if field.use_radial_min else -1.0,
        radial_most=field.radial_max if field.use_radial_max else -1.0,
        side=SIDES[field.z_direction],
        squared=float(field.use_gravity_falloff),
    )


def _is_even(field: Any) -> bool:
    """Whether a field is the same everywhere."""
    powers = [field.falloff_power, *([] if field.falloff_type == "SPHERE" else [field.radial_falloff])]
    limits = field.use_max_distance or (field.falloff_type != "SPHERE" and field.use_radial_max)
    return field.z_direction == "BOTH" and not limits and not any(powers)
