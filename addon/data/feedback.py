"""Feedback laws of a joint: what each adds to a torque or an excitation in every step, by a signal of the motion."""

from bpy.types import Object, PropertyGroup

from .body_reference import BodyReference, is_joint
from .properties import (
    angle_view,
    choice,
    flag,
    integer,
    length_view,
    number,
    pointer,
    span,
    text,
    vector,
)

CHANGES = (
    ("TORQUE", "Torque", "Torque (N·m) or force (N) on a coordinate of this joint", 0),
    ("EXCITATION", "Excitation", "Excitation of a muscle", 1),
)
SIGNALS = (
    ("COORDINATE", "Coordinate", "Value of a coordinate of this or another joint", 0),
    ("POINT", "Point", "Place of an object or bone along a direction", 1),
    ("CENTER", "Mass Center", "Place of the mass center of all simulated bodies along a direction", 2),
    ("TOUCH", "Touch", "Touch of a body with soft ground: 0 in the air, 1 from Full Load on", 3),
)
#: signals along a direction
ALONG = ("POINT", "CENTER")


def is_muscle(_self: PropertyGroup, candidate: Object) -> bool:
    """Poll of pointers to muscles."""
    return candidate.type == "CURVE" and bool(candidate.condyle.muscle.enabled)


class FeedbackLaw(PropertyGroup):
    """Adds gain × (signal − level) × touch of the gate to a torque or an excitation. All values are SI."""

    title: text("Name", "Name of the law in the panel")
    active: flag("Use", "Simulations take this law into account", default=True)
    changes: choice("Changes", "What the law adds to", items=CHANGES)
    coordinate: integer(
        "Coordinate", "Which coordinate of this joint gets the torque, from 1", default=1, min=1
    )
    muscle: pointer("Muscle", "Muscle that is excited", type=Object, poll=is_muscle)
    signal: choice("Signal", "What the law measures, at the beginning of each step", items=SIGNALS)
    rate: flag("Rate", "The signal is how fast that changes, per second: such a law damps")
    signal_joint: pointer(
        "Joint", "Joint whose coordinate is measured. Empty: this joint", type=Object, poll=is_joint
    )
    signal_coordinate: integer("Coordinate", "Which of its coordinates is measured, from 1", default=1, min=1)
    point: pointer("Point", "Object or bone whose origin is measured, such as an Empty", type=BodyReference)
    origin: pointer(
        "From", "Object or bone from whose origin it is measured. Empty: the world's", type=BodyReference
    )
    direction: vector(
        "Along", "Direction in the world's axes; its length does not count", default=(0, 0, 1), subtype="XYZ"
    )
    gain: number(
        "Gain",
        "Torque (N·m), force (N) or excitation for each radian or metre (with Rate: per second) of the signal above "
        "the level, or for full touch. Negative: against it",
        default=-100.0,
        soft_min=-1e4,
        soft_max=1e4,
    )
    level: number(
        "Level",
        "Value of the signal at which the law adds nothing, in radians or metres, with Rate per second",
        precision=3,
    )
    level_angle: angle_view("level", "Level", "Value of the signal at which the law adds nothing")
    level_length: length_view("level", "Level", "Value of the signal at which the law adds nothing")
    gate: pointer(
        "Gate",
        "Body over soft ground whose touch multiplies the law: it acts while the body is loaded. Empty: it always acts",
        type=BodyReference,
    )
    load: number(
        "Full Load",
        "Force [N] of the ground on the body of the gate from which on the touch is 1",
        **span(1e-3, 1e3, default=100.0, precision=1),
    )
