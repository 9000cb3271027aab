"""Mass, centre and inertia of bodies; their wobbling share, drag, and shares of gravity that are not 1.

Wobbling masses are attached to the skeleton by springs (Ertl et al. 1993, sec. 3).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from bpy.types import Scene

from ..blender import physics_access, units
from ..data import references
from ..data.bodies import WobblingProperties
from ..data.references import Body
from . import meshes

#: radius of the capsule that a bone's mass is that of, as a share of its length: so limbs have about theirs
SLIMNESS = 0.2


def mass_properties(scene: Scene, body: Body) -> units.MassProperties:
    """Mass properties of a body in its own axes; ModelError names the body."""
    settings = body.data.body
    if settings.mass_source == "MANUAL":
        xx, yy, zz = settings.inertia_diagonal
        xy, xz, yz = settings.inertia_products
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=np.float64)
        center = np.array(settings.center_of_mass, dtype=np.float64) * units.length_scale(scene)
        return units.MassProperties(settings.mass, center, inertia)
    shape = settings.shape or (body.object if not body.bone else None)
    if shape is None or shape.type != "MESH":
        raise physics_access.model_error(
            f"{body.name} has no mesh to compute its mass from; choose a shape, or enter the mass by hand"
        )
    references.check_evaluated(shape, f"{body.name}: its shape {shape.name!r}")
    pose, _ = units.split_scale(body.matrix, body.name, body.owner)
    vertices, triangles = meshes.mesh_arrays(shape)
    to_body = physics_access.physics().lie.inverse(pose) @ units.array4(shape.matrix_world)
    vertices = vertices @ to_body[:3, :3].T + to_body[:3, 3]
    return units.mesh_mass_properties(
        vertices * units.length_scale(scene), triangles, settings.density, body.name
    )


def capsule_along(
    scene: Scene, bone: Body, volume: float | None = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass [kg], centre (3,) in Blender units in its axes, and moments of inertia (3,) [kg m^2] of a capsule along a
    bone, from its head to its tail.

    volume: of the capsule [m^3]; None: its radius is `SLIMNESS` of its length.
    """
    length = bone.pose_bone.bone.length * float(np.cbrt(abs(bone.matrix.determinant())))
    metres = length * units.length_scale(scene)
    radius = SLIMNESS * metres if volume is None else float(np.sqrt(volume / (np.pi * metres)))
    straight = max(metres - 2.0 * radius, 0.0)
    rod, ball = np.pi * radius**2 * straight, 4.0 / 3.0 * np.pi * radius**3
    along = 0.5 * rod * radius**2 + 0.4 * ball * radius**2
    # half balls at both ends: about their centres, and these 3/8 of a radius beyond the ends of the rod
    across = rod * (0.25 * radius**2 + straight**2 / 12.0)
    across += ball * (0.4 * radius**2 + 0.25 * straight**2 + 0.375 * straight * radius)
    mass = bone.data.body.density * (rod + ball if volume is None else volume)
    share = mass / (rod + ball)
    return mass, np.array([0.0, 0.5 * length, 0.0]), share * np.array([across, along, across])


STANDARD_GRAVITY = 9.80665  # m/s^2: a sag is defined on Earth, whatever the scene's gravity


def soft_name(body: str) -> str:
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


def add_soft_parts(
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
        soft_name(name),
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


def add_forces(builder: physics_access.ModelBuilder, bodies: Mapping[str, Body]) -> None:
    """Add them for the scene's bodies, by their names in the model, and for their soft parts."""
    masses = {body.name: body for body in builder.bodies}
    for name, body in bodies.items():
        settings = body.data.body
        parts = [name, soft_name(name)] if settings.wobbling.enabled else [name]
        for each in (masses[part] for part in parts):
            force = (settings.gravity - 1.0) * each.mass * builder.gravity
            if force.any():
                builder.add_wrench(f"{each.name} gravity", each.name, (0.0, 0.0, 0.0), force, point=each.com)
            if settings.drag > 0.0:
                builder.add_body_damping(f"{each.name} drag", each.name, linear=settings.drag * each.mass)
