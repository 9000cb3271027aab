"""The joint types of the menus: their names, settings and readings."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

Readings = tuple[tuple[str, str], ...]

_ROTATION_VECTOR: Readings = (("r_x", "rad"), ("r_y", "rad"), ("r_z", "rad"))
_POSITION: Readings = (("x", "m"), ("y", "m"), ("z", "m"))
_ANGLES: Readings = (("angle_1", "rad"), ("angle_2", "rad"), ("angle_3", "rad"))


@dataclass(frozen=True)
class JointType:
    """One entry of the menus.

    Attributes:
        name: as in physics.joints.REGISTRY. number: stored in files; it never changes.
        settings: properties of `JointShape` that the panel shows for it.
        readings: names and units as in the class of physics (a test compares them). For types whose readings depend
            on settings see `readings_of`.
    """

    name: str
    number: int
    label: str
    description: str
    settings: tuple[str, ...] = ()
    readings: Readings = ()


GROUPS: tuple[tuple[str, tuple[JointType, ...]], ...] = (
    (
        "Curves and Surfaces",
        (
            JointType(
                "spline_curve",
                0,
                "Spline Curve",
                "Moves along a smooth curve through control points: knees, jaws, beads on wires",
                ("frames_of",),
                (("q", "1"),),
            ),
            JointType(
                "spline_surface",
                18,
                "Spline Surface",
                "Slides over a smooth surface near a grid of control points, turning with it: shoulder blades",
                ("frames_of", "sequence", "rotation_first"),
            ),
            JointType(
                "elliptic",
                16,
                "Elliptic",
                "Slides along an ellipse in the x-y plane and turns with its tangent",
                ("semi_axes",),
                (("angle", "rad"),),
            ),
            JointType(
                "ellipsoid",
                17,
                "Ellipsoid",
                "Slides over an ellipsoid by longitude and latitude, and turns on it",
                ("semi_axes", "winging", "normal"),
                (("longitude", "rad"), ("latitude", "rad"), ("theta", "rad"), ("phi", "rad")),
            ),
            JointType(
                "scapulothoracic",
                20,
                "Scapulothoracic",
                "OpenSim's joint of a shoulder blade that glides over an ellipsoid, turns upward and wings",
                ("semi_axes", "winging_origin", "winging_direction"),
                (("abduction", "rad"), ("elevation", "rad"), ("upward_rotation", "rad"), ("winging", "rad")),
            ),
            JointType(
                "constant_curvature",
                24,
                "Constant Curvature",
                "OpenSim's joint of a part of the spine: a rod along y that bends to an arc and twists",
                ("rod_length", "neutral"),
                (("about_x", "rad"), ("about_z", "rad"), ("twist", "rad")),
            ),
        ),
    ),
    (
        "Turning",
        (
            JointType("hinge", 1, "Hinge", "Turns about one axis", ("axis",), (("angle", "rad"),)),
            JointType(
                "universal", 5, "Universal", "Turns about two axes that meet", ("axis", "axis_2"), _ANGLES[:2]
            ),
            JointType(
                "skewed_universal",
                14,
                "Skewed Universal",
                "Turns about z, then about a second axis that is not square to it",
                ("skew",),
                (("roll", "rad"), ("pitch", "rad")),
            ),
            JointType(
                "euler",
                15,
                "Gimbal (Euler)",
                "Turns about a point; set by three angles one after the other, as roll, pitch and yaw are",
                ("sequence",),
                _ANGLES,
            ),
            JointType(
                "spherical",
                8,
                "Spherical (Ball)",
                "Turns about a point in every direction",
                ("ball_limit",),
                _ROTATION_VECTOR,
            ),
        ),
    ),
    (
        "Sliding",
        (
            JointType("slider", 2, "Slider", "Slides along one axis", ("axis",), (("distance", "m"),)),
            JointType(
                "planar_translation",
                12,
                "Planar Translation",
                "Slides in the x-y plane, does not turn",
                (),
                _POSITION[:2],
            ),
            JointType(
                "translational", 7, "Translational", "Slides in every direction, does not turn", (), _POSITION
            ),
        ),
    ),
    (
        "Turning and Sliding",
        (
            JointType(
                "helical",
                3,
                "Helical (Screw)",
                "Turns about one axis and advances along it, as a screw does",
                ("axis", "pitch"),
                (("angle", "rad"),),
            ),
            JointType(
                "cylindrical",
                4,
                "Cylindrical",
                "Turns about and slides along one axis",
                ("axis",),
                (("angle", "rad"), ("distance", "m")),
            ),
            JointType(
                "slotted_hinge",
                13,
                "Slotted Hinge",
                "Slides along x and turns about z: a pin in a slot",
                (),
                (("x", "m"), ("angle", "rad")),
            ),
            JointType(
                "planar",
                6,
                "Planar",
                "Slides in the x-y plane and turns about its normal",
                (),
                (*_POSITION[:2], ("angle", "rad")),
            ),
            JointType("free", 9, "Free", "Moves without constraints", ("rotation_first",)),
        ),
    ),
    (
        "Others",
        (
            JointType("composite", 11, "Composite", "Several joints in a row with no body between them"),
            JointType("fixed", 10, "Fixed (Solid)", "Does not move"),
            JointType(
                "custom",
                19,
                "Custom (OpenSim)",
                "Three rotations and three translations, each a function of a coordinate; comes by import",
                ("custom_text",),
            ),
            JointType(
                "reversed_hinge",
                21,
                "Reversed Hinge (ArtiSynth)",
                "Turns about z and counts clockwise: ArtiSynth's legacy revolute joint",
                (),
                (("angle", "rad"),),
            ),
            JointType(
                "roll_pitch",
                22,
                "Roll-Pitch (ArtiSynth)",
                "Roll and pitch of the parent as seen from the child: ArtiSynth's legacy joint",
                (),
                (("roll", "rad"), ("pitch", "rad")),
            ),
            JointType(
                "roll_pitch_yaw",
                23,
                "Roll-Pitch-Yaw (ArtiSynth)",
                "Roll, pitch and yaw of the parent as seen from the child: ArtiSynth's legacy joint",
                (),
                (("roll", "rad"), ("pitch", "rad"), ("yaw", "rad")),
            ),
        ),
    ),
)
TYPES = {each.name: each for _, group in GROUPS for each in group}
#: types that cannot be parts of a composite joint
WHOLE_ONLY = {"composite"}


def grouped_items(
    without: Collection[str] = (),
) -> list[tuple[str, str, str] | tuple[str, str, str, str, int]]:
    """Items of a stored EnumProperty, with a heading for each group."""
    items: list[Any] = []
    for heading, group in GROUPS:
        items.append(("", heading, ""))
        items += [
            (each.name, each.label, each.description, "NONE", each.number)
            for each in group
            if each.name not in without
        ]
    return items


def search_items(without: Collection[str] = ()) -> list[tuple[str, str, str, str, int]]:
    """Items of a search popup: the name with its group before it, which the search finds, too.

    Blender ranks text after the triangle higher: "surface" finds the spline surface first.
    """
    return [
        (each.name, f"{heading} \u25b8 {each.label}", each.description, "NONE", each.number)
        for heading, group in GROUPS
        for each in group
        if each.name not in without
    ]


def readings_of(shape: Any, joint: Any) -> list[tuple[str, str]]:
    """Names and units of the readings of a joint or a part of it.

    Args:
        shape: a `JointShape`, not of a composite. joint: JointProperties with the control frames that it uses.
    """
    if shape.type == "free":
        return list(
            (*_ROTATION_VECTOR, *_POSITION) if shape.rotation_first else (*_POSITION, *_ROTATION_VECTOR)
        )
    if shape.type == "spline_surface":
        return surface_readings(tuple(joint.grid), joint.moving)
    if shape.type == "spline_curve" and joint.fit.coordinate == "ANGLE":
        return [("q", "rad")]
    if shape.type == "custom":
        return custom_readings(shape.custom_text)
    return list(TYPES[shape.type].readings)


def grid_directions(grid: tuple[int, ...]) -> int:
    """Number of directions of a grid of control frames; the last ones may have one frame only."""
    return max([1, *(axis + 1 for axis in range(3) if grid[axis] > 1)])


def surface_readings(grid: tuple[int, ...], moving: bool) -> list[tuple[str, str]]:
    """Coordinates of a spline surface; the last is time if it moves."""
    count = grid_directions(grid)
    names = [(f"q_{number}", "1") for number in range(1, count + 1)]
    if moving and count > 1:
        names[-1] = ("time", "s")
    return names


def custom_readings(text: str) -> list[tuple[str, str]]:
    """Coordinates of a custom joint by its description; none if that is invalid."""
    try:
        described = json.loads(text)
        names = [str(name) for name in described["coordinates"]]
        units = [str(unit) for unit in described.get("units") or ["rad"] * len(names)]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    return list(zip(names, units))
