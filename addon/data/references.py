"""References to bodies (objects or pose bones) that survive renaming, undo and linking.

Blender cannot point at a pose bone. A reference to one is a pointer to the armature, a uid stored on the bone, and its
last name. A duplicated bone has its original's uid until `duplicates.mend` gives it its own; of two with the same uid
the reference means the one with the last name. Bones that Join or Separate moved are found in their new armature.
Code that keeps a body across ticks of the event loop uses a `Handle`, because undo replaces every Blender object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.types import BlendData, Constraint, Context, Object, PropertyGroup, Scene

from ..blender import evaluated_objects, physics_access
from . import body_reference
from .body_reference import BodyReference
from .handles import Body as Body
from .handles import Handle as Handle
from .handles import Key as Key
from .handles import key_of as key_of
from .handles import object_in as object_in
from .records import Record


def check_evaluated(item: Object, name: str) -> None:
    """ModelError if Blender does not evaluate an object, so that its current place is unknown."""
    why = item.unevaluated if isinstance(item, Record) else evaluated_objects.why_not(item)
    if why:
        raise physics_access.model_error(f"{name} {why}")


def evaluated(scene: Scene) -> list[Object]:
    """The objects of a scene that Blender evaluates in any of its view layers."""
    homes = {
        home for layer in scene.view_layers for home in evaluated_objects.collections(layer.layer_collection)
    }
    return [item for home in homes for item in home.objects if not item.hide_viewport]


def object_by_session_uid(session_uid: int) -> Object:
    """The object with that session uid; None if it no longer exists."""
    return next((item for item in bpy.data.objects if item.session_uid == session_uid), None)


def find_in(scene: Scene, session_uid: int, called: str) -> Object:
    """The object with that session uid in a scene or a snapshot of one; ModelError if it is not there."""
    found = object_in(scene, session_uid)
    if found is None:
        raise physics_access.model_error(f"{called} was deleted")
    return found


def live(item: Object) -> Object:
    """The object of Blender that a record was copied from; an object itself."""
    return object_by_session_uid(item.session_uid) if isinstance(item, Record) else item


def resolve(reference: BodyReference) -> Body | None:
    """The body of a reference property; None if it is empty, its bone no longer exists, or several copies qualify."""
    if reference.object is None:
        return None
    if not reference.bone_uid:
        return Body(reference.object)
    bones: Any = reference.object.pose.bones if reference.object.pose is not None else {}
    cached = bones.get(reference.bone_name)
    if cached is not None and cached.condyle.uid == reference.bone_uid:
        return Body(reference.object, cached.name)
    renamed = [bone for bone in bones if bone.condyle.uid == reference.bone_uid]
    if len(renamed) == 1:
        return Body(reference.object, renamed[0].name)
    return None if renamed else _moved_away(reference)


def _moved_away(reference: BodyReference) -> Body | None:
    """The bone in its new armature: the only one with its uid that is not a copy of the old armature, which would have
    bones of the same names.
    """
    left = (
        () if is_deleted(reference.object) or reference.object.pose is None else reference.object.pose.bones
    )
    found = [
        Body(item, bone.name)
        for item in bpy.data.objects
        if item.type == "ARMATURE" and item.pose is not None and item != reference.object
        if not is_deleted(item) and not any(bone.name in item.pose.bones for bone in left)
        for bone in item.pose.bones
        if bone.condyle.uid == reference.bone_uid
    ]
    return found[0] if len(found) == 1 else None


def is_deleted(item: Object) -> bool:
    """Whether an object was deleted from every scene and collection; only references keep it in the file."""
    return not item.users_collection


def point_at(reference: BodyReference, body: Body | None) -> None:
    """Set a reference property to a body; None empties it."""
    reference.object = body.object if body else None
    reference.bone_name = body.bone if body else ""
    reference.bone_uid = body_reference.ensure_uid(body.pose_bone) if body and body.bone else ""


def relink(reference: BodyReference) -> None:
    """Renew a reference after its bone was renamed or went to another armature."""
    body = resolve(reference)
    if body is not None and body.bone and (reference.object, reference.bone_name) != (body.object, body.bone):
        reference.object = body.object
        reference.bone_name = body.bone


def stored_in(group: PropertyGroup) -> Iterator[BodyReference]:
    """Every reference to a body in a property group and its nested groups."""
    for item in group.bl_rna.properties:
        if item.type not in {"POINTER", "COLLECTION"} or item.identifier == "rna_type":
            continue
        value = getattr(group, item.identifier)
        for each in value if item.type == "COLLECTION" else (value,):
            if not isinstance(each, bpy.types.PropertyGroup):
                continue
            if isinstance(each, BodyReference):
                yield each
            else:
                yield from stored_in(each)


def same(first: Body | None, second: Body | None) -> bool:
    if first is None or second is None:
        return first is second
    return first.object == second.object and first.bone == second.bone


def active_body(context: Context) -> Body | None:
    """The active pose bone in pose mode, else the active object."""
    if context.mode == "POSE" and context.active_pose_bone is not None:
        return Body(context.active_pose_bone.id_data, context.active_pose_bone.name)
    active = context.active_object
    return Body(active) if active is not None else None


def blender_parent(body: Body) -> Body | None:
    """The object or bone that a body is parented to in Blender."""
    if body.bone:
        parent = body.pose_bone.parent
        return Body(body.object, parent.name) if parent is not None else None
    parent = body.object.parent
    if parent is None:
        return None
    return Body(parent, body.object.parent_bone if body.object.parent_type == "BONE" else "")


def carrier(body: Body) -> Body | None:
    """Blender's carrier of a body: its parent, or the armature of a bone without one; None: the world."""
    parent = blender_parent(body)
    if parent is None:
        return Body(body.object) if body.bone else None
    return there(parent.object, parent.bone)


def looked_at(constraint: Constraint) -> Iterator[Body]:
    """Targets of a constraint: targets, poles, those of an Armature constraint."""
    named = [(constraint, "target", "subtarget"), (constraint, "pole_target", "pole_subtarget")]
    named += [(row, "target", "subtarget") for row in getattr(constraint, "targets", ())]
    for owner, name, bone in named:
        item = getattr(owner, name, None)
        if item is not None:
            yield there(item, getattr(owner, bone, ""))


def there(item: Object, bone: str) -> Body:
    """A bone, or its object if there is no bone of that name."""
    return Body(item, bone if item.pose is not None and bone in item.pose.bones else "")


def selected_bodies(context: Context) -> list[Body]:
    """Selected pose bones in pose mode, else selected objects."""
    if context.mode == "POSE":
        return [Body(bone.id_data, bone.name) for bone in context.selected_pose_bones or ()]
    return [Body(item) for item in context.selected_objects]


def parent_and_child(context: Context) -> tuple[Body | None, Body]:
    """Parent and child of a new joint between the selected bodies.

    As in Blender's parenting, the active one is the parent, unless one is already a descendant of the other. If only
    one body is selected, its parent is its Blender parent or the world (None).
    """
    active = active_body(context)
    others = [body for body in selected_bodies(context) if not same(body, active)]
    if not others:
        return blender_parent(active), active
    return (others[0], active) if _is_below(active, others[0]) else (active, others[0])


def joint_pairs(context: Context) -> list[tuple[Body | None, Body]]:
    """Parents and children of the joints to add: two selected bodies are joined (`parent_and_child`), of
    more each on its Blender parent, a bone without one on its armature, which may move; else on the world.
    """
    bodies = selected_bodies(context)
    pairs = (
        [(blender_parent(body), body) for body in bodies] if len(bodies) > 2 else [parent_and_child(context)]
    )
    return [(parent or carrier(body), body) for parent, body in pairs]


def _is_below(body: Body, other: Body) -> bool:
    """Whether a body is a descendant of another by Blender's parenting."""
    above = blender_parent(body)
    while above is not None and not same(above, other):
        above = blender_parent(above)
    return above is not None


def make_active(context: Context, body: Body) -> None:
    """Make a body the active one, so that the panels show its joint; the selection does not change."""
    if body.bone:
        body.object.data.bones.active = body.object.data.bones[body.bone]
    else:
        context.view_layer.objects.active = body.object


def bodies_of(scene: Scene) -> list[Body]:
    """Every object and pose bone of a scene that is a body, in a stable order."""
    found = []
    for item in sorted(scene.objects, key=lambda each: each.name):
        if item.condyle.body.enabled:
            found.append(Body(item))
        if item.pose is not None:
            found += [Body(item, bone.name) for bone in item.pose.bones if bone.condyle.body.enabled]
    return found


def in_scene(scene: Scene, item: Object | None) -> bool:
    """Whether an object exists and belongs to a scene (a linked one may share its override's name)."""
    return item is not None and scene in item.users_scene


def joint_of(scene: Scene, body: Body) -> Object | None:
    """The joint that carries a body; None: there is none."""
    found = (item for item in carrying_joints(scene) if same(resolve(item.condyle.joint.child), body))
    return next(found, None)


def joints_of(scene: Scene) -> list[Object]:
    """Every joint of a scene: the Empties that carry one, by name."""
    # called at every redraw: the type is quick to read, our own data is not
    found = [item for item in scene.objects if item.type == "EMPTY" and item.condyle.joint.enabled]
    return sorted(found, key=lambda each: each.name)


def two_movers(first: Object, second: Object, child: Body) -> str:
    """Error text for two joints that carry one child."""
    text = f"joints {first.name!r} and {second.name!r} both move {child.name}"
    overrides = [each.override_library for each in (first, second)]
    overridden = {each and each.reference and each.reference.session_uid for each in overrides}
    if overridden != {None} and len(overridden) == 1:
        return (
            f"{text}: one is the copy of a library override, which Blender leaves on the original's bodies; delete all "
            "that was copied, and make another override of the library"
        )
    return f"{text}; remove one, or let it close a loop"


def carrying_joints(scene: Scene) -> list[Object]:
    """The joints of a scene that carry their children: all but those that close loops."""
    return [item for item in joints_of(scene) if not item.condyle.joint.closes_loop]


def loop_joints(scene: Scene) -> list[Object]:
    """The joints of a scene that close loops."""
    return [item for item in joints_of(scene) if item.condyle.joint.closes_loop]


def connections_of(scene: Scene) -> list[Object]:
    """Every connection of a scene (constraint, spring, ground): the Empties that carry one, by name."""
    found = [item for item in scene.objects if item.type == "EMPTY" and item.condyle.connection.enabled]
    return sorted(found, key=lambda each: each.name)


def check_role(scene: Scene, called: str, body: Body | None, role: str) -> None:
    """ModelError if a body of a joint or connection is missing, not in the scene, or not evaluated."""
    if body is None:
        raise physics_access.model_error(f"{called}: its {role} is missing; choose one in its panel")
    if is_deleted(body.object):
        raise physics_access.model_error(
            f"{called}: its {role} {body.name} is in no scene: undo its deletion, or choose another in its panel"
        )
    if not in_scene(scene, body.object):
        raise physics_access.model_error(f"{called}: its {role} {body.name} is not in scene {scene.name!r}")
    if role != "parent" and not body.data.body.enabled:
        raise physics_access.model_error(f"{called}: its {role} {body.name} is not a body; make it one first")
    check_evaluated(body.object, f"{called}: its {role} {body.name}")


def find_scene(session_uid: int) -> Scene:
    """The scene with that session uid; ModelError if it no longer exists."""
    found = next((scene for scene in bpy.data.scenes if scene.session_uid == session_uid), None)
    if found is None:
        raise physics_access.model_error("the scene was removed meanwhile")
    return found


def find_joint(session_uid: int, name: str) -> Object:
    """The joint's Empty with that session uid; ModelError if it no longer exists."""
    found = object_by_session_uid(session_uid)
    if found is None or not found.condyle.joint.enabled:
        raise physics_access.model_error(f"joint {name!r} was removed meanwhile")
    return found


def find_body_in(scene: Scene | BlendData, handle: Handle, name: str) -> Body:
    """The body of a handle in a scene or a snapshot of one; ModelError if it is not there."""
    found = handle.find_in(scene)
    kept = found or handle.find_in(bpy.data)
    if kept is not None and is_deleted(kept.object):  # its joint alone keeps it in the file
        raise physics_access.model_error(f"{name} was deleted meanwhile")
    if found is None:
        raise physics_access.model_error(f"{name} was removed or renamed meanwhile")
    return found


def find_body(handle: Handle, name: str) -> Body:
    """The body of a handle; ModelError if it no longer exists."""
    return find_body_in(bpy.data, handle, name)
