"""What a joint keeps of its bones' rest poses and its child's mesh; see `rest_poses` and `shifted_meshes`."""

from bpy.types import PropertyGroup

from .properties import integer, text, vector


class RestRecord(PropertyGroup):
    """How a joint's child rested against its parent when the joint was made, where both are bones of one armature; and
    where a child's mesh lay in its object.
    """

    bones: text("Bones", "Identities of the child and the parent; empty: none is kept")
    turn: vector("Turn", "Quaternion of the child's rest pose in the parent's", size=4)
    vertices: integer("Vertices", "How many vertices the child's mesh had; 0: nothing is kept of it")
    points: vector("Points", "Some of its points in the child's axes", size=12, unit="LENGTH")
