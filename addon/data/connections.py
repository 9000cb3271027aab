"""Data of a connection, on the Empty that is its frame: a constraint between bodies, a spring, or ground."""

from typing import Any

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Object, PropertyGroup

from .connection_kinds import items
from .property_options import OVERRIDE, OVERRIDE_INSERT, BodyReference


def _is_curve(_self: Any, candidate: Any) -> bool:
    return candidate.type == "CURVE"


def _is_joint(_self: Any, candidate: Any) -> bool:
    return candidate.type == "EMPTY" and candidate.condyle.joint.enabled


def show_chosen(self: Any, context: Any) -> None:
    """A click on a connection in the list makes it the active object."""
    objects = context.scene.objects
    if not 0 <= self.active_connection < len(objects) or context.mode != "OBJECT":
        return
    chosen = objects[self.active_connection]
    if chosen.condyle.connection.enabled and chosen.name in context.view_layer.objects:
        for item in context.selected_objects:
            item.select_set(False)
        chosen.select_set(True)
        context.view_layer.objects.active = chosen


class CornerProperties(PropertyGroup):
    """One corner of a bent plane."""

    place: FloatVectorProperty(
        name="Corner",
        description="Along the Empty's x and z. The normal is to the left of the line, seen against y",
        size=2,
        subtype="XYZ_LENGTH",
        unit="LENGTH",
        override=OVERRIDE,
    )


class GroundProperties(PropertyGroup):
    """Ground under points of a body; all figures in SI."""

    surface: PointerProperty(
        name="Surface",
        description="Object whose x-y plane is the ground. Empty: this Empty's own plane",
        type=Object,
        override=OVERRIDE,
    )
    points: EnumProperty(
        name="Points",
        description="Which points of the body touch the ground",
        items=(
            ("EXTREME", "Outermost", "Vertices of the body's mesh that stick out farthest", 0),
            ("GROUP", "Vertex Group", "Vertices of the body's mesh in a vertex group", 1),
            ("ORIGIN", "Origin", "The body's origin alone", 2),
        ),
        override=OVERRIDE,
    )
    num_points: IntProperty(
        name="At Most",
        description="In how many directions an outermost vertex is looked for",
        default=32,
        min=1,
        soft_max=200,
        max=2000,
        override=OVERRIDE,
    )
    vertex_group: StringProperty(
        name="Group", description="Vertex group whose vertices touch the ground", override=OVERRIDE
    )
    radius: FloatProperty(
        name="Radius",
        description="Radius of a ball about each point, which touches instead of it",
        subtype="DISTANCE",
        unit="LENGTH",
        min=0.0,
        override=OVERRIDE,
    )
    contact: EnumProperty(
        name="Contact",
        description="What happens where a point meets the plane",
        items=(
            ("RIGID", "Hard", "The plane does not give way: points stop on it, or bounce", 0),
            ("SOFT", "Soft", "The plane gives way like a spring with a damper: sand, mats, soles", 1),
        ),
        override=OVERRIDE,
    )
    restitution: FloatProperty(
        name="Bounce",
        description="Share of the speed that is left after a hit: 0 stops dead, 1 loses nothing",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDE,
    )
    stiffness: FloatProperty(
        name="Stiffness a",
        description="Force against sinking in: N for each metre of depth, raised to the exponent. A point sinks "
        "about weight / stiffness",
        default=2e4,
        min=1e-6,
        soft_max=1e6,
        override=OVERRIDE,
    )
    exponent: FloatProperty(
        name="Exponent b",
        description="1: the force grows with the depth; more: softer at first, harder in the depth",
        default=1.0,
        min=1.0,
        soft_max=3.0,
        override=OVERRIDE,
    )
    damping: FloatProperty(
        name="Damping d",
        description="Force against the speed of sinking in: N·s a metre. 0 bounces, much does not",
        default=200.0,
        min=0.0,
        soft_max=1e4,
        override=OVERRIDE,
    )
    friction: FloatProperty(
        name="Friction",
        description="Friction's share of the pressing force: 0 ice, 0.5 wood, 1 rubber",
        default=0.5,
        min=0.0,
        soft_max=2.0,
        override=OVERRIDE,
    )
    smooth_speed: FloatProperty(
        name="Creep Speed",
        description="Below this sliding speed, in metres a second, friction fades, so that what should stand still "
        "creeps slower than this",
        default=0.01,
        min=1e-6,
        soft_max=0.1,
        precision=4,
        override=OVERRIDE,
    )


class CouplingProperties(PropertyGroup):
    """Which coordinate follows which."""

    joint: PointerProperty(
        name="Joint", description="Joint that follows", type=Object, poll=_is_joint, override=OVERRIDE
    )
    coordinate: IntProperty(
        name="Coordinate",
        description="Which of its coordinates follows, from 1",
        default=1,
        min=1,
        override=OVERRIDE,
    )
    leader: PointerProperty(
        name="Follows", description="Joint that leads", type=Object, poll=_is_joint, override=OVERRIDE
    )
    leader_coordinate: IntProperty(
        name="Coordinate",
        description="Which of its coordinates leads, from 1",
        default=1,
        min=1,
        override=OVERRIDE,
    )
    ratio: FloatProperty(
        name="Ratio",
        description="How far the one goes while the other goes by 1 (radians, metres); below 0 the other way",
        default=1.0,
        precision=4,
        override=OVERRIDE,
    )


class ConnectionProperties(PropertyGroup):
    """A constraint between two bodies beside the joints, a spring, or ground."""

    enabled: BoolProperty(
        name="Connection", description="This Empty is a constraint, spring or ground", override=OVERRIDE
    )
    active: BoolProperty(
        name="In Use",
        description="Off: simulations leave it out",
        default=True,
        override=OVERRIDE,
    )
    kind: EnumProperty(
        name="Type", description="What is between the two bodies", items=items(), override=OVERRIDE
    )
    to_world: BoolProperty(
        name="Hold to World",
        description="The other side is the world itself, not a body",
        override=OVERRIDE,
    )
    body: PointerProperty(
        name="Body", description="Body that it holds", type=BodyReference, override=OVERRIDE
    )
    other: PointerProperty(
        name="Other",
        description="Body that it is fastened to, and that carries this Empty",
        type=BodyReference,
        override=OVERRIDE,
    )
    end: PointerProperty(
        name="End",
        description="Empty on the body that is its point there; without one it is the body's origin, or for planes "
        "where this Empty stands",
        type=Object,
        override=OVERRIDE,
    )
    unilateral: BoolProperty(
        name="One-Sided",
        description="The point may leave to the side of the normal, but not go behind; otherwise it stays on it",
        override=OVERRIDE,
    )
    sense: EnumProperty(
        name="Acts As",
        description="What it keeps the distance from",
        items=(
            ("rod", "Rod", "The distance stays as it is", 0),
            ("rope", "Rope", "No farther than the length", 1),
            ("strut", "Strut", "No nearer than the length", 2),
        ),
        override=OVERRIDE,
    )
    as_placed: BoolProperty(
        name="Length as Placed",
        description="Its length, of a spring the one at rest, is the distance of its ends at the first frame",
        default=True,
        override=OVERRIDE,
    )
    length: FloatProperty(
        name="Length",
        description="Length; of a spring the one at which it does not pull",
        subtype="DISTANCE",
        unit="LENGTH",
        default=1.0,
        min=0.0,
        override=OVERRIDE,
    )
    stiffness: FloatProperty(
        name="Stiffness [N/m]",
        description="Force for each metre that it is longer than at rest",
        default=100.0,
        min=0.0,
        soft_max=1e5,
        override=OVERRIDE,
    )
    damping: FloatProperty(
        name="Damping [Ns/m]",
        description="Force against the speed at which its length changes",
        default=1.0,
        min=0.0,
        soft_max=1e3,
        override=OVERRIDE,
    )
    profile: PointerProperty(
        name="Profile",
        description="Curve object whose points are the corners, seen in this Empty's x-z plane; in place of the list",
        type=Object,
        poll=_is_curve,
        override=OVERRIDE,
    )
    corners: CollectionProperty(type=CornerProperties, name="Corners", override=OVERRIDE_INSERT)
    active_corner: IntProperty(name="Corner", description="Corner at hand", min=0, override=OVERRIDE)
    coupling: PointerProperty(type=CouplingProperties, name="Coupling", override=OVERRIDE)
    ground: PointerProperty(type=GroundProperties, name="Ground", override=OVERRIDE)
