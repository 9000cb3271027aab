"""Bodies by the object and bone that they are, in a scene, a snapshot of one, or a file. Blender is not imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .records import Rows

if TYPE_CHECKING:
    from bpy.types import BlendData, Object, PoseBone, Scene
    from mathutils import Matrix

    #: a scene, a snapshot of one, or the file
    Holder = Scene | BlendData

Key = tuple[str, str]


@dataclass(frozen=True)
class Body:
    """An object (bone is "") or a pose bone of an armature; not to be kept across ticks of the event loop."""

    object: Any
    bone: str = ""

    @property
    def name(self) -> str:
        return f"{self.object.name}/{self.bone}" if self.bone else self.object.name

    @property
    def pose_bone(self) -> PoseBone:
        return self.object.pose.bones[self.bone] if self.bone else None

    @property
    def owner(self) -> Object | PoseBone:
        """The object or pose bone with the body's `condyle` properties and transform channels."""
        return self.pose_bone if self.bone else self.object

    @property
    def data(self) -> Any:
        return self.owner.condyle

    @property
    def matrix(self) -> Matrix:
        """Matrix in the world, with scale, as last evaluated."""
        return self.object.matrix_world @ self.pose_bone.matrix if self.bone else self.object.matrix_world

    @property
    def path_prefix(self) -> str:
        """Beginning of the data paths of its channels on the object."""
        return self.pose_bone.path_from_id() + "." if self.bone else ""

    def handle(self) -> Handle:
        return Handle(self.object.session_uid, self.bone)


@dataclass(frozen=True)
class Handle:
    """A body across ticks of the event loop."""

    session_uid: int
    bone: str = ""

    def find_in(self, scene: Holder) -> Body | None:
        """The body in a scene, a snapshot of one, or the file; None if the object or the bone is not there."""
        found = object_in(scene, self.session_uid)
        if found is None or (self.bone and (found.pose is None or self.bone not in found.pose.bones)):
            return None
        return Body(found, self.bone)


def key_of(body: Body) -> Key:
    """Key of a body in a mapping; valid until something is renamed."""
    return body.object.name_full, body.bone


def object_in(scene: Holder, session_uid: int) -> Object | None:
    """The object with that session uid in a scene or a snapshot of one; None if it is not there."""
    objects: Any = scene.objects
    if isinstance(objects, Rows):
        return objects.by_uid.get(session_uid)
    return next((item for item in objects if item.session_uid == session_uid), None)
