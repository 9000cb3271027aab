"""Repairs references after objects were duplicated, joined, separated, renamed or deleted.

Blender remaps pointers itself: those of objects that are duplicated, appended or copied together point to the copies,
those of an object duplicated alone to the originals. The rest is repaired here:

====================================  ==============================================================================
action                                outcome
====================================  ==============================================================================
body duplicated alone                 a separate body without a joint; a driven one stays at its present pose
joint duplicated alone                has the same bodies; a bake fails with two joints for one child until one is
                                      removed. It gets its own control frames; the sliders stay with the original
body and joint duplicated             the copy moves the copied child relative to the copied or original parent, with
                                      its own sliders, followers and control frames
control frame duplicated              an Empty in no curve until it is adopted (menu beside the list)
whole rig duplicated, also by Alt+D   as body and joint; Alt+D shares meshes and armatures, no Condyle data
baked body or muscle duplicated       its own bake, which Free Bake also removes
bone duplicated                       a separate body without a joint
appended                              a rig brings its joints, and a joint its rig; Blender's File > Append adds them
                                      to the scene, scripts must do so
rig duplicated without its joints     the copy has none; the panel names them
library override duplicated           the copies point to the originals: a bake fails with two joints for one child,
                                      and suggests another override of the library
linked                                refused, suggesting a library override, which works like local data
meshes joined                         the active one keeps its role; joints of the others name the missing body
armatures joined, bones separated     joints follow their bones to the other armature
copy of an armature joined to it      the copy's joints name missing bones, and accept others
mesh separated                        the part is a separate body without a joint; masses from meshes divide
renamed                               nothing changes, for objects and bones
body or bone deleted                  its joint is kept, names the missing body, and accepts another
control frame deleted                 the joint names it: undo, or remove the row
joint deleted                         as by Remove Joint, except that its control frames are kept as Empties
====================================  ==============================================================================

With a window the repair follows shortly after the action, else when the file is loaded.
"""

from typing import Any

import bpy
from bpy.types import Constraint, Object, PoseBone

from ..blender import physics_access, session
from ..data import body_reference, references
from ..data.body_reference import BodyReference
from ..data.references import Body
from ..sliders import driver_empties, sliders
from . import bodies_and_joints, orphans, rig_parts

#: references that `_relink` moved to a bone's new armature: session uid of their object, their path, session uid of the
#: old armature, the bone's uid and name, and session uid of the new armature
_followed: list[tuple[int, str, int, str, str, int]] = []


def mend() -> int:
    """Give copies their own data, and let references follow bones; returns the number of changes."""
    own = [item for item in bpy.data.objects if item.library is None]
    stored = [
        each for item in own if item.condyle.schema_version for each in references.stored_in(item.condyle)
    ]
    changed = _own_identities(own, stored) + sum(map(_relink, stored))
    # Blender keeps the pointers of library overrides correct
    own = [item for item in own if item.override_library is None]
    joints = [item for item in own if item.type == "EMPTY" and item.condyle.joint.enabled]
    changed += _own_curves(own)
    shown = _in_scenes()
    for item in joints:
        if item in shown:
            changed += _own_frames(item) + _own_follower(item, [each for each in joints if each in shown])
            changed += driver_empties.put_away(item)
        elif references.is_deleted(item):
            changed += _stop(item)
    rig_parts.renew()
    orphans.tell(bpy.context.scene)
    own = [item for item in _in_scenes() if item.library is None and item.override_library is None]
    return changed + sum(_let_go(body) for item in own for body in _constrained(item))


def _in_scenes() -> set[Object]:
    """All objects in scenes; `users_scene` of each of 2000 objects would take a second."""
    return {item for scene in bpy.data.scenes for item in scene.objects}


def _relink(reference: BodyReference) -> int:
    before = reference.object, reference.bone_uid, reference.bone_name
    references.relink(reference)
    meant, uid, name = before
    if meant is not None and reference.object != meant:
        owner = reference.id_data
        now = reference.object.session_uid
        _followed.append((owner.session_uid, reference.path_from_id(), meant.session_uid, uid, name, now))
    return int((meant, name) != (reference.object, reference.bone_name))


def before_undo() -> None:
    """Restore references that followed a bone before an undo or redo, unless they were changed since.

    Undo keeps data-blocks that do not differ between two steps, such as the joint. The joint would then point to an
    armature that undo has freed, and Blender would crash.
    """
    while _followed:
        owner, path, meant, uid, name, now = _followed.pop()
        item = references.object_by_session_uid(owner)
        target = references.object_by_session_uid(meant)
        if item is None or target is None or item.library is not None:
            continue
        try:
            reference = item.path_resolve(path)
        except ValueError:  # its row was removed
            continue
        found = reference.object
        if (
            found is None
            or found.session_uid != now
            or (reference.bone_uid, reference.bone_name) != (uid, name)
        ):
            continue
        reference.object = target  # clears the name of a missing bone
        reference.bone_name = name
        reference.bone_uid = uid


def _own_identities(items: list[Object], stored: list[BodyReference]) -> int:
    """Make uids of copied bones unique: a bone that a reference names keeps its uid, else the first.

    Where a copied armature was joined to its original, references to its bones are left unresolved.
    """
    meant = {(each.bone_uid, each.bone_name) for each in stored}
    changed = 0
    for item in items:
        by_uid: dict[str, list[Any]] = {}
        for bone in item.pose.bones if item.pose is not None else ():
            if bone.condyle.uid:
                by_uid.setdefault(bone.condyle.uid, []).append(bone)
        for uid, bones in by_uid.items():
            keeps = next((bone for bone in bones if (uid, bone.name) in meant), bones[0])
            copied = [bone for bone in bones if bone != keeps]
            for bone in copied:
                bone.condyle.uid = ""
            for each in stored if copied else ():
                gone = each.object not in (None, item) and references.is_deleted(each.object)
                if gone and each.bone_uid == uid:
                    each.bone_uid = body_reference.new_uid()
            changed += len(copied)
    return changed


def _own_curves(items: list[Object]) -> int:
    """Copy the stored curve of a duplicated baked muscle, unless it shares all curves with its original (Alt+D)."""
    changed = 0
    owners: dict[Any, Any] = {}
    for item in items:
        settings = item.condyle.muscle
        if item.type == "CURVE" and settings.own_curve is not None:
            first = owners.setdefault(settings.own_curve, item)
            if first.data != item.data:
                settings.own_curve = settings.own_curve.copy()
                changed += 1
    return changed


def _own_frames(item: Object) -> int:
    """Give a copied joint its own control frames in place of its original's, at the same places."""
    changed = 0
    for number, row in enumerate(item.condyle.joint.frames):
        theirs = row.object
        owner = None if theirs is None else theirs.condyle.frame_of
        if owner in (None, item) or not owner.condyle.joint.enabled:
            continue
        row.object = bodies_and_joints.frame_empty(item.users_scene[0], item, number)
        if theirs.parent != owner:
            row.object.parent = theirs.parent
            row.object.parent_type, row.object.parent_bone = theirs.parent_type, theirs.parent_bone
        row.object.matrix_parent_inverse = theirs.matrix_parent_inverse
        row.object.matrix_basis = theirs.matrix_basis
        changed += 1
    return changed


def _own_follower(item: Object, joints: list[Object]) -> int:
    """Detach a copied joint from its original's followers, and create new ones if it has its own child."""
    settings = item.condyle.joint
    owner = _joint_above(settings.follower)
    child = references.resolve(settings.child)
    if owner == item:
        # it may have followers from dragging its frames, while its child still follows the original's
        if not settings.driven or child is None or not _follows_another(item, child):
            return 0
    elif owner is None and not _has_lost(item):
        return 0
    elif owner is not None:
        settings.follower = None
    if not settings.driven:
        return 1
    shared = any(
        other != item and references.same(references.resolve(other.condyle.joint.child), child)
        for other in joints
    )
    settings.driven = False
    if child is not None and not shared:
        bpy.context.view_layer.update()
        try:
            sliders.set_driven(item.users_scene[0], item, True)
        except physics_access.physics().CondyleError as error:
            session.tell(str(error), "ERROR")
    return 1


def _follows_another(item: Object, child: Body) -> bool:
    """Whether the followers of another joint move a joint's child."""
    above = [_joint_above(constraint.target) for constraint in _targets(child.owner)]
    return any(each is not None and each != item for each in above)


def _has_lost(item: Object) -> bool:
    """Whether a driven joint's follower was deleted by hand."""
    return item.condyle.joint.driven and item.condyle.joint.follower is None


def _joint_above(item: Object | None) -> Object | None:
    """The joint that is an ancestor of a follower; None without one."""
    while item is not None and not item.condyle.joint.enabled:
        item = driver_empties.above(item)
    return item


def _stop(item: Object) -> int:
    """Clean up after a deleted joint: stop driving its child and remove its followers."""
    settings = item.condyle.joint
    if not settings.driven and settings.follower is None:
        return 0
    sliders.set_driven(bpy.context.scene, item, False)
    driver_empties.remove(item)
    settings.follower = None
    return 1


def _constrained(item: Object) -> list[Body]:
    """The object and its bones that have a joint's constraints, as bodies."""
    bodies = [Body(item)] if _targets(item) else []
    for bone in item.pose.bones if item.pose is not None else ():
        if bone.constraints and _targets(bone):
            bodies.append(Body(item, bone.name))
    return bodies


def _targets(owner: Object | PoseBone) -> list[Constraint]:
    """The constraints of a joint on its child that have a target."""
    return [each for each in owner.constraints if each.name.startswith("Condyle") and each.target is not None]


def _let_go(body: Body) -> int:
    """Remove the constraints from the copy of a driven body: it is not the joint's child. It keeps its pose."""
    constraints = _targets(body.owner)
    joint = _joint_above(constraints[0].target)
    if joint is None or references.same(references.resolve(joint.condyle.joint.child), body):
        return 0
    shown = not any(constraint.mute for constraint in constraints)
    if shown:
        bpy.context.view_layer.update()
    there = (body.pose_bone.matrix if body.bone else body.object.matrix_world).copy()
    for constraint in constraints:
        body.owner.constraints.remove(constraint)
    body.data.channels.was_driven = False
    if shown and body.bone:
        body.pose_bone.matrix = there
    elif shown:
        body.object.matrix_world = there
    return 1


def forget() -> None:
    """Clear stored references: another file was opened, or the add-on is disabled."""
    _followed.clear()
