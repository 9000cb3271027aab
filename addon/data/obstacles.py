"""Data of an obstacle, on the object that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bpy.types import Context, PropertyGroup

from . import callbacks
from .properties import angles, choice, flag, length, lengths

_ACROSS, _ALONG, _TURNING = (
    ("shorter", "+x", "-x", "+y", "-y"),
    ("+z", "-z"),
    ("counterclockwise", "clockwise"),
)


@dataclass(frozen=True)
class Shape:
    """One entry of the menu of shapes.

    Attributes:
        name: as in physics.muscles.obstacles.REGISTRY. number: what files store; it never changes.
        settings: properties of `ObstacleProperties` that the panel shows for it. sides: on which muscles may pass.
        arguments: names of settings in the class of physics, where they differ.
    """

    name: str
    number: int
    label: str
    description: str
    settings: tuple[str, ...]
    sides: tuple[str, ...] = (*_ACROSS, *_ALONG)
    arguments: Mapping[str, str] = field(default_factory=dict)


SHAPES = {
    each.name: each
    for each in (
        Shape("sphere", 0, "Sphere", "A ball", ("radius",)),
        Shape(
            "cylinder",
            1,
            "Cylinder",
            "A cylinder about the object's z axis",
            ("radius", "length"),
            (*_ACROSS, *_TURNING),
        ),
        Shape(
            "sphere_capped_cylinder",
            2,
            "Capsule",
            "A cylinder about the z axis with round ends",
            ("radius", "length"),
            (*_ACROSS, *_ALONG, *_TURNING),
        ),
        Shape("ellipsoid", 3, "Ellipsoid", "An ellipsoid along the object's axes", ("radii",)),
        Shape(
            "torus",
            4,
            "Torus",
            "A ring about the z axis; the muscle runs through its hole",
            ("major_radius", "radius"),
            ("shorter",),
            {"radius": "minor_radius"},
        ),
        Shape(
            "double_cylinder",
            5,
            "Double Cylinder",
            "Two cylinders without ends, which the muscle wraps over in turn",
            ("radius", "second_radius", "second_place", "second_turn"),
            (*_ACROSS, *_TURNING),
        ),
    )
}
#: items of an EnumProperty
SHAPE_ITEMS = tuple((each.name, each.label, each.description, each.number) for each in SHAPES.values())
SIDES = (
    ("shorter", "Shorter Way", "The way around that is shorter", 0),
    ("+x", "+X", "Bulges towards +X of the obstacle", 1),
    ("-x", "-X", "Bulges towards -X of the obstacle", 2),
    ("+y", "+Y", "Bulges towards +Y of the obstacle", 3),
    ("-y", "-Y", "Bulges towards -Y of the obstacle", 4),
    ("+z", "+Z", "Bulges towards +Z of the obstacle", 5),
    ("-z", "-Z", "Bulges towards -Z of the obstacle", 6),
    ("counterclockwise", "Counterclockwise", "About z of a cylinder or capsule, from origin to insertion", 7),
    ("clockwise", "Clockwise", "About z of a cylinder or capsule, from origin to insertion", 8),
)


def _reshape(self: "ObstacleProperties", _context: Context) -> None:
    """Update the mesh to the settings."""
    if self.enabled:
        callbacks.call().obstacle_changed(self.id_data)


class ObstacleProperties(PropertyGroup):
    """A surface that muscles wrap over, fixed to the parent of the object."""

    enabled: flag("Obstacle", "Muscles may wrap over this object")
    shape: choice("Shape", "Shape of the surface", items=SHAPE_ITEMS, update=_reshape)
    radius: length("Radius", "Radius; of a torus, of its tube", default=0.03, min=1e-6, update=_reshape)
    major_radius: length(
        "Ring Radius",
        "Of a torus, the radius of the tube's centre line",
        default=0.06,
        min=1e-6,
        update=_reshape,
    )
    length: length("Length", "Along z. 0: a cylinder without ends", default=0.15, min=0.0, update=_reshape)
    radii: lengths(
        "Semi-Axes", "Of an ellipsoid along x, y and z", default=(0.03, 0.03, 0.05), min=1e-6, update=_reshape
    )
    side: choice(
        "Side",
        "Side on which muscles pass; a side that the shape does not have means the shorter way",
        items=SIDES,
    )
    always_side: flag(
        "Always",
        "Muscles pass on this side wherever they begin and end, even where a straight line misses the obstacle",
    )
    second_radius: length(
        "Second Radius",
        "Of a double cylinder, the radius of the second one",
        default=0.03,
        min=1e-6,
        update=_reshape,
    )
    second_place: lengths(
        "Second Place",
        "Of a double cylinder, position of the second one's middle relative to the first",
        default=(0.0, 0.0, 0.1),
        update=_reshape,
    )
    second_turn: angles(
        "Second Turn",
        "Of a double cylinder, rotation of the second one relative to the first, about x, y and z",
        update=_reshape,
    )
    second_side: choice(
        "Second Side", "Of a double cylinder, side on which muscles pass the second one", items=SIDES
    )
