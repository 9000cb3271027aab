"""Settings and report of a fit, part of a joint's data."""

from typing import Any

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
)
from bpy.types import PropertyGroup

from .fit_settings import CommonWishes, CurveWishes, SurfaceWishes
from .property_options import OVERRIDE, OVERRIDE_INSERT


class PoseResidual(PropertyGroup):
    """One keyed pose of the last fit, and how far the joint passes it by."""

    frame: FloatProperty(name="Frame", description="Frame of the key", override=OVERRIDE)
    distance: FloatProperty(
        name="Distance [mm]", description="Distance of the keyed pose from the joint", override=OVERRIDE
    )
    angle: FloatProperty(
        name="Angle",
        description="Angle between the keyed pose and the joint",
        subtype="ANGLE",
        unit="ROTATION",
        override=OVERRIDE,
    )
    trust: FloatProperty(
        name="Trust",
        description="How much the key counted in the last fit: less than 1 where it was taken for an outlier",
        default=1.0,
        override=OVERRIDE,
    )
    weight: FloatProperty(
        name="Weight",
        description="How much the key counts beside the others in the next fit",
        default=1.0,
        min=0.0,
        soft_max=10.0,
        override=OVERRIDE,
    )
    pinned: BoolProperty(
        name="Pinned",
        description="The next fit passes this key exactly (a curve only)",
        override=OVERRIDE,
    )
    pose: FloatVectorProperty(
        name="Keyed Pose",
        description="Of the child in the joint's frame, row by row",
        size=16,
        override=OVERRIDE,
    )
    q: FloatVectorProperty(
        name="Coordinates",
        description="Of the joint where it is nearest to the key, in radians or metres",
        size=3,
        override=OVERRIDE,
    )


def _jump(self: Any, context: Any) -> None:
    """A click on a key in the list shows its frame."""
    if 0 <= self.active_residual < len(self.residuals):
        frame = self.residuals[self.active_residual].frame
        context.scene.frame_set(int(frame // 1.0), subframe=frame % 1.0)


class FitProperties(CommonWishes, CurveWishes, SurfaceWishes, PropertyGroup):
    """How a spline joint is fitted to the child's keyed poses, and what came of it."""

    requested: BoolProperty(
        name="Fit before Baking",
        description="Bake fits the joint to the keyframes first",
        override=OVERRIDE,
    )
    num_poses: IntProperty(name="Keyed Poses", description="Poses that the last fit used", override=OVERRIDE)
    worst_distance: FloatProperty(
        name="Worst Distance [mm]",
        description="Largest distance of a keyed pose from the joint",
        override=OVERRIDE,
    )
    worst_angle: FloatProperty(
        name="Worst Angle",
        description="Largest angle between a keyed pose and the joint",
        subtype="ANGLE",
        unit="ROTATION",
        override=OVERRIDE,
    )
    iterations: IntProperty(name="Iterations", description="Iterations of the last fit", override=OVERRIDE)
    converged: BoolProperty(name="Converged", description="Whether the last fit converged", override=OVERRIDE)
    metric_values: FloatVectorProperty(
        name="Metric",
        description="Upper triangle of the last fit's metric, row by row, in SI; zeros: that of a length scale",
        size=21,
        override=OVERRIDE,
    )
    coverage: FloatProperty(
        name="Coverage",
        description="How well the keys of the last fit reach every part of the surface: 1 well, 0 not at all",
        default=1.0,
        override=OVERRIDE,
    )
    cyclic: EnumProperty(
        name="Cyclic",
        description="Whether the keys of the last fit come back to where they began",
        items=(
            ("NONE", "No", "They end elsewhere"),
            ("CLOSED", "Closed", "Once round a closed path"),
            ("TO_AND_FRO", "To and Fro", "Back on the path that they came on"),
        ),
        override=OVERRIDE,
    )
    residuals: CollectionProperty(type=PoseResidual, name="Residuals", override=OVERRIDE_INSERT)
    active_residual: IntProperty(
        name="Key",
        description="Click on a key to go to its frame",
        default=-1,
        update=_jump,
        override=OVERRIDE,
    )
    worst_first: BoolProperty(
        name="Worst First",
        description="Order the keys by how far off they are",
        default=True,
        override=OVERRIDE,
    )
    show_ghosts: BoolProperty(
        name="Show in View",
        description="Show every key in the view, coloured by how far the joint passes it by",
        default=True,
        override=OVERRIDE,
    )
