"""Settings and report of a fit, part of a joint's data."""

from bpy.props import BoolProperty, FloatProperty, IntProperty
from bpy.types import PropertyGroup

from ..common import OVERRIDE


class FitProperties(PropertyGroup):
    """How a spline curve is fitted to the child's keyed poses, and what came of it."""

    requested: BoolProperty(
        name="Fit before Baking",
        description="Bake fits the curve to the keyframes first",
        override=OVERRIDE,
    )
    num_frames: IntProperty(
        name="Control Frames",
        description="How many control frames the curve gets: more follow the keys more closely",
        default=8,
        min=4,
        soft_max=40,
        max=1000,
        override=OVERRIDE,
    )
    smoothing: FloatProperty(
        name="Smoothing",
        description="0 follows the keys; towards 1 the curve gets smoother and takes noise out of them",
        default=0.0,
        min=0.0,
        max=0.999999,
        subtype="FACTOR",
        precision=3,
        override=OVERRIDE,
    )
    length_scale: FloatProperty(
        name="Length Scale",
        description="Length that counts as much as one radian in the fit. 0: the spread of the keyed poses",
        unit="LENGTH",
        subtype="DISTANCE",
        min=0.0,
        override=OVERRIDE,
    )
    num_poses: IntProperty(name="Keyed Poses", description="Poses that the last fit used", override=OVERRIDE)
    worst_distance: FloatProperty(
        name="Worst Distance [mm]",
        description="Largest distance of a keyed pose from the curve",
        override=OVERRIDE,
    )
    worst_angle: FloatProperty(
        name="Worst Angle",
        description="Largest angle between a keyed pose and the curve",
        subtype="ANGLE",
        unit="ROTATION",
        override=OVERRIDE,
    )
    iterations: IntProperty(name="Iterations", description="Iterations of the last fit", override=OVERRIDE)
    converged: BoolProperty(name="Converged", description="Whether the last fit converged", override=OVERRIDE)


classes = (FitProperties,)
