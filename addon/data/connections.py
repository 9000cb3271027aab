"""Data of a connection, on the Empty that is its frame: a constraint between bodies, a spring, or ground."""

from bpy.types import Object, PropertyGroup

from .body_reference import BodyReference, is_joint
from .connection_kinds import items
from .properties import (
    choice,
    collection,
    factor,
    flag,
    integer,
    length,
    lengths,
    number,
    pointer,
    span,
    text,
    vector,
)


class CornerProperties(PropertyGroup):
    """One corner of a bent plane."""

    place: lengths(
        "Corner", "Along the Empty's x and z. The normal is to the left of the line, seen against y", size=2
    )


class GroundProperties(PropertyGroup):
    """Ground under points of a body; all figures in SI."""

    surface: pointer(
        "Surface", "Object whose x-y plane is the ground. Empty: this Empty's own plane", type=Object
    )
    points: choice(
        "Points",
        "Which points of the body touch the ground",
        items=(
            (
                "EXTREME",
                "Outermost",
                "Vertices of the body's mesh that stick out farthest, or both ends of a bone",
                0,
            ),
            ("GROUP", "Vertex Group", "Vertices of the body's mesh in a vertex group", 1),
            ("ORIGIN", "Origin", "The body's origin alone", 2),
            ("END", "End", "This ground's End, an Empty on the body", 3),
        ),
    )
    num_points: integer(
        "At Most",
        "Number of directions in which the outermost vertex is sought",
        **span(1, 200, 2000, default=32),
    )
    vertex_group: text("Group", "Vertex group whose vertices touch the ground")
    radius: length("Radius", "Radius of a ball about each point, which touches instead of the point", min=0.0)
    contact: choice(
        "Contact",
        "What happens where a point meets the plane",
        items=(
            ("RIGID", "Hard", "The plane does not give way: points stop on it, or bounce", 0),
            ("SOFT", "Soft", "The plane gives way like a spring with a damper: sand, mats, soles", 1),
            ("BALL", "Ball", "A ball of the radius about each point gives way, after Hertz", 2),
        ),
    )
    restitution: factor(
        "Bounce", "Share of the speed that is left after a hit: 0 stops dead, 1 loses nothing"
    )
    stiffness: number(
        "Stiffness a",
        "Force against sinking in: N for each metre of depth, raised to the exponent. A point sinks "
        "about weight / stiffness",
        **span(1e-6, 1e6, default=2e4),
    )
    exponent: number(
        "Exponent b",
        "1: the force grows with the depth; more: softer at first, harder in the depth",
        **span(1.0, 3.0, default=1.0),
    )
    damping: number(
        "Damping d",
        "Force against the speed of sinking in: N·s a metre. 0 bounces, much does not",
        **span(0.0, 1e4, default=200.0),
    )
    friction: number(
        "Friction",
        "Friction's share of the pressing force: 0 ice, 0.5 wood, 1 rubber",
        **span(0.0, 2.0, default=0.5),
    )
    smooth_speed: number(
        "Creep Speed",
        "Below this sliding speed, in metres a second, friction fades; a body that should stick creeps "
        "more slowly than this",
        **span(1e-6, 0.1, default=0.01, precision=4),
    )
    law: text(
        "Law",
        "Of a ball: its dissipation, frictions and other figures by their names in physics, as a JSON object",
    )


class CouplingProperties(PropertyGroup):
    """Which coordinates a coupling connects."""

    joint: pointer("Joint", "Joint that follows", type=Object, poll=is_joint)
    coordinate: integer("Coordinate", "Which of its coordinates follows, from 1", default=1, min=1)
    leader: pointer("Follows", "Joint that leads", type=Object, poll=is_joint)
    leader_coordinate: integer("Coordinate", "Which of its coordinates leads, from 1", default=1, min=1)
    ratio: number(
        "Ratio",
        "How far it moves when the other moves by 1 (radians, metres); negative: in the opposite direction",
        default=1.0,
        precision=4,
    )
    curve: text(
        "Curve",
        "Function of the other's value times the ratio, as a JSON object of physics; empty: the value itself",
    )


class ConnectionProperties(PropertyGroup):
    """A constraint between two bodies beside the joints, a spring, or ground."""

    enabled: flag("Connection", "This Empty is a constraint, spring or ground")
    active: flag("In Use", "Off: simulations leave it out", default=True)
    kind: choice("Type", "Kind of connection between the two bodies", items=items())
    to_world: flag("Hold to World", "The other side is the world itself, not a body")
    body: pointer("Body", "Body that is connected", type=BodyReference)
    other: pointer("Other", "Body on the other side, which carries this Empty", type=BodyReference)
    end: pointer(
        "End",
        "Empty on the body that marks its point; without one the body's origin, or for planes the place "
        "of this Empty",
        type=Object,
    )
    unilateral: flag(
        "One-Sided",
        "The point may leave on the side of the normal, but not pass through; otherwise it stays on the "
        "plane",
    )
    sense: choice(
        "Acts As",
        "Which distances it prevents",
        items=(
            ("rod", "Rod", "The distance stays as it is", 0),
            ("rope", "Rope", "No farther than the length", 1),
            ("strut", "Strut", "No nearer than the length", 2),
        ),
    )
    as_placed: flag(
        "Length as Placed",
        "Its length (of a spring, its rest length) is the distance of its ends at the first frame",
        default=True,
    )
    own_places: flag(
        "Own Places",
        "This Empty and its end are held together, wherever they are at the first frame. Off: what is together there "
        "stays so",
    )
    length: length("Length", "Length; of a spring, its rest length", default=1.0, min=0.0)
    stiffness: number(
        "Stiffness [N/m]", "Force for each metre beyond the rest length", **span(0.0, 1e5, default=100.0)
    )
    damping: number("Damping [Ns/m]", "Force against the rate of its length", **span(0.0, 1e3, default=1.0))
    turn_stiffness: vector(
        "Turn Stiffness",
        "Moment about x, y and z of this Empty: N·m per radian",
        default=(10.0,) * 3,
        min=0.0,
    )
    turn_damping: vector(
        "Turn Damping",
        "Moment against turning about x, y and z: N·m·s per radian",
        default=(0.1,) * 3,
        min=0.0,
    )
    shift_stiffness: vector(
        "Shift Stiffness", "Force along x, y and z of this Empty: N per metre", default=(1e4,) * 3, min=0.0
    )
    shift_damping: vector(
        "Shift Damping", "Force against moving along x, y and z: N·s per metre", default=(100.0,) * 3, min=0.0
    )
    profile: pointer(
        "Profile",
        "Curve object whose points, in this Empty's x-z plane, replace the list of corners",
        type=Object,
        poll=lambda _, item: item.type == "CURVE",
    )
    corners: collection("Corners", type=CornerProperties)
    active_corner: integer("Corner", "Selected corner", min=0)
    coupling: pointer("Coupling", type=CouplingProperties)
    ground: pointer("Ground", type=GroundProperties)
