"""Data of a body, on objects and pose bones."""

from bpy.types import Object, PropertyGroup

from .properties import choice, factor, flag, length, number, pointer, small_inertia_view, span, vector
from .starting import own_source


def _is_mesh(_self: "BodyProperties", candidate: Object) -> bool:
    return candidate.type == "MESH"


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


class BodyProperties(PropertyGroup):
    """A rigid body."""

    enabled: flag("Rigid Body", "This object or bone is a rigid body that Condyle can move")
    motion: choice(
        "Without a Joint",
        "Motion of a body without a joint",
        items=(
            ("HELD", "Animated", "Follows its animation, or stands still without one", "PINNED", 0),
            ("FREE", "Simulated", "Falls and tumbles freely", "FREEZE", 1),
        ),
    )
    start_from: own_source("free body")
    wobbling: pointer("Soft Parts", type=WobblingProperties)
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
        poll=_is_mesh,
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
