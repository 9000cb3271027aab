"""Data of a body, on objects and pose bones."""

from typing import Any

import bpy
from bpy.types import Object, PropertyGroup

from .live import turned
from .properties import choice, factor, flag, length, number, pointer, small_inertia_view, span, vector
from .references import selected_bodies
from .starting import own_source


def selected_view(stored: str, name: str, description: str, **options: Any) -> Any:
    """A view of a number of a spring, or of the body that has it, which sets that of all selected links of chains."""

    def set_all(self: Any, value: float) -> None:
        setattr(self, stored, value)
        for body in selected_bodies(bpy.context):
            settings = body.data.body
            if settings.spring.enabled and body.object.library is None:
                setattr(settings.spring if hasattr(settings.spring, stored) else settings, stored, value)

    return number(
        name, description, options=set(), get=lambda self: getattr(self, stored), set=set_all, **options
    )


#: limits of what chains are tuned by
FREQUENCY, RATIO = span(0.01, 10.0, 1000.0), span(0.0, 1.0, 100.0)
SHARE, AIR = span(-10.0, 1.0, 10.0, soft_min=0.0), span(0.0, 10.0, 100.0)
ALL = ". Sets all selected links, and acts at once on a live run"


class WobblingProperties(PropertyGroup):
    """The share of a body's mass that wobbles on its skeleton."""

    enabled: flag(
        "Soft Parts",
        "A share of the mass (muscles, fat, skin) is softly attached to the bone and wobbles, which "
        "makes impacts softer. It is not drawn",
    )
    share: factor("Share", "Share of the body's mass that wobbles", default=0.6)
    axis: vector(
        "Axis",
        "Direction along the bone, in the axes of the object or bone",
        default=(0.0, 0.0, 1.0),
        subtype="XYZ",
    )
    sag_along: length(
        "Sag Along",
        "How far the soft parts sag along the axis under their own weight; less is stiffer",
        default=0.01,
        min=1e-6,
    )
    sag_across: length(
        "Across",
        "How far the soft parts sag across the axis under their own weight; less is stiffer",
        default=0.01,
        min=1e-6,
    )
    damping: number(
        "Damping",
        "Share of critical damping: 0 wobbles forever, 1 does not swing back",
        **span(0.0, 1.0, default=0.3),
    )


class SpringProperties(PropertyGroup):
    """A spring and a damper that pull a body to the pose of its animation, on the joint that carries it."""

    enabled: flag(
        "Spring to Animation",
        "A spring pulls the body to its animation, or to its pose where nothing animates it: tails, hair, ears",
    )
    strength: choice(
        "Strength By",
        "What the spring is set by",
        items=(
            ("FREQUENCY", "Frequency", "How fast it swings, whatever it weighs"),
            ("STIFFNESS", "Stiffness", "Torque for each radian, or force for each metre"),
        ),
    )
    frequency: number(
        "Frequency [Hz]",
        "How often the chain swings in a second. Lower is softer, sags more and trails farther behind",
        **{**FREQUENCY, "default": 2.0, "update": turned},
    )
    damping_ratio: number(
        "Damping Ratio",
        "0 swings for ever, 0.3 swings out in a few swings, 1 comes back without swinging over",
        **{**RATIO, "default": 0.3, "update": turned},
    )
    stiffness: number(
        "Stiffness",
        "Of the spring: N·m per radian, or N per metre",
        default=1.0,
        min=0.0,
        precision=4,
        update=turned,
    )
    damping: number(
        "Damping",
        "Of the damper: N·m·s per radian, or N·s per metre",
        default=0.01,
        min=0.0,
        precision=5,
        update=turned,
    )
    frequency_selected: selected_view(
        "frequency", "Frequency [Hz]", f"How often the chain swings in a second{ALL}", **FREQUENCY
    )
    damping_ratio_selected: selected_view(
        "damping_ratio", "Damping Ratio", f"0 swings for ever, 1 does not swing over{ALL}", **RATIO
    )
    stiffness_selected: selected_view(
        "stiffness", "Stiffness", f"N·m per radian, or N per metre{ALL}", min=0.0, precision=4
    )
    damping_selected: selected_view(
        "damping", "Damping", f"N·m·s per radian, or N·s per metre{ALL}", min=0.0, precision=5
    )


class BodyProperties(PropertyGroup):
    """A rigid body."""

    enabled: flag("Rigid Body", "This object or bone is a rigid body that Condyle can move")
    motion: choice(
        "Without a Joint",
        "Motion of a body without a joint",
        items=(
            ("HELD", "Animated", "Follows its animation; without one it does not move", "PINNED", 0),
            ("FREE", "Simulated", "Falls and tumbles freely", "FREEZE", 1),
        ),
    )
    start_from: own_source("free body")
    wobbling: pointer("Soft Parts", type=WobblingProperties)
    spring: pointer("Spring", type=SpringProperties)
    gravity: number(
        "Gravity",
        "Share of the scene's gravity that pulls at the body: 1 all of it, 0 none, below 0 upward",
        **{**SHARE, "default": 1.0, "update": turned},
    )
    drag: number(
        "Drag [1/s]",
        "Resistance of the air: rate at which the body loses its speed; 1: two thirds of it in a second",
        **{**AIR, "update": turned},
    )
    gravity_selected: selected_view(
        "gravity", "Gravity", f"Share of the scene's gravity: 1 all of it, 0 none{ALL}", **SHARE
    )
    drag_selected: selected_view("drag", "Drag [1/s]", f"Rate at which the air takes its speed{ALL}", **AIR)
    fields: number(
        "Force Fields",
        "Share of the scene's force fields (wind, force, vortex, drag) that acts on a link of a chain; 1: for each "
        "kilogram as on a particle of 1 kg",
        **span(0.0, 1.0, 100.0, default=1.0),
    )
    fields_selected: selected_view(
        "fields",
        "Force Fields",
        "Share of the scene's force fields. Sets all selected links",
        **span(0.0, 1.0, 100.0),
    )
    mass_source: choice(
        "Mass From",
        "Where the mass and its distribution come from",
        items=(
            ("MESH", "Mesh", "Volume of the closed mesh times the density"),
            ("MANUAL", "By Hand", "The figures below"),
        ),
    )
    shape: pointer(
        "Shape",
        "Mesh whose volume gives the mass. Empty: the object itself. For bones: the mesh of the limb",
        type=Object,
        poll=lambda _, item: item.type == "MESH",
    )
    density: number(
        "Density [kg/m³]",
        "Mass of one cubic metre. Water 1000, soft tissue about 1060, cortical bone about 1900",
        **span(0.0, 20000.0, default=1000.0),
    )
    mass: number("Mass [kg]", "Mass in kilograms", default=1.0, min=0.0, precision=4)
    center_of_mass: vector(
        "Center of Mass",
        "Centre of mass in the axes of the object or bone, from its origin",
        subtype="TRANSLATION",
        unit="LENGTH",
    )
    inertia_diagonal: vector(
        "Inertia xx, yy, zz [kg·m²]",
        "Moments of inertia about the centre of mass, in the axes of the object or bone, in kg·m²",
        default=(0.01, 0.01, 0.01),
        precision=6,
    )
    inertia_products: vector(
        "Inertia xy, xz, yz [kg·m²]",
        "Products of inertia (entries of the matrix, so minus the integral of the products), in kg·m²",
        default=(0.0, 0.0, 0.0),
        precision=6,
    )
    inertia_diagonal_small: small_inertia_view(
        "inertia_diagonal",
        "Inertia xx, yy, zz [g·cm²]",
        "Moments of inertia about the centre of mass, in the axes of the object or bone, in g·cm² (1e-7 kg·m²)",
    )
    inertia_products_small: small_inertia_view(
        "inertia_products",
        "Inertia xy, xz, yz [g·cm²]",
        "Products of inertia (entries of the matrix, so minus the integral of the products), in g·cm² (1e-7 kg·m²)",
    )
