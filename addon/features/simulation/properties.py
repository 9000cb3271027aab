"""Settings of the simulation, on the scene; and what a bake replaced, on what was baked."""

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

from ..common import OVERRIDE


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
        items=(
            ("symplectic_euler", "Symplectic Euler", "Fast and steady: the usual choice"),
            ("rk4", "Runge-Kutta 4", "Four times the work, far more exact"),
            ("forward_euler", "Forward Euler", "For comparison: gains energy"),
            ("RK45", "Adaptive Runge-Kutta 5(4)", "Chooses its own steps (needs SciPy)"),
            ("DOP853", "Adaptive Runge-Kutta 8", "Chooses its own steps, for high precision (needs SciPy)"),
            ("LSODA", "LSODA", "Chooses steps and method, for stiff models (needs SciPy)"),
        ),
        override=OVERRIDE,
    )
    disconnect_bones: BoolProperty(
        name="Disconnect Bones",
        description="Disconnect connected bones that a joint moves away from their parents; else they are refused",
        override=OVERRIDE,
    )


class ChannelRecord(PropertyGroup):
    """Transform channels of an object or bone before a bake."""

    baked: BoolProperty(name="Baked", description="Its channels are written by Condyle", override=OVERRIDE)
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
    rotation_mode: StringProperty(
        name="Rotation Mode", description="Rotation mode before; empty: not known", override=OVERRIDE
    )
    was_connected: BoolProperty(name="Connected", description="The bone was connected", override=OVERRIDE)
    was_driven: BoolProperty(name="Driven", description="A joint's slider moved it", override=OVERRIDE)


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


classes = (SimulationProperties, ChannelRecord, BakeRecord)
