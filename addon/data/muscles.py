"""Data of a muscle, on its curve."""

import bpy
from bpy.types import Context, Object, PropertyGroup

from . import callbacks
from .body_reference import is_joint
from .properties import angle, choice, collection, factor, flag, integer, length, number, pointer, span, text

#: force laws: names of physics, labels, and a sentence on the use of each
LAWS = (
    ("none", "None", "Does not pull: a cord that only has mass", 0),
    ("tension", "Tension", "Pulls with its share of the largest force at once, at any length and speed", 1),
    ("millard", "Hill, Millard", "Force depends on length and speed; curves of Millard and others, 2013", 2),
    ("thelen", "Hill, Thelen", "Force depends on length and speed; curves of Thelen, 2003", 3),
    (
        "degroote",
        "Hill, De Groote",
        "Force depends on length and speed; curves of De Groote and others, 2016",
        4,
    ),
    ("schutte", "Hill, Schutte", "Force depends on length and speed; curves of Schutte, 1993", 5),
    ("cord", "Ligament, Spring", "Pulls as it is stretched, without excitation", 6),
)


def _is_obstacle(_self: PropertyGroup, candidate: Object) -> bool:
    return bool(candidate.condyle.obstacle.enabled)


def _thicken(self: "MuscleProperties", _context: Context) -> None:
    """Give the tube that is visible before a bake the belly's radius."""
    if self.enabled:
        callbacks.call().muscle_thickness_changed(self.id_data)


class ObstacleUse(PropertyGroup):
    """A surface that a muscle wraps over, and between which points."""

    obstacle: pointer("Obstacle", "Surface that the muscle wraps over", type=Object, poll=_is_obstacle)
    strand: integer(
        "Strand",
        "Between which points: 1 between the first two, and so on. 0: where the straight line is "
        "nearest to it",
        min=0,
    )


class PointRule(PropertyGroup):
    """A point that a coordinate moves, or that exists only in a range of a coordinate."""

    point: integer("Point", "Which point, from 1", default=1, min=1)
    kind: choice(
        "Does",
        "Effect of the coordinate on the point",
        items=(
            ("CONDITION", "There While", "The point counts only while the coordinate is in the range", 0),
            ("X", "Moves X", "The x place in its body is a function of the coordinate", 1),
            ("Y", "Moves Y", "The y place in its body is a function of the coordinate", 2),
            ("Z", "Moves Z", "The z place in its body is a function of the coordinate", 3),
        ),
    )
    joint: pointer("Joint", "Joint of the coordinate", type=Object, poll=is_joint)
    coordinate: integer("Coordinate", "Which of its coordinates, from 1", default=1, min=1)
    lower: number("From", "Lower end of the range (radians, metres)")
    upper: number("To", "Upper end of the range (radians, metres)")
    function: text("Function", "Place in metres by the coordinate, as JSON")


class ForceLawProperties(PropertyGroup):
    """The force law of a muscle."""

    kind: choice("Force", "Force law of the muscle", items=LAWS, default=1)
    max_force: number(
        "Force [N]",
        "Force at full excitation; of a Hill muscle, the isometric force at the optimal length",
        **span(0.0, 1e4, default=500.0),
    )
    fibre_length: length(
        "Fibre Length", "Length of the fibres at which their force is largest", default=0.1, min=1e-6
    )
    tendon_length: length(
        "Tendon Length", "Total length of the tendons below which they are slack", default=0.2, min=1e-6
    )
    pennation: angle(
        "Pennation", "Angle between fibres and tendon at the optimal length of the fibres", min=0.0, max=1.47
    )
    max_speed: number(
        "Max Velocity",
        "Speed at which fibres shorten without load, in fibre lengths per second",
        **span(1e-3, 20.0, default=10.0),
    )
    damping: number(
        "Fibre Damping",
        "All but Thelen's muscle: force against the fibres' speed, as a share of the largest force",
        **span(0.0, 1.0, default=0.1),
    )
    rise_time: number(
        "Rise Time [s]",
        "Time constant of activation towards a higher excitation",
        **span(1e-4, 0.2, default=0.010, precision=4),
    )
    fall_time: number(
        "Fall Time [s]",
        "Time constant of activation towards a lower excitation",
        **span(1e-4, 0.5, default=0.040, precision=4),
    )
    least_activation: number(
        "Min Activation", "Activation without excitation", default=0.01, min=0.0, max=0.99, precision=3
    )
    rigid_tendon: flag("Rigid Tendon", "The tendon does not stretch: less to compute")
    slack_length: length("Slack Length", "Length of a ligament beyond which it pulls", default=0.1, min=1e-6)
    cord_stiffness: number(
        "Stiffness [N]",
        "Force of a ligament for each multiple of its slack length by which it is longer, beyond a strain of 0.06. A "
        "curve in the details is scaled by it",
        **span(0.0, 1e4, default=1000.0),
    )
    details: text(
        "Details",
        "Other parameters of the law by their names in physics, as a JSON object; empty: the defaults. Of a ligament "
        "curves with the slack length and the stiffness for units",
    )


class ControllerProperties(PropertyGroup):
    """A controller that excites a muscle in proportion to the error of a coordinate."""

    joint: pointer("Joint", "Joint whose coordinate is controlled", type=Object, poll=is_joint)
    coordinate: integer("Coordinate", "Which of its coordinates, from 1", default=1, min=1)
    target: number(
        "Target", "Value that the coordinate should have (radians, metres); can be keyed", precision=3
    )
    gain: number(
        "Gain",
        "Excitation for each radian or metre below the target; negative for a muscle that decreases the "
        "coordinate",
        default=1.0,
        soft_min=-20.0,
        soft_max=20.0,
    )
    damping: number(
        "Damping",
        "Excitation subtracted for each radian or metre per second; with the sign of the gain it damps",
        soft_min=-5.0,
        soft_max=5.0,
    )
    rest: factor("At Target", "Excitation at the target", default=0.05)


class MuscleProperties(PropertyGroup):
    """A muscle along the points of its curve."""

    enabled: flag("Muscle", "This curve is a muscle")
    active: flag("In Use", "Off: simulations leave it out", default=True)
    excitation: factor("Excitation", "Excitation of the muscle; key it (I) to move bodies")
    excited_by: choice(
        "Driven by",
        "Source of the excitation",
        items=(
            ("KEYS", "Keyframes", "Its excitation, which can be keyed", 0),
            ("CONTROLLER", "Controller", "How far a joint is from its target", 1),
        ),
    )
    control: pointer("Controller", type=ControllerProperties)
    mass: number(
        "Mass [kg]",
        "Mass that moves with the path as the muscle strains; 0: none",
        **span(0.0, 10.0, precision=3),
    )
    num_points: integer(
        "Mass Points", "Number of points that carry its mass", default=20, min=1, soft_max=50, max=1000
    )
    mass_lies: choice(
        "Mass Distribution",
        "Distribution of the mass along the path",
        items=(
            ("PATH", "Along the Path", "Evenly from origin to insertion, and strains evenly", 0),
            (
                "BELLY",
                "In the Belly",
                "Evenly between the tendons, which keep the lengths that they have at the first frame",
                1,
            ),
        ),
    )
    tendon_mass: factor(
        "Share of Tendons",
        "Share of a mass in the belly that lies along the tendons instead, by their lengths",
        max=0.9,
    )
    law: pointer("Force", type=ForceLawProperties)
    thickness: choice(
        "Thickness",
        "Source of the tube's volume, which is constant as the muscle strains",
        items=(
            ("RADIUS", "Radius", "The belly has this radius at the first frame", 0),
            ("MASS", "From Mass", "The volume is that of its mass at 1060 kg a cubic metre", 1),
        ),
        update=_thicken,
    )
    radius: length(
        "Belly Radius",
        "Radius in the middle of the belly at the first frame",
        default=0.02,
        min=1e-6,
        update=_thicken,
    )
    origin_tendon: factor(
        "Tendon at Origin",
        "Share of the length at the first frame that is tendon, which does not bulge",
        default=0.15,
        max=0.49,
        update=_thicken,
    )
    insertion_tendon: factor(
        "Tendon at Insertion",
        "Share of the length at the first frame that is tendon, which does not bulge",
        default=0.15,
        max=0.49,
        update=_thicken,
    )
    obstacles: collection("Obstacles", type=ObstacleUse)
    smoothing: length(
        "Smoothing",
        "Length over which touching and leaving an obstacle is smoothed; less than the distance of the "
        "ends from its surface. 0: half a millimetre, or a fifth of the smallest radius if the muscle "
        "has mass",
        **span(0.0, 0.02, precision=4),
    )
    wraps_once: flag(
        "One Strand at a Time",
        "Passes an obstacle of several strands on one of them: the first whose line meets it, else the one "
        "that gets the least longer",
    )
    active_obstacle: integer("Obstacle", "Selected obstacle", min=0)
    rules: collection("Point Rules", type=PointRule)
    own_curve: pointer(
        "Own Curve",
        "The curve that a bake replaced by its own; empty: nothing is baked",
        type=bpy.types.Curve,
    )
