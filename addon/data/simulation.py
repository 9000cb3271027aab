"""Scene settings of the simulation; and records of the animation that a bake replaced, on objects and bones."""

from typing import NamedTuple

import bpy
from bpy.types import PropertyGroup

from .bake_output import TARGETS, OutputProperties
from .properties import angles, choice, flag, integer, number, pointer, seconds, span, text, vector


class Method(NamedTuple):
    """One entry of the menu of methods.

    Attributes:
        name: as in physics.integrators.INTEGRATORS. number: what files store; it never changes.
        description: what it is for. adaptive: whether it chooses its steps.
    """

    name: str
    number: int
    label: str
    description: str
    adaptive: bool = False


INTEGRATORS = {
    each.name: each
    for each in (
        Method(
            "symplectic_euler",
            0,
            "Symplectic Euler",
            "Fast and stable, the usual choice, also for contacts; predicts velocities by half a step for the forces",
        ),
        Method(
            "rk4", 1, "Runge-Kutta 4", "Four times the work per step, and far more accurate for smooth motion"
        ),
        Method(
            "linearly_implicit_euler",
            6,
            "Implicit Euler, Linear",
            "For stiff springs: stable with large steps, damps motion; with muscles prefer Implicit Euler",
        ),
        Method("bdf1", 7, "Implicit Euler", "For very stiff springs: the most stable, damps motion most"),
        Method("sdirk2", 8, "Implicit, 2nd Order", "For stiff springs, with little damping"),
        Method(
            "event_driven",
            11,
            "Event-Driven",
            "For impacts: finds the time of each, and is accurate between them (needs SciPy)",
        ),
        Method(
            "textbook_symplectic_euler",
            12,
            "Symplectic Euler, Textbook",
            "For comparison: forces at the velocities as they are, not predicted by half a step",
        ),
        Method(
            "spring_implicit_euler",
            13,
            "Implicit Euler, Springs Only",
            "For comparison: as Implicit Euler, Linear, with gravity and inertial forces explicit",
        ),
        Method("forward_euler", 2, "Forward Euler", "For comparison only: motion gains energy and diverges"),
        Method("RK45", 3, "Adaptive RK 5(4)", "Chooses its own steps (needs SciPy)", True),
        Method(
            "DOP853", 4, "Adaptive RK 8(5,3)", "Chooses its own steps, for high precision (needs SciPy)", True
        ),
        Method(
            "LSODA",
            5,
            "Adaptive LSODA",
            "Chooses steps and method by itself, for models that may be stiff (needs SciPy)",
            True,
        ),
        Method(
            "Radau",
            9,
            "Adaptive Radau",
            "Chooses its own steps, for stiff models and high precision (needs SciPy)",
            True,
        ),
        Method("BDF", 10, "Adaptive BDF", "Chooses its own steps, for stiff models (needs SciPy)", True),
    )
}


class BakeStatistics(PropertyGroup):
    """Statistics of the solver in the last bake; zero or empty without a solver."""

    integrator: text("Method", "Method of the last bake; empty: there was none")
    steps: integer("Steps", "Steps that were taken")
    seconds: number("Seconds", "How long the simulation took")
    energy_change: number("Energy", "Total energy at the end less that at the start [J]")
    constrained: flag("Constrained", "There were constraints, hard limits, contacts or prescribed motions")
    drift: number("Drift", "Largest error of a constraint within a step [m or rad]")
    drift_left: number("Drift Left", "Largest error of a constraint at the end of a step [m or rad]")
    residual: number("Residual", "Relative residual of the solved forces")
    most_rows: integer("Most Rows", "Most conditions at once in a step")
    steps_with_contact: integer(
        "Steps with Contact", "Steps in which a contact, a hard limit or a one-sided constraint was active"
    )
    steps_unmet: integer("Steps Unmet", "Steps in which the conditions could not all be met")
    largest: text("Largest Force", "The constraint with the largest force")
    largest_force: number("Force", "Its force [N or N·m]")
    failed_time: number("Time", "Time at which the last bake failed, in seconds from its start")
    failed_body: text("Body", "Body at which the last bake failed")
    failed_reason: text("Reason", "Why the last bake failed; empty: it did not")


class SimulationProperties(PropertyGroup):
    """Settings of a scene's simulation."""

    use_scene_range: flag(
        "Scene's Frames", "Simulate the scene's frames (or its preview range where that is on)", default=True
    )
    frame_start: integer("Start", "First frame", default=1)
    frame_end: integer("End", "Last frame", default=250)
    gravity: vector(
        "Gravity [m/s²]",
        "Acceleration of free fall in the world's axes. It does not change with the scene's unit scale",
        default=(0.0, 0.0, -9.81),
    )
    time_step: seconds(
        "Time Step",
        "Step of the simulation in seconds; it does not depend on the frame rate",
        **span(1e-6, 0.02, 1.0, default=0.001, precision=5),
    )
    integrator: choice(
        "Method",
        "How the equations of motion are integrated",
        items=tuple((each.name, each.label, each.description, each.number) for each in INTEGRATORS.values()),
    )
    statistics: pointer("Last Bake", type=BakeStatistics)
    output: pointer("Output", type=OutputProperties)
    disconnect_bones: flag(
        "Disconnect Bones",
        "Disconnect connected bones that a joint moves away from their parents; otherwise such bones are an error",
    )


class _ChannelValues:
    """Earlier transform channels of an object or bone."""

    location: vector("Location", "Location before", subtype="TRANSLATION", unit="LENGTH")
    rotation_quaternion: vector("Quaternion", "Rotation before", size=4, subtype="QUATERNION")
    rotation_axis_angle: vector("Axis Angle", "Rotation before", size=4, subtype="AXISANGLE")
    rotation_euler: angles("Euler", "Rotation before")


class ChannelRecord(_ChannelValues, PropertyGroup):
    """State of an object or bone before a bake."""

    baked: flag("Baked", "Condyle wrote its channels")
    rotation_mode: text("Rotation Mode", "Rotation mode before; empty: not known")
    was_connected: flag("Connected", "The bone was connected")
    was_driven: flag("Driven", "A joint's slider moved it")


class LiveRecord(_ChannelValues, PropertyGroup):
    """State of an object or bone before the live run that moves it now."""

    shown: flag("Shown", "A live run moves it")
    muted: text("Muted", "Names of the constraints that the live run has muted")


class BakeRecord(PropertyGroup):
    """Animation of an object before a bake."""

    action: pointer("Baked Action", "Action that the bake made", type=bpy.types.Action)
    previous_action: pointer("Previous Action", "Action in use before", type=bpy.types.Action)
    previous_slot: text("Previous Slot", "Slot of the action in use before")
    slot_handle: integer("Slot's Handle", "Handle of that slot, or of the new one")
    had_animation_data: flag("Animated", "There was animation data before")
    blend_type: text("Blending", "How the action was blended")
    extrapolation: text("Extrapolation", "How the action was extrapolated")
    influence: number("Influence", "The action's influence", default=1.0)
    target: choice("Baked To", "Where the keys of this bake went", items=TARGETS)
    backup: pointer(
        "Copy of the Action", "Copy of the action in use before the bake changed it", type=bpy.types.Action
    )
    paths: text("Channels", "Data paths that the bake keyed, as JSON")
    muted: text("Muted", "UID of the bone and name of each IK constraint that the bake muted, as JSON")
    made_slot: text("New Slot", "Slot that the bake added to the action")
    track: text("Track", "NLA track of the bake")
    pushed_track: text("Track Below", "NLA track of the action that was in use before")
    pushed_strip: text("Strip Below", "NLA strip of the action that was in use before")
    figures: text("Figures", "Custom properties that the bake added, as JSON")
    bones: text("Bones", "UIDs of the bones that were animated, by the names that they had, as JSON")
