"""Takes Condyle away: from bones and objects, with the joints, connections and targets on them, or from a scene."""

from collections.abc import Iterable, Sequence

import bpy
from bpy.types import Object, Scene

from ..blender.physics_access import model_error
from ..data import references
from ..data.body_reference import BodyReference
from ..data.collection import is_ours, own
from ..data.references import Body, Key, key_of
from ..reading import muscle_points
from . import bodies_and_joints, connections, muscles, orphans


def bodies_in(scene: Scene, selected: Sequence[Body], scope: str) -> list[Body]:
    """The bones and objects that a scope takes in, each once: "SELECTED", "CHAIN" (all that joints connect with these
    by way of what is simulated), "RIG" (armatures with all their bones, objects with their children) or "SCENE".
    """
    if scope == "SCENE":
        found = [body for item in scene.objects for body in _parts(item)]
    elif scope == "RIG":
        found = _of_rigs(body.object for body in selected)
    elif scope == "CHAIN":
        found = _of_chains(scene, selected)
    else:
        found = list(selected)
    return list({key_of(body): body for body in found}.values())


def _of_rigs(items: Iterable[Object]) -> list[Body]:
    """Armatures with all their bones, other objects with their children."""
    found = []
    for item in items:
        below = [] if item.type == "ARMATURE" else item.children_recursive
        found += [body for each in (item, *below) for body in _parts(each)]
    return found


def _of_chains(scene: Scene, selected: Sequence[Body]) -> list[Body]:
    """All that joints connect with bodies by way of what is simulated, these first."""
    found = {key_of(body): body for body in selected}
    links = [_ends(item) for item in references.joints_of(scene)]
    carried = {key_of(ends[0]) for ends in links if ends}
    links = [[end for end in ends if key_of(end) in carried] for ends in links]
    new = set(found)
    while new:
        reached = [end for ends in links if any(key_of(end) in new for end in ends) for end in ends]
        new = {key_of(body) for body in reached} - found.keys()
        found |= {key_of(body): body for body in reached if key_of(body) in new}
    return list(found.values())


def clean(scene: Scene, bodies: Iterable[Body]) -> int:
    """Take Condyle away from bodies that no bake moves, with the joints that carry them, connections and targets on
    them, and muscles that run from one of them to another; returns from how many.

    Raises:
        ModelError: one of them is linked or of a library, which would bring it back; nothing is changed then.
    """
    ours = {key_of(body): body for body in bodies if body.data.schema_version}
    carried, tied = _on(scene, set(ours))
    _check_own([*carried, *tied], [body.object for body in ours.values()])
    for muscle in muscle_points.muscles_of(scene):
        hooks = [each for each in muscle.modifiers if each.type == "HOOK" and each.object is not None]
        if all(key_of(references.there(each.object, each.subtarget)) in ours for each in hooks):
            muscles.remove_muscle(muscle)
    for item in carried:
        bodies_and_joints.remove_joint(scene, item)
    for item in tied:
        if item.condyle.connection.enabled:
            connections.remove_connection(item)
        else:
            bpy.data.objects.remove(item)
    kept, left = _referenced(scene), {item.name_full for item in bpy.data.objects}
    there = {key: body for key, body in ours.items() if key[0] in left}
    count = sum(body.data.body.enabled or body.data.collider.enabled for body in there.values())
    for key, body in there.items():
        if _is_floor(body):
            bpy.data.objects.remove(body.object)
            continue
        if key not in kept:
            body.owner.property_unset("condyle")
            continue
        for name in ("body", "collider", "channels", "before_live"):
            body.data.property_unset(name)
    return count


def _is_floor(body: Body) -> bool:
    """Whether a body is an Empty that was made to be a collider: a ragdoll's floor."""
    made = not body.bone and body.object.type == "EMPTY" and any(map(is_ours, body.object.users_collection))
    return made and body.data.collider.enabled and not body.data.body.enabled


def _check_own(helpers: Sequence[Object], items: Sequence[Object]) -> None:
    """ModelError if an object is linked, or an Empty is of a library."""
    for item in (*helpers, *items):
        if item.library is not None:
            raise model_error(f"{item.name} is linked; clean up in its own file")
    for item in helpers:
        if item.override_library is not None:
            raise model_error(f"{item.name} is of a library, which would bring it back with the next load")


def has_any(scene: Scene) -> bool:
    """Whether a scene or an object in it has anything of Condyle."""
    return any(item.condyle.schema_version for item in (scene, *scene.objects))


def clean_scene(scene: Scene) -> int:
    """Take all of Condyle away from a scene, also its settings; returns from how many bodies."""
    for muscle in muscle_points.muscles_of(scene):
        muscles.remove_muscle(muscle)
    count = clean(scene, bodies_in(scene, (), "SCENE"))
    orphans.remove(scene)
    for collection in filter(is_ours, own(scene.collection.children_recursive)):
        if not collection.all_objects:
            bpy.data.collections.remove(collection)
    scene.property_unset("condyle")
    return count


def _parts(item: Object) -> list[Body]:
    """An object and its bones."""
    return [
        Body(item),
        *(Body(item, bone.name) for bone in (item.pose.bones if item.pose is not None else ())),
    ]


def _ends(item: Object) -> list[Body]:
    """Child and parent of a joint, where it has them."""
    settings = item.condyle.joint
    ends = [references.resolve(settings.child)]
    if not settings.to_world:
        ends.append(references.resolve(settings.parent))
    return [body for body in ends if body is not None]


def _on(scene: Scene, keys: set[Key]) -> tuple[list[Object], list[Object]]:
    """Joints whose children are among bodies, or whose own Empties are; and connections and targets on them."""

    def meets(item: Object, *ends: BodyReference) -> bool:
        bodies = [Body(item), *filter(None, map(references.resolve, ends))]
        return any(key_of(body) in keys for body in bodies)

    joints = [item for item in references.joints_of(scene) if meets(item, item.condyle.joint.child)]
    tied = [
        item
        for item in references.connections_of(scene)
        if meets(item, item.condyle.connection.body, item.condyle.connection.other)
    ]
    for item in scene.objects:
        if item.type == "EMPTY" and item.condyle.target.enabled and meets(item, item.condyle.target.body):
            tied.append(item)
    return joints, tied


def _referenced(scene: Scene) -> set[Key]:
    """The bodies that something of the scene still refers to."""
    found: set[Key] = set()
    for item in scene.objects:
        if item.type == "EMPTY":
            for reference in references.stored_in(item.condyle):
                body = references.resolve(reference)
                if body is not None:
                    found.add(key_of(body))
    return found
