"""Kinds of connections between two bodies other than joints: their names and settings."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """One entry of the menu.

    Attributes:
        name: as in physics.constraints.REGISTRY, or "spring", "ground" or "bushing".
        number: stored in files; it never changes. icon: its name in Blender.
        settings: properties of `ConnectionProperties` that the panel shows for it, beside the bodies.
        has_end: whether it has a point on the body that may differ from its Empty.
        sided: whether the other body carries a surface that points of the body touch; then the two cannot be swapped.
    """

    name: str
    number: int
    label: str
    icon: str
    description: str
    settings: tuple[str, ...] = ()
    has_end: bool = False
    sided: bool = False


#: kinds that hold what is together at the first frame, or two places of their own
JOINED = frozenset({"point", "hinge", "weld", "bushing"})


def has_end(settings: Any) -> bool:
    """Whether a connection has an Empty on its body: its kind has one, it joins own places, or the end touches."""
    touches = settings.kind == "ground" and settings.ground.points == "END"
    return KINDS[settings.kind].has_end or joins_places(settings) or touches


def joins_places(settings: Any) -> bool:
    """Whether a connection joins two places of their own."""
    return settings.kind in JOINED and bool(settings.own_places)


_KINDS = (
    Kind(
        "point",
        0,
        "Point",
        "SPHERE",
        "A point of one body stays on a point of the other: a ball joint that closes a loop",
    ),
    Kind(
        "hinge",
        1,
        "Hinge",
        "EMPTY_SINGLE_ARROW",
        "Two bodies turn about one axis, the Empty's z: a hinge that closes a loop",
    ),
    Kind("weld", 2, "Weld", "LOCKED", "Two bodies keep the relative pose of the first frame"),
    Kind(
        "distance",
        3,
        "Rod, Rope, Strut",
        "DRIVER_DISTANCE",
        "Two points keep a distance, or a largest or smallest one",
        ("sense", "as_placed", "length"),
        has_end=True,
    ),
    Kind(
        "planar_connector",
        4,
        "Plane",
        "MESH_PLANE",
        "A point of the body stays on the Empty's x-y plane, or in front of it",
        ("unilateral",),
        has_end=True,
        sided=True,
    ),
    Kind(
        "segmented_planar_connector",
        5,
        "Bent Plane",
        "IPO_LINEAR",
        "A point of the body stays on a line of corners in the Empty's x-z plane, drawn out along y",
        ("unilateral", "profile", "corners"),
        has_end=True,
        sided=True,
    ),
    Kind(
        "coupling",
        6,
        "Gear, Coupling",
        "SETTINGS",
        "A coordinate of one joint follows a coordinate of another: gears, fingers that bend together",
        (),
    ),
    Kind(
        "spring",
        7,
        "Spring",
        "FORCE_HARMONIC",
        "A spring with a damper between two points: ligaments, tendons, suspensions",
        ("stiffness", "damping", "as_placed", "length"),
        has_end=True,
    ),
    Kind(
        "ground",
        8,
        "Ground",
        "VIEW_PERSPECTIVE",
        "A plane that pushes points of the body back and rubs on them",
        (),
        sided=True,
    ),
    Kind(
        "bushing",
        9,
        "Bushing",
        "FORCE_CHARGE",
        "Springs and dampers hold two frames together, in every direction and turn: disks of the spine, rubber mounts",
        ("turn_stiffness", "turn_damping", "shift_stiffness", "shift_damping"),
    ),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}


def items() -> tuple[tuple[str, str, str, str, int], ...]:
    """The entries for an EnumProperty."""
    return tuple((kind.name, kind.label, kind.description, kind.icon, kind.number) for kind in _KINDS)
