"""The roots of all data that Condyle keeps in a file: on scenes, objects and pose bones."""

import bpy
from bpy.types import Object, PropertyGroup

from .bodies import BodyProperties
from .colliders import ColliderProperties
from .connections import ConnectionProperties
from .driving import ReachProperties, TargetProperties
from .goals import GoalList, GoalSettings
from .joint_rest import RestRecord
from .joints import JointProperties
from .muscles import MuscleProperties
from .obstacles import ObstacleProperties
from .overlay import OverlayProperties
from .properties import collection, flag, integer, pointer, text
from .selection import show_chosen
from .simulation import BakeRecord, ChannelRecord, LiveRecord, SimulationProperties
from .soft_bodies import SoftBodyProperties
from .starting import LoopStatistics, StartProperties


class SceneData(PropertyGroup):
    """Condyle's settings of a scene."""

    schema_version: integer("Schema", "Version of the stored data; 0: none was stored")
    simulation: pointer("Simulation", type=SimulationProperties)
    start: pointer("Start and Time", type=StartProperties)
    loop: pointer("Last Loop", type=LoopStatistics)
    reach: pointer("Targets", type=ReachProperties)
    goals: pointer("Goals", type=GoalSettings)
    overlay: pointer("Overlay", type=OverlayProperties)
    bake: pointer("Bake", type=BakeRecord)
    live: flag("Live", "The scene shows poses of a live run now, not its own")
    play_live: flag(
        "Play Live",
        "Play (Space) lets chains swing and ragdolls fall live where nothing is baked",
        default=True,
    )
    active_connection: integer(
        "Connection",
        "Click on a constraint, spring or ground to select it",
        default=-1,
        update=show_chosen("connection"),
    )
    active_muscle: integer(
        "Muscle", "Click on a muscle to select it", default=-1, update=show_chosen("muscle")
    )


class RigPart(PropertyGroup):
    """A pointer to an object that Blender appends, links or copies along with its owner."""

    object: pointer("Part", "Joint, constraint, spring, target or muscle of this object", type=Object)


class ObjectData(PropertyGroup):
    """Condyle's data of an object."""

    schema_version: integer("Schema", "Version of the stored data; 0: none was stored")
    body: pointer("Body", type=BodyProperties)
    joint: pointer("Joint", type=JointProperties)
    rest: pointer("Rest Poses", type=RestRecord)
    connection: pointer("Connection", type=ConnectionProperties)
    muscle: pointer("Muscle", type=MuscleProperties)
    target: pointer("Target", type=TargetProperties)
    obstacle: pointer("Obstacle", type=ObstacleProperties)
    collider: pointer("Collider", type=ColliderProperties)
    goals: pointer("Goals", type=GoalList)
    soft: pointer("Soft Body", type=SoftBodyProperties)
    frame_of: pointer(
        "Control Point Of",
        "Joint of which this Empty is a control point, or connection of which it is the end",
        type=Object,
    )
    parts: collection("Parts", type=RigPart)
    channels: pointer("Channels", type=ChannelRecord)
    before_live: pointer("Before Live", type=LiveRecord)
    bake: pointer("Bake", type=BakeRecord)


class BoneData(PropertyGroup):
    """Condyle's data of a pose bone."""

    schema_version: integer("Schema", "Version of the stored data; 0: none was stored")
    uid: text("UID", "Identity of the bone, independent of its name")
    body: pointer("Body", type=BodyProperties)
    collider: pointer("Collider", type=ColliderProperties)
    goals: pointer("Goals", type=GoalList)
    channels: pointer("Channels", type=ChannelRecord)
    before_live: pointer("Before Live", type=LiveRecord)


ROOTS = ((bpy.types.Scene, SceneData), (bpy.types.Object, ObjectData), (bpy.types.PoseBone, BoneData))


def attach() -> None:
    """Attach the roots: scene.condyle, object.condyle, pose_bone.condyle."""
    for owner, group in ROOTS:
        owner.condyle = pointer("Condyle", type=group)


def detach() -> None:
    """Remove the roots again."""
    for owner, _ in ROOTS:
        del owner.condyle
