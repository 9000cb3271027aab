"""What acts on bodies of the model besides joints and connections: a share of gravity that is not 1, and drag."""

from __future__ import annotations

from collections.abc import Mapping

from ..blender import physics_access
from ..data.references import Body
from .wobbling_masses import name_of


def add(builder: physics_access.ModelBuilder, bodies: Mapping[str, Body]) -> None:
    """Add them for the scene's bodies, by their names in the model, and for their soft parts."""
    masses = {body.name: body for body in builder.bodies}
    for name, body in bodies.items():
        settings = body.data.body
        parts = [name, name_of(name)] if settings.wobbling.enabled else [name]
        for each in (masses[part] for part in parts):
            force = (settings.gravity - 1.0) * each.mass * builder.gravity
            if force.any():
                builder.add_wrench(f"{each.name} gravity", each.name, (0.0, 0.0, 0.0), force, point=each.com)
            if settings.drag > 0.0:
                builder.add_body_damping(f"{each.name} drag", each.name, linear=settings.drag * each.mass)
