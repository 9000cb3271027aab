"""The roots of all data that Condyle keeps in a file: on scenes, objects and pose bones."""

import bpy
from bpy.props import BoolProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Object, PropertyGroup

from .bodies import BodyProperties
from .connections import ConnectionProperties, show_chosen
from .driving import ReachProperties, TargetProperties
from .joint_rest import RestRecord
from .joints import JointProperties
from .muscles import MuscleProperties, show_chosen_muscle
from .obstacles import ObstacleProperties
from .overlay import OverlayProperties
from .property_options import OVERRIDE
from .simulation import BakeRecord, ChannelRecord, LiveRecord, SimulationProperties
from .starting import LoopStatistics, StartProperties


class SceneData(PropertyGroup):
    """Condyle's settings of a scene."""

    schema_version: IntProperty(
        name="Schema", description="Version of the stored data; 0: none was stored", override=OVERRIDE
    )
    simulation: PointerProperty(type=SimulationProperties, name="Simulation", override=OVERRIDE)
    start: PointerProperty(type=StartProperties, name="Start and Time", override=OVERRIDE)
    loop: PointerProperty(type=LoopStatistics, name="Last Loop", override=OVERRIDE)
    reach: PointerProperty(type=ReachProperties, name="Targets", override=OVERRIDE)
    overlay: PointerProperty(type=OverlayProperties, name="Overlay", override=OVERRIDE)
    bake: PointerProperty(type=BakeRecord, name="Bake", override=OVERRIDE)
    live: BoolProperty(
        name="Live",
        description="The scene shows poses of a live run now, not its own",
        override=OVERRIDE,
    )
    active_connection: IntProperty(
        name="Connection",
        description="Click on a constraint, spring or ground to select it",
        default=-1,
        update=show_chosen,
        override=OVERRIDE,
    )
    active_muscle: IntProperty(
        name="Muscle",
        description="Click on a muscle to select it",
        default=-1,
        update=show_chosen_muscle,
        override=OVERRIDE,
    )


class ObjectData(PropertyGroup):
    """Condyle's data of an object."""

    schema_version: IntProperty(
        name="Schema", description="Version of the stored data; 0: none was stored", override=OVERRIDE
    )
    body: PointerProperty(type=BodyProperties, name="Body", override=OVERRIDE)
    joint: PointerProperty(type=JointProperties, name="Joint", override=OVERRIDE)
    rest: PointerProperty(type=RestRecord, name="Rest Poses", override=OVERRIDE)
    connection: PointerProperty(type=ConnectionProperties, name="Connection", override=OVERRIDE)
    muscle: PointerProperty(type=MuscleProperties, name="Muscle", override=OVERRIDE)
    target: PointerProperty(type=TargetProperties, name="Target", override=OVERRIDE)
    obstacle: PointerProperty(type=ObstacleProperties, name="Obstacle", override=OVERRIDE)
    frame_of: PointerProperty(
        name="Control Frame Of",
        description="Joint of which this Empty is a control frame, or connection of which it is the end",
        type=Object,
        override=OVERRIDE,
    )
    channels: PointerProperty(type=ChannelRecord, name="Channels", override=OVERRIDE)
    before_live: PointerProperty(type=LiveRecord, name="Before Live", override=OVERRIDE)
    bake: PointerProperty(type=BakeRecord, name="Bake", override=OVERRIDE)


class BoneData(PropertyGroup):
    """Condyle's data of a pose bone."""

    schema_version: IntProperty(
        name="Schema", description="Version of the stored data; 0: none was stored", override=OVERRIDE
    )
    uid: StringProperty(name="UID", description="Identity of the bone, whatever its name", override=OVERRIDE)
    body: PointerProperty(type=BodyProperties, name="Body", override=OVERRIDE)
    channels: PointerProperty(type=ChannelRecord, name="Channels", override=OVERRIDE)
    before_live: PointerProperty(type=LiveRecord, name="Before Live", override=OVERRIDE)


ROOTS = ((bpy.types.Scene, SceneData), (bpy.types.Object, ObjectData), (bpy.types.PoseBone, BoneData))


def attach() -> None:
    """Put the roots where users find them: scene.condyle, object.condyle, pose_bone.condyle."""
    for owner, group in ROOTS:
        owner.condyle = PointerProperty(type=group, name="Condyle", override=OVERRIDE)


def detach() -> None:
    """Take the roots away again."""
    for owner, _ in ROOTS:
        del owner.condyle
