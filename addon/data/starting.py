"""Where and how a simulation starts, how time is recorded, and whether it is to be a loop: on the scene."""

from typing import Any

from bpy.types import PropertyGroup

from .properties import choice, flag, integer, number, span

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

    begin: choice(
        "Begin",
        "First frame of the simulation and of its keys",
        items=(
            ("RANGE", "Range", "The first frame of the range"),
            (
                "PLAYHEAD",
                "Playhead",
                "The current frame. Keys before it stay where the bake goes to the current action's range",
            ),
        ),
    )
    source: choice(
        "Start With",
        "Pose and speed at the start; each joint and free body may choose for itself",
        items=SOURCES,
    )
    preroll: integer(
        "Pre-Roll",
        "Frames that are simulated before the first recorded one; the start is that much earlier",
        **span(0, 250, 100000),
    )
    samples: choice(
        "Keys a Frame",
        "More than one for motion blur and for what is fast. "
        "The motion is the same; whole frames get the same keys",
        items=SAMPLES,
    )
    loop: flag(
        "Loop",
        "The last frame shows the first one's pose. The range is simulated again and again from "
        "where it ended, until nothing changes any more; what is left is blended. Play it without the last frame",
    )
    loop_cycles: integer(
        "Most Cycles",
        "How many times the range is simulated at most. A motion repeats itself after some cycles where "
        "it is driven in time with the range and damped; 1: only blend",
        **span(1, 100, 10000, default=20),
    )
    loop_tolerance: number(
        "Tolerance",
        "A motion repeats itself where bodies change from one cycle to the next by less than this: "
        "millimetres, and thousandths of a radian; speeds by less than 2 pi times that in a cycle's time",
        **span(1e-6, 10.0, default=0.1, precision=3),
    )
    loop_blend: integer(
        "Blend Frames",
        "Last frames over which what is left of the jump is taken away; 0: the jump stays",
        **span(0, 50, default=0),
    )


class LoopStatistics(PropertyGroup):
    """How well the last bake closes."""

    cycles: integer("Cycles", "Cycles that were simulated; 0: no loop")
    settled: flag("Settled", "The motion repeats itself within the tolerance")
    position_jump: number("Jump", "Farthest that a body is off from its first frame in the last [m]")
    angle_jump: number("Turn", "Most that a body is turned from its first frame in the last [rad]")
    speed_jump: number(
        "Speed Jump", "Most that a body's speed in the last frame differs from the first [m/s]"
    )
    turn_speed_jump: number(
        "Turning Speed Jump",
        "Most that a body's turning speed in the last frame differs from the first [rad/s]",
    )


def own_source(what: str) -> Any:
    """The property by which a joint or body chooses its start."""
    return choice(
        "Start With",
        f"Pose and speed of this {what} at the start of a simulation",
        items=(("SCENE", "As Simulation", "As the simulation's settings say", 0), *SOURCES),
    )
