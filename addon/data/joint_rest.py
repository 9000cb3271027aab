"""A joint's record of its bones' rest poses and its child's mesh; see `rest_poses`."""

from bpy.types import PropertyGroup

from .properties import integer, text, vector


class RestRecord(PropertyGroup):
    """State when the joint was made: rest pose of its child relative to its parent, if both are bones of one armature;
    place of the child's mesh in its object.
    """

    bones: text("Bones", "Identities of the child and the parent; empty: no record")
    turn: vector("Turn", "Quaternion of the child's rest pose in the parent's", size=4)
    vertices: integer("Vertices", "Number of vertices of the child's mesh; 0: no record")
    points: vector("Points", "Some points of the mesh in the child's axes", size=12, unit="LENGTH")
