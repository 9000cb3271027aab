"""What a joint keeps of its bones' rest poses and its child's mesh; see `rest_poses` and `shifted_meshes`."""

from bpy.props import FloatVectorProperty, IntProperty, StringProperty
from bpy.types import PropertyGroup

from .property_options import OVERRIDE


class RestRecord(PropertyGroup):
    """How a joint's child rested against its parent when the joint was made, where both are bones of one armature; and
    where a child's mesh lay in its object.
    """

    bones: StringProperty(
        name="Bones",
        description="Identities of the child and the parent; empty: none is kept",
        override=OVERRIDE,
    )
    turn: FloatVectorProperty(
        name="Turn",
        description="Quaternion of the child's rest pose in the parent's",
        size=4,
        override=OVERRIDE,
    )
    vertices: IntProperty(
        name="Vertices",
        description="How many vertices the child's mesh had; 0: nothing is kept of it",
        override=OVERRIDE,
    )
    points: FloatVectorProperty(
        name="Points",
        description="Some of its points in the child's axes",
        size=12,
        unit="LENGTH",
        override=OVERRIDE,
    )
