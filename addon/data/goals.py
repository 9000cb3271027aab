"""Goals of bodies: what is wanted of them at a frame. Torques or excitations that meet them are searched for."""

from bpy.types import Object, PropertyGroup

from .properties import (
    angle_view,
    choice,
    collection,
    flag,
    integer,
    length,
    length_view,
    number,
    pointer,
    span,
    vector,
)

KINDS = (
    ("REACH", "Reach", "A point of the body is where the target is", "EMPTY_AXIS", 0),
    ("REST", "At Rest", "The body has no speed", "PAUSE", 1),
    ("POSE", "Pose", "A coordinate of the body's joint has a value", "POSE_HLT", 2),
    ("LOOK", "Look At", "An axis of the body points at the target", "HIDE_OFF", 3),
)
#: kinds with a target
AT_TARGETS = ("REACH", "LOOK")
AXES = ("X", "Y", "Z", "-X", "-Y", "-Z")


class GoalProperties(PropertyGroup):
    """What is wanted of a body at a frame."""

    active: flag("Use", "Solve Goals takes this goal into account", default=True)
    kind: choice("Goal", "What is wanted of the body", items=KINDS)
    frame: integer("Frame", "Frame at which the goal is to be met", default=1)
    target: pointer(
        "Target",
        "The body's point is to be at, or its axis to point at, the origin of this object, wherever it is then",
        type=Object,
    )
    use_tip: flag(
        "Tip",
        "The point is the tip: of a bone its tail, of a mesh the end opposite to the joint",
        default=True,
    )
    point: vector(
        "Point",
        "The point in the axes of the object or bone, from its origin",
        subtype="TRANSLATION",
        unit="LENGTH",
    )
    looks_along: choice(
        "Axis",
        "The axis of the object or bone that is to point at the target",
        items=tuple((name, name, f"The {name} axis", k) for k, name in enumerate(AXES)),
        default=1,
    )
    weight: number(
        "Weight", "How much the goal counts where not all goals can be met", **span(0.0, 10.0, default=1.0)
    )
    coordinate: integer(
        "Coordinate", "Which coordinate of the body's joint, from 0 in the order of its list", min=0
    )
    value: number("Value", "Of the coordinate at the frame, in radians or metres")
    value_angle: angle_view("value", "Value", "Of the coordinate at the frame")
    value_length: length_view("value", "Value", "Of the coordinate at the frame")


class GoalList(PropertyGroup):
    """The goals of a body."""

    rows: collection("Goals", type=GoalProperties)
    active_row: integer("Goal", "Selected goal", min=0)


class GoalSettings(PropertyGroup):
    """How torques or excitations for the goals, and torques for the keys of a scene, are searched for."""

    by: choice(
        "Move By",
        "What Solve Goals finds, and keys",
        items=(
            ("TORQUES", "Joint Torques", "Torques of the joints that carry the bodies with goals", 0),
            ("MUSCLES", "Muscles", "Excitations of the muscles that cross these joints", 1),
        ),
    )
    knots: integer(
        "Keys",
        "Keys of each torque or excitation from the first frame to that of the last goal, straight between them",
        **span(2, 20, 200, default=8),
    )
    steps: integer(
        "Steps per Frame",
        "Steps of the simulation in a frame, of the search and of the bake: it sets the scene's Time Step",
        **span(1, 40, 1000, default=8),
    )
    effort: number(
        "Effort",
        "How much small torques or excitations count against the goals: with more they are smaller, and goals are "
        "missed by more",
        **span(0.0, 100.0, default=0.1),
    )
    tolerance: length(
        "Tolerance",
        "A point that is farther from its target than this misses it",
        **span(1e-6, 1.0, default=1e-3, precision=4),
    )
    strength: number(
        "Strength",
        "Largest torque of each joint, as a share of what it needs in nine tenths of the keyed motion. 1: its hardest "
        "moments are cut; 0.5: half as strong; 5: almost no limit",
        **span(1e-3, 3.0, 1000.0, default=1.5),
    )
    spacing: integer(
        "Frames per Key",
        "Frames between two keys of a torque: with fewer the motion comes nearer to quick keys",
        **span(1, 6, 100, default=2),
    )
    far_off: length(
        "Far Off",
        "Nothing is written, until you accept it, where a body is farther than this from its keys (mean of its mass)",
        **span(1e-6, 1.0, default=0.05, precision=3),
    )
