"""Wobbling masses: the share of a body's mass attached to its skeleton by springs (Ertl et al. 1993, sec. 3)."""

from __future__ import annotations

import numpy as np
from bpy.types import Scene

from ..blender import physics_access, units
from ..data.bodies import WobblingProperties

STANDARD_GRAVITY = 9.80665  # m/s^2: a sag is defined on Earth, whatever the scene's gravity


def name_of(body: str) -> str:
    """Name in the model of a body's soft parts."""
    return f"{body} soft parts"


def skeleton(settings: WobblingProperties, mass: units.MassProperties, name: str) -> units.MassProperties:
    """Mass properties of a body without its wobbling share; ModelError for a share outside 0 to 1."""
    if not settings.enabled:
        return mass
    left = 1.0 - settings.share
    if not 0.0 < left < 1.0:
        raise physics_access.model_error(
            f"{name}: the share of its mass that wobbles must lie between 0 and 1, got {settings.share:g}"
        )
    return units.MassProperties(left * mass.mass, mass.center, left * mass.inertia)


def add(
    scene: Scene,
    builder: physics_access.ModelBuilder,
    name: str,
    settings: WobblingProperties,
    mass: units.MassProperties,
) -> None:
    """Add the soft parts of a body of the model.

    The cubic springs are as stiff as needed for the set sag along and across the axis under their own weight. Dampers
    have the set share of critical damping at that sag, and the rotation the same frequency.

    Args:
        mass: of the whole body.
    """
    share = settings.share
    soft, inertia = share * mass.mass, share * mass.inertia
    metres = units.length_scale(scene)
    stiffness, damping = [], []
    for sag in (settings.sag_along * metres, settings.sag_across * metres):
        if not sag > 0.0:
            raise physics_access.model_error(f"{name}: its soft parts must sag by more than 0, got {sag:g} m")
        stiffness.append(soft * STANDARD_GRAVITY / sag**3)
        # the slope of the cubic at the sag is 3 m g / sag
        frequency = np.sqrt(3.0 * STANDARD_GRAVITY / sag)
        damping.append(2.0 * settings.damping * soft * frequency)
    axis = np.array(settings.axis, dtype=np.float64)
    if not np.linalg.norm(axis) > 0.0:
        raise physics_access.model_error(f"{name}: the axis of its soft parts is 0")
    turning = float(np.trace(inertia)) / 3.0
    builder.add_wobbling_mass(
        name_of(name),
        name,
        mass=soft,
        inertia=inertia,
        axis=axis / np.linalg.norm(axis),
        stiffness_along=stiffness[0],
        stiffness_across=stiffness[1],
        damping_along=damping[0],
        damping_across=damping[1],
        stiffness_rotation=turning * frequency**2,
        damping_rotation=2.0 * settings.damping * turning * frequency,
        com=mass.center,
    )
