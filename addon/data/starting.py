"""Scene settings of a simulation's start, of the recorded samples, and of loops."""

from typing import Any

from bpy.types import PropertyGroup

from .properties import choice, flag, integer, number, span

#: start of a joint or body; joints and bodies also have "SCENE" (as the simulation says)
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
        "Start With", "Pose and speed at the start; each joint and free body may override it", items=SOURCES
    )
    preroll: integer(
        "Pre-Roll", "Frames that are simulated before the first recorded one", **span(0, 250, 100000)
    )
    samples: choice(
        "Samples per Frame",
        "More than one for motion blur and fast motion. The simulation is the same; whole frames get "
        "the same keys",
        items=SAMPLES,
    )
    loop: flag(
        "Loop",
        "The last frame shows the first one's pose. The range is simulated repeatedly, each time from "
        "its last state, until the motion repeats; the remaining difference is blended. Play it without "
        "the last frame",
    )
    loop_cycles: integer(
        "Most Cycles",
        "Largest number of simulated cycles. A damped motion driven in time with the range repeats "
        "after some cycles; 1: only blend",
        **span(1, 100, 10000, default=20),
    )
    loop_tolerance: number(
        "Tolerance",
        "A motion repeats if bodies differ from one cycle to the next by less than this many "
        "millimetres and thousandths of a radian, and speeds by less than 2 pi times that per cycle",
        **span(1e-6, 10.0, default=0.1, precision=3),
    )
    loop_blend: integer(
        "Blend Frames",
        "Last frames over which the remaining jump is blended away; 0: the jump stays",
        **span(0, 50, default=0),
    )


class LoopStatistics(PropertyGroup):
    """How well the last baked loop closes."""

    cycles: integer("Cycles", "Cycles that were simulated; 0: no loop")
    settled: flag("Settled", "The motion repeats itself within the tolerance")
    position_jump: number("Jump", "Largest distance of a body in the last frame from the first [m]")
    angle_jump: number("Turn", "Largest rotation of a body in the last frame from the first [rad]")
    speed_jump: number(
        "Speed Jump", "Largest difference of a body's speed between the last frame and the first [m/s]"
    )
    turn_speed_jump: number(
        "Turning Speed Jump",
        "Largest difference of a body's angular speed between the last frame and the first [rad/s]",
    )


#: start of a joint with a spring to its animation
SETTLED = (
    "SETTLED",
    "Settled",
    "Start where springs and gravity hold the animation's pose, so that nothing drops",
    4,
)
#: start of a joint whose child's animation it cannot follow exactly, as of a hinge where limbs are twisted
EXACT = (
    "EXACT",
    "Exact Pose and Speed",
    "Start exactly in the animation's pose, with its speed. What the joint cannot do of that pose is part of its rest "
    "pose while it is simulated",
    5,
)


def own_source(what: str, *more: tuple[str, str, str, int]) -> Any:
    """The property by which a joint or body chooses its start; more: of its items."""
    return choice(
        "Start With",
        f"Pose and speed of this {what} at the start of a simulation",
        items=(("SCENE", "As Simulation", "As the simulation's settings say", 0), *SOURCES, *more),
    )
