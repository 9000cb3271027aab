"""Settings of a fit, stored on a joint and repeated as properties of the operators.

As properties of an operator they appear in Adjust Last Operation (F9), where each change fits again.
"""

from typing import Any

from bpy.types import UILayout

from .joint_shape import on_change
from .properties import angle, choice, factor, flag, integer, length, number, span, text, vector

ENDS = (
    ("FREE", "Free", "As the keys have it"),
    ("STRAIGHT", "Straight", "The motion ends as a single screw: no curvature there"),
)


class CommonWishes:
    """Settings of any fit."""

    keys: choice(
        "Keys",
        "Which keys of the child are fitted",
        items=(
            ("ALL", "All", "Every key of its location and rotation"),
            ("SELECTED", "Selected", "Those that are selected in the Timeline or another animation editor"),
            ("PREVIEW", "Preview Range", "Those inside the preview range of the scene"),
            (
                "ONE_WAY",
                "One Way",
                "For a curve: of a motion to and fro the keys from one end to the other; else all",
            ),
        ),
    )
    smoothing: factor(
        "Smoothing",
        "0 follows the keys; towards 1 the joint gets smoother and takes noise out of them",
        default=0.0,
        max=0.999999,
        precision=3,
    )
    metric: choice(
        "Error Metric",
        "Relative weight of rotation and translation",
        items=(
            ("LENGTH", "Length Scale", "One length counts as much as one radian"),
            ("WEIGHTS", "Weights", "A weight for rotation and one for translation"),
            (
                "BODY",
                "Moving Body",
                "By the mass and inertia of the moving body: differences are measured by kinetic energy",
            ),
        ),
    )
    length_scale: length(
        "Length Scale",
        "Length that counts as much as one radian in the fit. 0: the spread of the keyed poses",
        min=0.0,
    )
    rotation_weight: number(
        "Rotation Weight", "Weight of a squared difference of one radian", default=1.0, min=1e-9
    )
    translation_weight: number(
        "Translation Weight",
        "Weight of a squared difference of one metre; 100 has 10 cm count as one radian",
        default=100.0,
        min=1e-9,
    )


class CurveWishes:
    """Settings of a fit of a curve."""

    frames_by: choice(
        "Frames by",
        "How the number of control points is chosen",
        items=(
            ("NUMBER", "Number", "The number below"),
            (
                "TOLERANCE",
                "Tolerance",
                "The fewest control points that keep every key within a distance and an angle",
            ),
        ),
    )
    num_frames: integer(
        "Control Points",
        "How many control points the curve gets: more follow the keys more closely",
        **span(4, 40, 1000, default=8),
    )
    within_distance: length(
        "Within", "No key may lie farther from the curve", default=0.001, min=1e-9, precision=5
    )
    within_angle: angle(
        "Within Angle", "No key may be turned farther against the curve", default=0.0174533, min=1e-9
    )
    robust: choice(
        "Outliers",
        "How to treat keys far from the rest",
        items=(
            ("NONE", "Keep All", "Every key counts alike"),
            ("HUBER", "Weaken", "Keys far from the curve have a bounded influence (Huber)"),
            ("TUKEY", "Ignore", "Keys far from the curve have no influence (Tukey)"),
        ),
    )
    first_end: choice("First End", "How the curve begins", items=ENDS)
    last_end: choice("Last End", "How the curve ends", items=ENDS)
    coordinate: choice(
        "Coordinate",
        "Meaning of the curve's slider",
        items=(
            ("PARAMETER", "Natural", "Follows the change of pose roughly, evenly between keys"),
            ("ARC_LENGTH", "Arc Length", "Follows the change of pose exactly, everywhere on the curve"),
            ("ANGLE", "Angle", "The angle that the child has turned about an axis, such as flexion"),
        ),
        update=on_change,
    )
    angle_axis: vector(
        "About",
        "Axis of the angle, in the joint's frame",
        default=(0.0, 1.0, 0.0),
        subtype="XYZ",
        update=on_change,
    )


class SurfaceWishes:
    """Settings of a fit of a surface."""

    rows: integer(
        "Rows", "Control points of the surface in its first direction", default=5, min=4, soft_max=20, max=200
    )
    columns: integer(
        "Columns", "Control points of the surface in its second direction", **span(4, 20, 200, default=5)
    )
    parameters: choice(
        "Places",
        "Where on the surface each key lies",
        items=(
            ("FOUND", "Find", "Found by the fit: neighbours in pose become neighbours on the surface"),
            ("PROPERTIES", "Two Properties", "Read from two properties, animated together with the child"),
        ),
    )
    parameter_1: text(
        "First",
        "Custom property of the child (or a path like location[0]) with the first coordinate at each key. "
        "Where the surface closes it is an angle: a full turn comes back",
        default="q_1",
    )
    parameter_2: text(
        "Second",
        "Custom property of the child (or a path like location[1]) with the second coordinate at each key. "
        "Where the surface closes it is an angle: a full turn comes back",
        default="q_2",
    )
    choose_sequence: flag(
        "Choose Angles",
        "Choose the three axes of the surface's angles that stay farthest from gimbal lock; otherwise keep those "
        "of the joint",
        default=True,
    )


CURVE = (CommonWishes, CurveWishes)
SURFACE = (CommonWishes, SurfaceWishes)


def names(groups: tuple[type, ...]) -> list[str]:
    """Names of the properties of groups of settings."""
    return [name for group in groups for name in group.__annotations__]


def values(source: Any, groups: tuple[type, ...]) -> dict[str, Any]:
    """Copies of the settings of a joint or an operator, as plain values."""
    found = {}
    for name in names(groups):
        value = getattr(source, name)
        found[name] = value if isinstance(value, (bool, int, float, str)) else tuple(value)
    return found


def store(target: Any, wishes: dict[str, Any]) -> None:
    """Write settings to a joint or an operator, only those that differ: unset properties stay unset."""
    for name, value in wishes.items():
        present = getattr(target, name)
        if (present if isinstance(present, (bool, int, float, str)) else tuple(present)) != value:
            setattr(target, name, value)


def redoable(*groups: type) -> dict[str, Any]:
    """Annotations for an operator: settings that it does not keep between runs, since they would hide the joint's."""
    result = {}
    for group in groups:
        for name, each in group.__annotations__.items():
            keywords = {
                key: value
                for key, value in each.keywords.items()
                if key not in {"attr", "override", "update"}
            }
            result[name] = each.function(**keywords, options={"SKIP_SAVE"})
    return result


def draw(layout: UILayout, source: Any, surface: bool) -> None:
    """Draw the settings that apply: of a joint in the panel, of an operator in Adjust Last Operation."""
    layout.prop(source, "keys")
    if surface:
        layout.prop(source, "rows")
        layout.prop(source, "columns")
        layout.prop(source, "parameters")
        if source.parameters == "PROPERTIES":
            layout.prop(source, "parameter_1")
            layout.prop(source, "parameter_2")
        layout.prop(source, "choose_sequence")
    else:
        layout.prop(source, "frames_by")
        if source.frames_by == "NUMBER":
            layout.prop(source, "num_frames")
        else:
            layout.prop(source, "within_distance")
            layout.prop(source, "within_angle")
    layout.prop(source, "smoothing")
    layout.prop(source, "metric")
    if source.metric == "LENGTH":
        layout.prop(source, "length_scale")
    elif source.metric == "WEIGHTS":
        layout.prop(source, "rotation_weight", text="Rotation")
        layout.prop(source, "translation_weight", text="Translation")
    if not surface:
        layout.prop(source, "robust")
        layout.prop(source, "first_end")
        layout.prop(source, "last_end")
        layout.prop(source, "coordinate")
        if source.coordinate == "ANGLE":
            layout.prop(source, "angle_axis")
