"""Data of a muscle, on its curve."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Object, PropertyGroup

from . import callbacks
from .property_options import OVERRIDE, OVERRIDE_INSERT

#: what pulls along a path: names of physics, labels, and in a sentence what each is for
LAWS = (
    ("none", "None", "Does not pull: a cord that only has mass", 0),
    ("tension", "Tension", "Pulls with its share of the largest force at once, at any length and speed", 1),
    ("millard", "Hill, Millard", "Force depends on length and speed; curves of Millard and others, 2013", 2),
    ("thelen", "Hill, Thelen", "Force depends on length and speed; curves of Thelen, 2003", 3),
)


def _is_obstacle(_self: Any, candidate: Any) -> bool:
    return bool(candidate.condyle.obstacle.enabled)


def _is_joint(_self: Any, candidate: Any) -> bool:
    return candidate.type == "EMPTY" and candidate.condyle.joint.enabled


def show_chosen_muscle(self: Any, context: Any) -> None:
    """A click on a muscle in the list makes it the active object."""
    objects = context.scene.objects
    if not 0 <= self.active_muscle < len(objects) or context.mode != "OBJECT":
        return
    chosen = objects[self.active_muscle]
    if chosen.condyle.muscle.enabled and chosen.name in context.view_layer.objects:
        for item in context.selected_objects:
            item.select_set(False)
        chosen.select_set(True)
        context.view_layer.objects.active = chosen


def _thicken(self: Any, _context: Any) -> None:
    """The tube that is seen before a bake has the belly's radius."""
    if self.enabled:
        callbacks.call().muscle_thickness_changed(self.id_data)


class ObstacleUse(PropertyGroup):
    """A surface that a muscle wraps over, and where along it."""

    obstacle: PointerProperty(
        name="Obstacle",
        description="Surface that the muscle wraps over",
        type=Object,
        poll=_is_obstacle,
        override=OVERRIDE,
    )
    strand: IntProperty(
        name="Strand",
        description="Between which points: 1 between the first two, and so on. 0: where the straight line comes "
        "nearest to it",
        min=0,
        override=OVERRIDE,
    )


class PointRule(PropertyGroup):
    """A point that a coordinate moves, or that is there for a range of it only."""

    point: IntProperty(name="Point", description="Which point, from 1", default=1, min=1, override=OVERRIDE)
    kind: EnumProperty(
        name="Does",
        description="What the coordinate does to the point",
        items=(
            ("CONDITION", "There While", "The point counts only while the coordinate is in the range", 0),
            ("X", "Moves X", "The x place in its body is a function of the coordinate", 1),
            ("Y", "Moves Y", "The y place in its body is a function of the coordinate", 2),
            ("Z", "Moves Z", "The z place in its body is a function of the coordinate", 3),
        ),
        override=OVERRIDE,
    )
    joint: PointerProperty(
        name="Joint",
        description="Joint whose coordinate decides",
        type=Object,
        poll=_is_joint,
        override=OVERRIDE,
    )
    coordinate: IntProperty(
        name="Coordinate", description="Which of its coordinates, from 1", default=1, min=1, override=OVERRIDE
    )
    lower: FloatProperty(
        name="From", description="Lower end of the range (radians, metres)", override=OVERRIDE
    )
    upper: FloatProperty(name="To", description="Upper end of the range (radians, metres)", override=OVERRIDE)
    function: StringProperty(
        name="Function", description="Place in metres by the coordinate, as JSON", override=OVERRIDE
    )


class ForceLawProperties(PropertyGroup):
    """What pulls along a muscle."""

    kind: EnumProperty(
        name="Force", description="What pulls along the muscle", items=LAWS, default=1, override=OVERRIDE
    )
    max_force: FloatProperty(
        name="Force [N]",
        description="Force at full excitation; of a Hill muscle the isometric one at the best length",
        default=500.0,
        min=0.0,
        soft_max=1e4,
        override=OVERRIDE,
    )
    fibre_length: FloatProperty(
        name="Fibre Length",
        description="Length of the fibres at which they are strongest",
        subtype="DISTANCE",
        unit="LENGTH",
        default=0.1,
        min=1e-6,
        override=OVERRIDE,
    )
    tendon_length: FloatProperty(
        name="Tendon Length",
        description="Length of the tendons together below which they are slack",
        subtype="DISTANCE",
        unit="LENGTH",
        default=0.2,
        min=1e-6,
        override=OVERRIDE,
    )
    pennation: FloatProperty(
        name="Pennation",
        description="Angle between fibres and tendon at the best length of the fibres",
        subtype="ANGLE",
        unit="ROTATION",
        min=0.0,
        max=1.47,
        override=OVERRIDE,
    )
    max_speed: FloatProperty(
        name="Fastest",
        description="Speed at which fibres shorten without load, in fibre lengths a second",
        default=10.0,
        min=1e-3,
        soft_max=20.0,
        override=OVERRIDE,
    )
    damping: FloatProperty(
        name="Fibre Damping",
        description="Of Millard's muscle: force against the fibres' speed, as a share of the largest force",
        default=0.1,
        min=0.0,
        soft_max=1.0,
        override=OVERRIDE,
    )
    rise_time: FloatProperty(
        name="Rise Time [s]",
        description="How fast activation follows an excitation that is higher",
        default=0.010,
        min=1e-4,
        soft_max=0.2,
        precision=4,
        override=OVERRIDE,
    )
    fall_time: FloatProperty(
        name="Fall Time [s]",
        description="How fast activation follows an excitation that is lower",
        default=0.040,
        min=1e-4,
        soft_max=0.5,
        precision=4,
        override=OVERRIDE,
    )
    least_activation: FloatProperty(
        name="Least Activation",
        description="Activation that is there without excitation",
        default=0.01,
        min=0.0,
        max=0.99,
        precision=3,
        override=OVERRIDE,
    )
    rigid_tendon: BoolProperty(
        name="Rigid Tendon", description="The tendon does not stretch: less to compute", override=OVERRIDE
    )
    details: StringProperty(
        name="Details",
        description="Further figures of the law by their names in physics, as a JSON object; empty: the usual ones",
        override=OVERRIDE,
    )


class ControllerProperties(PropertyGroup):
    """What excites a muscle in proportion to how far a joint is from its target."""

    joint: PointerProperty(
        name="Joint",
        description="Joint whose coordinate is controlled",
        type=Object,
        poll=_is_joint,
        override=OVERRIDE,
    )
    coordinate: IntProperty(
        name="Coordinate", description="Which of its coordinates, from 1", default=1, min=1, override=OVERRIDE
    )
    target: FloatProperty(
        name="Target",
        description="Where the coordinate should be (radians, metres); can be keyed",
        precision=3,
        override=OVERRIDE,
    )
    gain: FloatProperty(
        name="Gain",
        description="Excitation for each radian or metre that the coordinate is below its target; negative for a "
        "muscle that makes the coordinate smaller",
        default=1.0,
        soft_min=-20.0,
        soft_max=20.0,
        override=OVERRIDE,
    )
    damping: FloatProperty(
        name="Damping",
        description="Excitation that is taken away for each radian or metre a second; of the gain's sign to calm",
        soft_min=-5.0,
        soft_max=5.0,
        override=OVERRIDE,
    )
    rest: FloatProperty(
        name="At Target",
        description="Excitation where the coordinate is on its target",
        subtype="FACTOR",
        default=0.05,
        min=0.0,
        max=1.0,
        override=OVERRIDE,
    )


class MuscleProperties(PropertyGroup):
    """A muscle along the points of its curve."""

    enabled: BoolProperty(name="Muscle", description="This curve is a muscle", override=OVERRIDE)
    active: BoolProperty(
        name="In Use", description="Off: simulations leave it out", default=True, override=OVERRIDE
    )
    excitation: FloatProperty(
        name="Excitation",
        description="How much the muscle is told to pull; key it (I) to move bodies",
        subtype="FACTOR",
        min=0.0,
        max=1.0,
        override=OVERRIDE,
    )
    excited_by: EnumProperty(
        name="Excited by",
        description="What tells the muscle how much to pull",
        items=(
            ("KEYS", "Keys", "Its excitation, which can be keyed", 0),
            ("CONTROLLER", "Controller", "How far a joint is from its target", 1),
        ),
        override=OVERRIDE,
    )
    control: PointerProperty(type=ControllerProperties, name="Controller", override=OVERRIDE)
    mass: FloatProperty(
        name="Mass [kg]",
        description="Mass that moves along the path as the muscle strains; 0: none",
        min=0.0,
        soft_max=10.0,
        precision=3,
        override=OVERRIDE,
    )
    num_points: IntProperty(
        name="Mass Points",
        description="How many points its mass is spread over",
        default=20,
        min=1,
        soft_max=50,
        max=1000,
        override=OVERRIDE,
    )
    mass_lies: EnumProperty(
        name="Mass Lies",
        description="Where along the path its mass is",
        items=(
            ("PATH", "Along the Path", "Evenly from origin to insertion, and strains evenly", 0),
            (
                "BELLY",
                "In the Belly",
                "Evenly between the tendons, which keep the lengths that they have at the first frame",
                1,
            ),
        ),
        override=OVERRIDE,
    )
    tendon_mass: FloatProperty(
        name="Share of Tendons",
        description="Of a mass in the belly: share that lies along the tendons instead, by their lengths",
        subtype="FACTOR",
        min=0.0,
        max=0.9,
        override=OVERRIDE,
    )
    law: PointerProperty(type=ForceLawProperties, name="Force", override=OVERRIDE)
    thickness: EnumProperty(
        name="Thickness",
        description="Where the volume of the tube comes from, which stays as the muscle strains",
        items=(
            ("RADIUS", "Radius", "The belly has this radius at the first frame", 0),
            ("MASS", "From Mass", "The volume is that of its mass at 1060 kg a cubic metre", 1),
        ),
        update=_thicken,
        override=OVERRIDE,
    )
    radius: FloatProperty(
        name="Belly Radius",
        description="Radius in the middle of the belly at the first frame",
        subtype="DISTANCE",
        unit="LENGTH",
        default=0.02,
        min=1e-6,
        update=_thicken,
        override=OVERRIDE,
    )
    origin_tendon: FloatProperty(
        name="Tendon at Origin",
        description="Share of its length at the first frame that is tendon, which does not bulge",
        subtype="FACTOR",
        default=0.15,
        min=0.0,
        max=0.49,
        update=_thicken,
        override=OVERRIDE,
    )
    insertion_tendon: FloatProperty(
        name="Tendon at Insertion",
        description="Share of its length at the first frame that is tendon, which does not bulge",
        subtype="FACTOR",
        default=0.15,
        min=0.0,
        max=0.49,
        update=_thicken,
        override=OVERRIDE,
    )
    obstacles: CollectionProperty(type=ObstacleUse, name="Obstacles", override=OVERRIDE_INSERT)
    smoothing: FloatProperty(
        name="Smoothing",
        description="Length over which touching and leaving an obstacle is rounded off; less than the ends are away "
        "from its surface. 0: half a millimetre, or a fifth of the least radius where the muscle has mass",
        subtype="DISTANCE",
        unit="LENGTH",
        min=0.0,
        soft_max=0.02,
        precision=4,
        override=OVERRIDE,
    )
    active_obstacle: IntProperty(name="Obstacle", description="Obstacle at hand", min=0, override=OVERRIDE)
    rules: CollectionProperty(type=PointRule, name="Point Rules", override=OVERRIDE_INSERT)
    own_curve: PointerProperty(
        name="Own Curve",
        description="The curve that a bake put its own in the place of; empty: nothing is baked",
        type=bpy.types.Curve,
        override=OVERRIDE,
    )
