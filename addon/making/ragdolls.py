"""Makes the rig of a human figure a ragdoll: joints with limits connect its limbs, and it falls."""

from __future__ import annotations

import math

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Quaternion, Vector

from ..blender import units
from ..blender.physics_access import model_error
from ..data import colliders as data
from ..data import references
from ..data.joints import match_coordinates
from ..data.references import Body
from ..reading import collider_fit, conflicts, masses, meshes
from . import bodies_and_joints, colliders, humanoid_bones, joint_places
from .humanoid_bones import Part

#: largest turns [degrees] about x, y (along the bone) and z of a joint's rest, rounded from those of adults; of hinges
#: the least and largest flexion from straight limbs. In a ragdoll they stop what looks broken, they are no anatomy
BALLS = {
    "spine": (25.0, 20.0, 20.0),
    "neck": (30.0, 40.0, 25.0),
    "head": (30.0, 40.0, 25.0),
    "clavicle": (15.0, 10.0, 15.0),
    "upper_arm": (90.0, 80.0, 90.0),
    "hand": (60.0, 20.0, 40.0),
    "thigh": (90.0, 35.0, 60.0),
    "foot": (35.0, 20.0, 20.0),
}
HINGES = {"forearm": (-3.0, 145.0), "shin": (-3.0, 140.0)}
#: shares of the body's mass where there is no skin (de Leva 1996, men); of the trunk 0.112 is the pelvis's
SHARES = {
    "pelvis": 0.112, "spine": 0.293, "neck": 0.014, "head": 0.055, "clavicle": 0.015, "upper_arm": 0.027,
    "forearm": 0.016, "hand": 0.006, "thigh": 0.142, "shin": 0.043, "foot": 0.014,
}  # fmt: skip
LIGHT = 1e-6  # m^3: of a bone that goes along with a limb and has no skin
BODY_MASS_INDEX = 22.0  # kg/m^2
FRICTION = 0.6
# Where the floor is nearer than a limb is thick that one is thinner, down to this share. A floor's normal has at least
# this z.
LEAST, FACES_UP = 0.5, 0.7


def add(scene: Scene, rig: Object, floor: bool = True) -> list[Object]:
    """Make an armature a ragdoll that starts with the pose and the speed of its animation.

    Args:
        floor: whether it falls on the world's x-y plane, where no other plane is a floor.

    Returns:
        The joints' Empties.

    Raises:
        ModelError: the armature is no human figure by its bones' names, or a bone cannot be simulated; nothing is
            changed then.
    """
    parts = humanoid_bones.parts(rig)
    if not parts:
        raise model_error(
            f"{rig.name}: its bones are not named as those of Rigify, Auto-Rig Pro, Mixamo or VRM; use Add Chain"
        )
    bodies = {each.name: Body(rig, each.name) for each in parts}
    limbs = humanoid_bones.companions(rig, parts)
    others = {name: Body(rig, name) for name in limbs}
    every = [*bodies.values(), *others.values()]
    bodies_and_joints.check_joints([(None, body) for body in every])
    conflicts.check_all(scene, every)
    for body in every:
        if references.joint_of(scene, body) is not None:
            raise model_error(f"{body.name} already has a joint: use Clean Up first")
    skinned = meshes.skin_volumes(scene, rig, [body.bone for body in every])
    bare = {name: volume for name, volume in _bare_volumes(scene, rig, parts).items() if name not in skinned}
    volumes = bare | skinned
    for name, body in bodies.items():
        figures = masses.capsule_along(scene, body, volumes[name])
        bodies_and_joints.make_body(scene, body, mass=figures[0], center=figures[1], inertia=figures[2])
    pelvis = bodies[parts[0].name].data.body
    pelvis.motion, pelvis.start_from = "FREE", "MOTION"
    forward = _forward(rig, parts)
    joints = [_hang(scene, rig, part, forward) for part in parts[1:]]
    for name, body in others.items():
        figures = masses.capsule_along(scene, body, skinned.get(name, LIGHT))
        bodies_and_joints.make_body(scene, body, mass=figures[0], center=figures[1], inertia=figures[2])
        item = bodies_and_joints.add_joint(scene, bodies[limbs[name]], body, "fixed", update=False)
        item.condyle.joint.start_from = "EXACT"
    _make_solid(scene, bodies, bare, floor)
    return joints


def _make_solid(scene: Scene, bodies: dict[str, Body], bare: dict[str, float], floor: bool) -> None:
    """Let limbs collide as capsules, and with one floor: the world's x-y plane, or as far below as the lowest is."""
    colliders.add(scene, list(bodies.values()), "CAPSULE", {"friction": FRICTION})
    level = 0.0
    for name, body in bodies.items():
        settings, (pose, size) = body.data.collider, collider_fit.frame_of(body.matrix)
        if name in bare:
            settings.radius = _radius(scene, body, bare[name]) / size
            settings.length = max(body.pose_bone.bone.length - 2.0 * settings.radius, 0.0)
        axis = Quaternion(settings.rotation) @ Vector((0.0, 0.0, 0.5 * settings.length))
        ends = [pose @ [*(size * (Vector(settings.center) + way * axis)), 1.0] for way in (-1.0, 1.0)]
        low = min(end[2] for end in ends) / size
        settings.radius = float(np.clip(low, LEAST * settings.radius, settings.radius))
        level = min(level, (low - settings.radius) * size)
    if floor and not any(_is_floor(body) for body in data.in_use(scene)):
        item = bodies_and_joints.new_empty(scene, "Floor", "PLAIN_AXES")
        item.location.z = level
        bpy.context.view_layer.update()
        colliders.add(scene, [Body(item)], "PLANE", {"friction": FRICTION})


def _is_floor(body: Body) -> bool:
    """Whether a collider is a plane that faces up."""
    settings = body.data.collider
    up = body.matrix.to_3x3() @ (Quaternion(settings.rotation) @ Vector((0.0, 0.0, 1.0)))
    return settings.shape == "PLANE" and up.normalized().z > FACES_UP


def _hang(scene: Scene, rig: Object, part: Part, forward: Vector) -> Object:
    """The joint of a limb on its carrier, in the rest pose."""
    bones, child = rig.data.bones, Body(rig, part.name)
    carrier = Body(rig, part.carrier)
    rest = bones[part.carrier].matrix_local.inverted() @ bones[part.name].matrix_local
    kind = "hinge" if part.part in HINGES else "spherical"
    joint = bodies_and_joints.add_joint(scene, carrier, child, kind, carrier.matrix @ rest)
    settings = joint.condyle.joint
    settings.child_in_joint = tuple(np.eye(4).ravel())  # whatever pose it is in now
    settings.start_from = "EXACT"  # hinges cannot hold limbs that are twisted now
    if kind == "hinge":
        settings.axis = _hinge_axis(rig, part, forward)
        match_coordinates(settings)
        settings.coordinates[0].limits = "CUSTOM"
        upper, lower = _limbs(rig, part)
        bend = upper.angle(lower)  # at rest, where the coordinate is 0
        least, most = map(math.radians, HINGES[part.part])
        settings.coordinates[0].lower, settings.coordinates[0].upper = least - bend, most - bend
    else:
        settings.ball_limit = "ROTATION"
        settings.rotation_limit = tuple(map(math.radians, BALLS[part.part]))
    joint_places.damp(scene, joint, child)
    return joint


def _hinge_axis(rig: Object, part: Part, forward: Vector) -> Vector:
    """Axis of flexion in the rest axes of a shin or forearm: across its bend, or across what is forward."""
    bones, (upper, lower) = rig.data.bones, _limbs(rig, part)
    axis = joint_places.hinge_axis(upper, lower, forward if part.part == "forearm" else -forward)
    return (bones[part.name].matrix_local.to_3x3().inverted() @ axis).normalized()


def _limbs(rig: Object, part: Part) -> list[Vector]:
    """Directions in the rest pose of the limbs that a hinge connects, the upper one first."""
    bones = rig.data.bones
    return [bones[name].matrix_local.to_3x3().col[1].normalized() for name in (part.carrier, part.name)]


def _forward(rig: Object, parts: list[Part]) -> Vector:
    """Where a figure looks in its rest pose: along its feet, else as Blender's figures do."""
    feet = [rig.data.bones[each.name] for each in parts if each.part == "foot"]
    way = sum((bone.tail_local - bone.head_local for bone in feet), Vector())
    way.z = 0.0
    return way.normalized() if way.length > 0.0 else Vector((0.0, -1.0, 0.0))


def _bare_volumes(scene: Scene, rig: Object, parts: list[Part]) -> dict[str, float]:
    """Volumes [m^3] of limbs by their shares of the body's mass, by its height."""
    ends = [
        z
        for each in parts
        for z in (rig.data.bones[each.name].head_local.z, rig.data.bones[each.name].tail_local.z)
    ]
    size = float(np.cbrt(abs(rig.matrix_world.determinant()))) * units.length_scale(scene)
    mass = BODY_MASS_INDEX * ((max(ends) - min(ends)) * size) ** 2
    counts = {part: sum(each.part == part and each.side != "R" for each in parts) for part in SHARES}
    found = {}
    for each in parts:
        density = Body(rig, each.name).data.body.density
        found[each.name] = mass * SHARES[each.part] / counts[each.part] / max(density, 1e-9)
    return found


def _radius(scene: Scene, body: Body, volume: float) -> float:
    """Radius of a limb of this volume [m^3], in Blender units."""
    length = body.pose_bone.bone.length * float(np.cbrt(abs(body.matrix.determinant())))
    metres = units.length_scale(scene)
    return math.sqrt(volume / (math.pi * length * metres)) / metres
