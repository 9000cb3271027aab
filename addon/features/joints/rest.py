"""What a joint keeps of its bones' rest poses; see the module `rest_poses`."""

from bpy.props import FloatVectorProperty, StringProperty
from bpy.types import PropertyGroup

from ..common import OVERRIDE


class RestRecord(PropertyGroup):
    """How a joint's child rested against its parent when the joint was made, where both are bones of one armature."""

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


classes = (RestRecord,)
