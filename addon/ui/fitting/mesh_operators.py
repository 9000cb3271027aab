"""Operator that finds a joint from the surfaces of two meshes."""

import math
from typing import Any

from bpy.types import Context, Operator

from ...blender import units
from ...jobs import mesh_joint
from ...making import mesh_joints
from ..asked import angle, choice, flag, integer, length, vector
from ..layout import fields
from .operators import RedoneJob

REDO_SECONDS = 60.0


class JointFromMeshes(RedoneJob, Operator):
    """Add the joint that the surfaces of two bones suggest: flexion along which they stay in contact, or keep the gap
    of the cartilage. Select the child, then the parent, near contact. The present pose is that of flexion 0"""

    bl_idname = "condyle.joint_from_meshes"
    bl_label = "Joint from Two Meshes"
    title = "Joint from Meshes"
    redo_seconds = REDO_SECONDS

    lower: angle("Least Flexion", "The most extended pose", default=0.0, min=-math.pi, max=0.0)
    upper: angle("Largest Flexion", "The most flexed pose", default=math.radians(120.0), min=0.0, max=math.pi)
    num_frames: integer("Control Points", "Number of control points of the curve", default=8, min=4, max=64)
    axis_from: choice(
        "Axis",
        "Direction of the flexion axis",
        items=[
            ("SHAPES", "From the Shapes", "As the surfaces suggest"),
            ("PARENT", "In the Parent", "A direction in the parent's axes"),
        ],
    )
    axis: vector(
        "Direction", "Of the flexion axis, in the parent's axes", subtype="XYZ", default=(1.0, 0.0, 0.0)
    )
    flip: flag("Flip Direction", "Flex to the other side")
    keep_gap: flag("Present Gap", "Keep the least distance that the surfaces have now", default=True)
    gap: length("Gap", "Distance that the surfaces keep: the thickness of the cartilage", default=0.0)
    swap: flag("Swap", "Swap parent and child", options={"SKIP_SAVE"})

    @classmethod
    def why_not(cls, context: Context) -> str:
        return mesh_joints.why_not(context)

    def steps(self, context: Context) -> Any:
        metres = units.length_scale(context.scene)
        wished = {
            "lower": self.lower,
            "upper": self.upper,
            "num_frames": self.num_frames,
            "axis": None if self.axis_from == "SHAPES" else list(self.axis),
            "flip": self.flip,
            "gap": None if self.keep_gap else self.gap * metres,
        }
        return mesh_joint.add(context, self.swap, wished)

    def told(self, outcome: Any) -> str:
        largest = units.told_length(outcome.largest_gap)
        if outcome.penetration:
            return f"Joint added: gap 0 to {largest}, {units.told_length(outcome.penetration)} deep at most"
        return f"Joint added: gap {units.told_length(outcome.least_gap)} to {largest}"

    def draw(self, _context: Context) -> None:
        column = fields(self.layout.column())
        for name in ("lower", "upper", "num_frames", "axis_from"):
            column.prop(self, name)
        if self.axis_from == "PARENT":
            column.prop(self, "axis")
        column.prop(self, "flip")
        column.prop(self, "keep_gap")
        if not self.keep_gap:
            column.prop(self, "gap")
        column.prop(self, "swap")
