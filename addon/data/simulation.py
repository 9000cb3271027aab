"""Settings of the simulation, on the scene; and what a bake replaced, on what was baked."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from .bake_output import TARGETS, OutputProperties
from .property_options import OVERRIDE

#: methods of physics, their labels, and in a sentence what each is for
INTEGRATORS = (
    (
        "symplectic_euler",
        "Symplectic Euler",
        "Fast and steady, the usual choice; also for constraints, contacts and hard limits",
    ),
    ("rk4", "Runge-Kutta 4", "Four times the work a step, and far more exact where motion is smooth"),
    (
        "linearly_implicit_euler",
        "Implicit Euler, Linear",
        "For stiff springs: large steps stay calm, and motion is damped; with muscles rather Implicit Euler",
    ),
    ("bdf1", "Implicit Euler", "For very stiff springs: the calmest, and it damps motion the most"),
    ("sdirk2", "Implicit, 2nd Order", "For stiff springs where motion should not be damped away"),
    (
        "event_driven",
        "Event-Driven",
        "For bounces and hits: finds the instant of each, and is exact between them (needs SciPy)",
    ),
    ("forward_euler", "Forward Euler", "For comparison only: motion gains energy and blows up"),
    ("RK45", "Adaptive RK 5(4)", "Chooses its own steps (needs SciPy)"),
    ("DOP853", "Adaptive RK 8(5,3)", "Chooses its own steps, for high precision (needs SciPy)"),
    (
        "LSODA",
        "Adaptive LSODA",
        "Chooses steps and method by itself, for models that may be stiff (needs SciPy)",
    ),
    ("Radau", "Adaptive Radau", "Chooses its own steps, for stiff models and high precision (needs SciPy)"),
    ("BDF", "Adaptive BDF", "Chooses its own steps, for stiff models (needs SciPy)"),
)
#: what files store for each of them; it never changes
NUMBERS = (0, 1, 6, 7, 8, 11, 2, 3, 4, 5, 9, 10)
#: those that choose their steps
ADAPTIVE = ("RK45", "DOP853", "LSODA", "Radau", "BDF")


class BakeStatistics(PropertyGroup):
    """What the solver met in the last bake; all zero or empty where it did not have to."""

    integrator: StringProperty(
        name="Method", description="Method of the last bake; empty: there was none", override=OVERRIDE
    )
    steps: IntProperty(name="Steps", description="Steps that were taken", override=OVERRIDE)
    seconds: FloatProperty(name="Seconds", description="How long the simulation took", override=OVERRIDE)
    energy_change: FloatProperty(
        name="Energy", description="Total energy at the end less that at the start [J]", override=OVERRIDE
    )
    constrained: BoolProperty(
        name="Constrained",
        description="There were constraints, hard limits, contacts or given motions",
        override=OVERRIDE,
    )
    drift: FloatProperty(
        name="Drift",
        description="Farthest that a constraint was off within a step [m or rad]",
        override=OVERRIDE,
    )
    drift_left: FloatProperty(
        name="Drift Left",
        description="Farthest that a constraint was off at the end of a step [m or rad]",
        override=OVERRIDE,
    )
    residual: FloatProperty(
        name="Residual", description="How exactly forces were solved for: a share of them", override=OVERRIDE
    )
    most_rows: IntProperty(
        name="Most Rows", description="Most conditions at once in a step", override=OVERRIDE
    )
    steps_with_contact: IntProperty(
        name="Steps with Contact",
        description="Steps in which a contact, a hard limit or a one-sided constraint pushed",
        override=OVERRIDE,
    )
    steps_unmet: IntProperty(
        name="Steps Unmet",
        description="Steps in which not all conditions could be met at once",
        override=OVERRIDE,
    )
    largest: StringProperty(
        name="Largest Force", description="The constraint that had to push most", override=OVERRIDE
    )
    largest_force: FloatProperty(
        name="Force", description="How much it had to push [N or N·m]", override=OVERRIDE
    )
    failed_time: FloatProperty(
        name="Time", description="When the last bake went wrong, in seconds from its start", override=OVERRIDE
    )
    failed_body: StringProperty(
        name="Body", description="Body at which the last bake went wrong", override=OVERRIDE
    )
    failed_reason: StringProperty(
        name="Reason", description="Why the last bake went wrong; empty: it did not", override=OVERRIDE
    )


class SimulationProperties(PropertyGroup):
    """How a scene is simulated."""

    use_scene_range: BoolProperty(
        name="Scene's Frames",
        description="Simulate the scene's frames (or its preview range where that is on)",
        default=True,
        override=OVERRIDE,
    )
    frame_start: IntProperty(name="Start", description="First frame", default=1, override=OVERRIDE)
    frame_end: IntProperty(name="End", description="Last frame", default=250, override=OVERRIDE)
    gravity: FloatVectorProperty(
        name="Gravity [m/s²]",
        description="Acceleration of free fall in the world's axes. It does not change with the scene's unit scale",
        default=(0.0, 0.0, -9.81),
        override=OVERRIDE,
    )
    time_step: FloatProperty(
        name="Time Step",
        description="Step of the simulation in seconds; it does not depend on the frame rate",
        default=0.001,
        min=1e-6,
        soft_max=0.02,
        max=1.0,
        precision=5,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        override=OVERRIDE,
    )
    integrator: EnumProperty(
        name="Method",
        description="How the equations of motion are integrated",
        items=tuple((*each[:3], number) for number, each in zip(NUMBERS, INTEGRATORS)),
        override=OVERRIDE,
    )
    statistics: PointerProperty(type=BakeStatistics, name="Last Bake", override=OVERRIDE)
    output: PointerProperty(type=OutputProperties, name="Output", override=OVERRIDE)
    disconnect_bones: BoolProperty(
        name="Disconnect Bones",
        description="Disconnect connected bones that a joint moves away from their parents; else they are refused",
        override=OVERRIDE,
    )


class _ChannelValues:
    """Transform channels of an object or bone as they were."""

    location: FloatVectorProperty(
        name="Location",
        description="Location before",
        subtype="TRANSLATION",
        unit="LENGTH",
        override=OVERRIDE,
    )
    rotation_quaternion: FloatVectorProperty(
        name="Quaternion", description="Rotation before", size=4, subtype="QUATERNION", override=OVERRIDE
    )
    rotation_axis_angle: FloatVectorProperty(
        name="Axis Angle", description="Rotation before", size=4, subtype="AXISANGLE", override=OVERRIDE
    )
    rotation_euler: FloatVectorProperty(
        name="Euler", description="Rotation before", subtype="EULER", unit="ROTATION", override=OVERRIDE
    )


class ChannelRecord(_ChannelValues, PropertyGroup):
    """What an object or bone was before a bake."""

    baked: BoolProperty(name="Baked", description="Its channels are written by Condyle", override=OVERRIDE)
    rotation_mode: StringProperty(
        name="Rotation Mode", description="Rotation mode before; empty: not known", override=OVERRIDE
    )
    was_connected: BoolProperty(name="Connected", description="The bone was connected", override=OVERRIDE)
    was_driven: BoolProperty(name="Driven", description="A joint's slider moved it", override=OVERRIDE)


class LiveRecord(_ChannelValues, PropertyGroup):
    """What an object or bone was before the live run that shows it elsewhere now."""

    shown: BoolProperty(name="Shown", description="A live run moves it", override=OVERRIDE)
    muted: StringProperty(
        name="Muted", description="Names of the constraints that the live run has muted", override=OVERRIDE
    )


class BakeRecord(PropertyGroup):
    """Animation of an object before a bake."""

    action: PointerProperty(
        name="Baked Action", description="Action that the bake made", type=bpy.types.Action, override=OVERRIDE
    )
    previous_action: PointerProperty(
        name="Previous Action", description="Action in use before", type=bpy.types.Action, override=OVERRIDE
    )
    previous_slot: StringProperty(
        name="Previous Slot", description="Slot of the action in use before", override=OVERRIDE
    )
    slot_handle: IntProperty(
        name="Slot's Handle", description="Handle of that slot, or of the new one", override=OVERRIDE
    )
    had_animation_data: BoolProperty(
        name="Animated", description="There was animation data before", override=OVERRIDE
    )
    blend_type: StringProperty(name="Blending", description="How the action was blended", override=OVERRIDE)
    extrapolation: StringProperty(
        name="Extrapolation", description="How the action was extrapolated", override=OVERRIDE
    )
    influence: FloatProperty(
        name="Influence", description="The action's influence", default=1.0, override=OVERRIDE
    )
    target: EnumProperty(
        name="Baked To", description="Where the keys of this bake went", items=TARGETS, override=OVERRIDE
    )
    backup: PointerProperty(
        name="Copy of the Action",
        description="What the action in use was before the bake changed it",
        type=bpy.types.Action,
        override=OVERRIDE,
    )
    paths: StringProperty(
        name="Channels", description="Data paths that the bake keyed, as JSON", override=OVERRIDE
    )
    made_slot: StringProperty(
        name="New Slot", description="Slot that the bake added to the action", override=OVERRIDE
    )
    track: StringProperty(name="Track", description="NLA track of the bake", override=OVERRIDE)
    pushed_track: StringProperty(
        name="Track Below", description="NLA track of the action that was in use before", override=OVERRIDE
    )
    pushed_strip: StringProperty(
        name="Strip Below", description="NLA strip of the action that was in use before", override=OVERRIDE
    )
    figures: StringProperty(
        name="Figures", description="Custom properties that the bake added, as JSON", override=OVERRIDE
    )
    bones: StringProperty(
        name="Bones",
        description="UIDs of the bones that were animated, by the names that they had, as JSON",
        override=OVERRIDE,
    )


def frame_ends(scene: Any) -> tuple[int, int]:
    """First and last frame that a bake covers."""
    settings = scene.condyle.simulation
    if not settings.use_scene_range:
        first, last = settings.frame_start, settings.frame_end
    elif scene.use_preview_range:
        first, last = scene.frame_preview_start, scene.frame_preview_end
    else:
        first, last = scene.frame_start, scene.frame_end
    return (scene.frame_current if scene.condyle.start.begin == "PLAYHEAD" else first), last
