"""Where and how a simulation starts, how time is recorded, and whether it is to be a loop: on the scene."""

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from bpy.types import PropertyGroup

from .property_options import OVERRIDE

#: what a joint or body starts with; "SCENE" (as the simulation says) comes on top of these where it has its own choice
SOURCES = (
    ("SETTINGS", "Start Values", "Joints start at their start values and speeds, free bodies at rest", 1),
    ("POSE", "Pose", "Start in the animation's pose at the first simulated frame, at rest", 2),
    (
        "MOTION",
        "Pose and Speed",
        "Start in the animation's pose at the first simulated frame, with the speed that keys or sliders have there",
        3,
    ),
)
#: powers of two, so that times of whole frames are the same numbers with and without the samples between them
SAMPLES = (
    ("1", "1", "One key a frame", 1),
    ("2", "2", "Two keys a frame", 2),
    ("4", "4", "Four keys a frame", 4),
    ("8", "8", "Eight keys a frame", 8),
)


class StartProperties(PropertyGroup):
    """Start, samples and loop of the simulation."""

    begin: EnumProperty(
        name="Begin",
        description="First frame of the simulation and of its keys",
        items=(
            ("RANGE", "Range", "The first frame of the range"),
            (
                "PLAYHEAD",
                "Playhead",
                "The current frame. Keys before it stay where the bake goes to the current action's range",
            ),
        ),
        override=OVERRIDE,
    )
    source: EnumProperty(
        name="Start With",
        description="Pose and speed at the start; each joint and free body may choose for itself",
        items=SOURCES,
        override=OVERRIDE,
    )
    preroll: IntProperty(
        name="Pre-Roll",
        description="Frames that are simulated before the first recorded one; the start is that much earlier",
        min=0,
        soft_max=250,
        max=100000,
        override=OVERRIDE,
    )
    samples: EnumProperty(
        name="Keys a Frame",
        description="More than one for motion blur and for what is fast. "
        "The motion is the same; whole frames get the same keys",
        items=SAMPLES,
        override=OVERRIDE,
    )
    loop: BoolProperty(
        name="Loop",
        description="The last frame shows the first one's pose. The range is simulated again and again from "
        "where it ended, until nothing changes any more; what is left is blended. Play it without the last frame",
        override=OVERRIDE,
    )
    loop_cycles: IntProperty(
        name="Most Cycles",
        description="How many times the range is simulated at most. A motion repeats itself after some cycles where "
        "it is driven in time with the range and damped; 1: only blend",
        default=20,
        min=1,
        soft_max=100,
        max=10000,
        override=OVERRIDE,
    )
    loop_tolerance: FloatProperty(
        name="Tolerance",
        description="A motion repeats itself where bodies change from one cycle to the next by less than this: "
        "millimetres, and thousandths of a radian; speeds by less than 2 pi times that in a cycle's time",
        default=0.1,
        min=1e-6,
        soft_max=10.0,
        precision=3,
        override=OVERRIDE,
    )
    loop_blend: IntProperty(
        name="Blend Frames",
        description="Last frames over which what is left of the jump is taken away; 0: the jump stays",
        default=0,
        min=0,
        soft_max=50,
        override=OVERRIDE,
    )


class LoopStatistics(PropertyGroup):
    """How well the last bake closes."""

    cycles: IntProperty(
        name="Cycles", description="Cycles that were simulated; 0: no loop", override=OVERRIDE
    )
    settled: BoolProperty(
        name="Settled", description="The motion repeats itself within the tolerance", override=OVERRIDE
    )
    position_jump: FloatProperty(
        name="Jump",
        description="Farthest that a body is off from its first frame in the last [m]",
        override=OVERRIDE,
    )
    angle_jump: FloatProperty(
        name="Turn",
        description="Most that a body is turned from its first frame in the last [rad]",
        override=OVERRIDE,
    )
    speed_jump: FloatProperty(
        name="Speed Jump",
        description="Most that a body's speed in the last frame differs from the first [m/s]",
        override=OVERRIDE,
    )
    turn_speed_jump: FloatProperty(
        name="Turning Speed Jump",
        description="Most that a body's turning speed in the last frame differs from the first [rad/s]",
        override=OVERRIDE,
    )


def own_source(what: str) -> Any:
    """The property by which a joint or body chooses its start."""
    return EnumProperty(
        name="Start With",
        description=f"Pose and speed of this {what} at the start of a simulation",
        items=(("SCENE", "As Simulation", "As the simulation's settings say", 0), *SOURCES),
        override=OVERRIDE,
    )
