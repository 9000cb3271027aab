"""Functions that declare stored properties: all allow library overrides, many have a unit."""

from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    IntVectorProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Context

OVERRIDE = {"LIBRARY_OVERRIDABLE"}
GRAM_CENTIMETRE = 1e-7  # kg m², of g cm²
SELECTED = "_selected"


def _declared(function: Callable[..., Any], **usual: Any) -> Callable[..., Any]:
    """A function that declares a stored property, given its name, description, and options of `function` by keyword."""

    def declare(name: str, description: str = "", **options: Any) -> Any:
        return function(name=name, description=description, **{"override": OVERRIDE, **usual, **options})

    return declare


flag, flags = _declared(BoolProperty), _declared(BoolVectorProperty)
integer, integers = _declared(IntProperty), _declared(IntVectorProperty)
number, vector = _declared(FloatProperty), _declared(FloatVectorProperty)
text, choice, pointer = _declared(StringProperty), _declared(EnumProperty), _declared(PointerProperty)
collection = _declared(CollectionProperty, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
length = _declared(FloatProperty, subtype="DISTANCE", unit="LENGTH")
lengths = _declared(FloatVectorProperty, subtype="XYZ_LENGTH", unit="LENGTH")
angle = _declared(FloatProperty, subtype="ANGLE", unit="ROTATION")
angles = _declared(FloatVectorProperty, subtype="EULER", unit="ROTATION")
factor = _declared(FloatProperty, subtype="FACTOR", min=0.0, max=1.0)
seconds = _declared(FloatProperty, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE")


# Values are stored in SI (radians, metres, kg·m²). Views are second properties that show a stored one in the user's
# units, or in smaller ones; they store nothing.


def shown_by(name: str) -> str:
    """Name of the stored property that a view of this name shows; empty: it is not a view."""
    for ending in ("_angle", "_length", "_small", SELECTED):
        if name.endswith(ending):
            return name.removesuffix(ending)
    return ""


def angle_view(stored: str, name: str, description: str) -> Any:
    """A view of the stored SI angle `stored` in the scene's angle unit."""
    return angle(
        name,
        description,
        options=set(),
        get=lambda self: getattr(self, stored),
        set=lambda self, value: setattr(self, stored, value),
    )


def length_view(stored: str, name: str, description: str) -> Any:
    """A view of the stored SI length `stored` in the scene's length unit."""
    return length(
        name,
        description,
        options=set(),
        get=lambda self: getattr(self, stored) / _unit_scale(),
        set=lambda self, value: setattr(self, stored, value * _unit_scale()),
    )


def small_inertia_view(stored: str, name: str, description: str) -> Any:
    """A view of three stored moments [kg·m²] in g·cm²: fields have six decimals at most."""
    return vector(
        name,
        description,
        precision=6,
        options=set(),
        get=lambda self: tuple(value / GRAM_CENTIMETRE for value in getattr(self, stored)),
        set=lambda self, values: setattr(self, stored, [value * GRAM_CENTIMETRE for value in values]),
    )


def _unit_scale() -> float:
    return float(bpy.context.scene.unit_settings.scale_length)


def span(least: float, usual: float, most: float | None = None, **options: Any) -> dict[str, Any]:
    """Options of a number: its minimum, the maximum of its slider, and the maximum that can be typed; then others."""
    return {"min": least, "soft_max": usual, **({} if most is None else {"max": most}), **options}


def updating(update: Callable[[Any, Context], None]) -> Callable[[type], type]:
    """Decorator of a property group: each of its properties calls `update` when it changes."""

    def declare(cls: type) -> type:
        for declared in cls.__annotations__.values():
            declared.keywords["update"] = update
        return cls

    return declare
