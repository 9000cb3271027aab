"""Makes bones and objects swing after their animation: joints to their parents, masses, springs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.types import Object, Scene
from mathutils import Vector

from ..blender.physics_access import model_error
from ..data import references
from ..data.bodies import BodyProperties
from ..data.references import Body, Key, key_of
from ..reading import conflicts, masses, meshes
from . import bodies_and_joints, presets_making
from .presets_placing import box_of

Pair = tuple[Body, Body]
SPRING = ("enabled", "strength", "frequency", "damping_ratio", "stiffness", "damping")


@dataclass(frozen=True)
class Tuning:
    """How a chain swings; the fields are those of `SpringProperties` and `BodyProperties`."""

    frequency: float
    damping_ratio: float
    gravity: float = 1.0
    drag: float = 0.0


def add(scene: Scene, bodies: Sequence[Body], kind: str, tuning: Tuning) -> list[Object]:
    """Join bones and objects to their parents in Blender, with springs to their animation.

    Those that have a joint keep it. Bones weigh as much as their skin, see `meshes.skin_volumes`.

    Args:
        bodies: any number, of several chains and of chains that branch. kind: type of the joints.

    Returns:
        The joints' Empties.

    Raises:
        ModelError: nothing is left to join, or a body cannot be simulated; nothing is changed then.
    """
    pairs = _pairs(scene, bodies)
    _check(scene, pairs, kind)
    links = {key_of(child) for _, child in pairs}
    known = {key_of(body) for pair in pairs for body in pair if body.data.body.enabled}
    volumes = _volumes(scene, pairs)
    joints = []
    for carrier, child in pairs:
        if key_of(child) not in known and child.bone:
            figures = masses.capsule_along(scene, child, volumes.get(key_of(child)))
            bodies_and_joints.make_body(scene, child, mass=figures[0], center=figures[1], inertia=figures[2])
        joint = bodies_and_joints.add_joint(scene, carrier, child, kind)
        if key_of(child) not in known and not child.bone:
            presets_making.weigh(scene, child, box_of(child))
        if key_of(carrier) not in known | links:  # the chain's carrier needs no mass
            bodies_and_joints.remove_body(carrier)
        joint.condyle.joint.start_from = "SETTLED"
        tune(child, tuning)
        joints.append(joint)
    return joints


def tune(body: Body, tuning: Tuning) -> None:
    """Set how a body swings after its animation."""
    settings = body.data.body
    settings.spring.enabled, settings.spring.strength = True, "FREQUENCY"
    settings.spring.frequency, settings.spring.damping_ratio = tuning.frequency, tuning.damping_ratio
    settings.gravity, settings.drag = tuning.gravity, tuning.drag


def copy(source: BodyProperties, target: BodyProperties) -> None:
    """Give a body the spring, the shares of gravity and of force fields, and the drag of another."""
    for name in SPRING:
        setattr(target.spring, name, getattr(source.spring, name))
    target.gravity, target.drag, target.fields = source.gravity, source.drag, source.fields


def figures(settings: BodyProperties) -> list[Any]:
    """All that is set of how a body swings."""
    return [settings.gravity, settings.drag, *(getattr(settings.spring, name) for name in SPRING)]


def sprung(bodies: Sequence[Body]) -> list[Body]:
    """Those of bodies that have a spring to their animation."""
    return [body for body in bodies if body.data.body.enabled and body.data.body.spring.enabled]


def add_wind(scene: Scene, place: Vector, strength: float) -> Object:
    """Add a force field of Blender's, a wind along y (from the front of a figure to its back), about a place."""
    item = bpy.data.objects.new("Wind", None)
    scene.collection.objects.link(item)
    item.location, item.rotation_euler.x = place - Vector((0.0, 1.0, 0.0)), -0.5 * math.pi
    with bpy.context.temp_override(object=item, active_object=item):
        bpy.ops.object.forcefield_toggle()
    item.field.type, item.field.shape = "WIND", "PLANE"
    item.field.strength, item.field.flow = strength, 1.0
    return item


def _pairs(scene: Scene, bodies: Sequence[Body]) -> list[Pair]:
    """Pairs of carrier and body to join, carriers first; ModelError if there are none."""
    ours = [body for body in bodies if not (body.object.condyle.joint.enabled and not body.bone)]
    if not ours:
        raise model_error("nothing is selected: select the bones of a chain in Pose Mode, or objects")
    carried = {key_of(body): references.carrier(body) for body in ours}
    above = {key_of(parent) for body in ours for parent in _carriers(body)}
    loose = [body for body in ours if carried[key_of(body)] is None and key_of(body) not in above]
    if loose:
        way = (
            "select its bones in Pose Mode"
            if loose[0].object.type == "ARMATURE"
            else "parent it first (Ctrl P)"
        )
        raise model_error(f"{loose[0].name} has no parent: {way}")
    jointed = {key_of(body) for body in _jointed(scene)}
    hung = [body for body in ours if carried[key_of(body)] is not None and key_of(body) not in jointed]
    if not hung:
        raise model_error("all that is selected has joints already")
    hung.sort(key=lambda body: len(_carriers(body)))
    return [(carried[key_of(body)], body) for body in hung]


def _carriers(body: Body) -> list[Body]:
    """All that carries a body, from the nearest on."""
    found, above = list[Body](), references.carrier(body)
    while above is not None:
        found.append(above)
        above = references.carrier(above)
    return found


def _jointed(scene: Scene) -> list[Body]:
    """The bodies of a scene that joints carry."""
    found = (references.resolve(item.condyle.joint.child) for item in references.carrying_joints(scene))
    return [body for body in found if body is not None]


def _check(scene: Scene, pairs: Sequence[Pair], kind: str) -> None:
    """ModelError for a link that is linked, cannot be keyed, or cannot slide though its joint slides."""
    bodies_and_joints.check_joints(pairs)
    conflicts.check_all(scene, (child for _, child in pairs))
    for _, child in pairs:
        if kind == "translational" and child.bone and child.pose_bone.bone.use_connect:
            raise model_error(
                f"{child.name} is connected to its parent, so it cannot slide: disconnect it (Alt P in Edit Mode)"
            )


def _volumes(scene: Scene, pairs: Sequence[Pair]) -> dict[Key, float]:
    """Volume [m^3] of the skin of each bone that has one."""
    rigs = {child.object.name_full: child.object for _, child in pairs if child.bone}
    found: dict[Key, float] = {}
    for name, rig in rigs.items():
        bones = [child.bone for _, child in pairs if child.bone and child.object == rig]
        volumes = meshes.skin_volumes(scene, rig, bones)
        found |= {(name, bone): volume for bone, volume in volumes.items()}
    return found
