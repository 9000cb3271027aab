"""References to bodies, as files store them; `references` resolves them."""

import uuid

from bpy.types import Context, Object, PoseBone, PropertyGroup

from .properties import pointer, text


def new_uid() -> str:
    """A uid that no bone has yet."""
    return uuid.uuid4().hex


def ensure_uid(pose_bone: PoseBone) -> str:
    """The uid of a pose bone; the first call makes it."""
    if not pose_bone.condyle.uid:
        pose_bone.condyle.uid = new_uid()
    return str(pose_bone.condyle.uid)


def _object_chosen(self: "BodyReference", _context: Context) -> None:
    """Clear the bone if the new object does not have it."""
    bones = () if self.object is None or self.object.pose is None else self.object.pose.bones
    if self.bone_uid and not any(bone.condyle.uid == self.bone_uid for bone in bones):
        self.bone_uid = ""
        self.bone_name = ""


def _bone_chosen(self: "BodyReference", _context: Context) -> None:
    """Store the uid of the bone, so that it may be renamed; no name: the armature itself."""
    if not self.bone_name:
        self.bone_uid = ""
    elif self.object is not None and self.object.pose is not None:
        bone = self.object.pose.bones.get(self.bone_name)
        if bone is not None:
            self.bone_uid = ensure_uid(bone)


def is_joint(_self: PropertyGroup, candidate: Object) -> bool:
    """Poll of pointers to joints."""
    return candidate.type == "EMPTY" and candidate.condyle.joint.enabled


class BodyReference(PropertyGroup):
    """A body: an object, or a pose bone of it (see the module `references`)."""

    object: pointer("Object", "Object, or armature of the bone", type=Object, update=_object_chosen)
    bone_uid: text("Bone UID", "Identity of the bone, kept on it")
    bone_name: text("Bone", "Name of the bone when last seen", update=_bone_chosen)
