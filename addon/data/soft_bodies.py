"""Data of a soft body, on its mesh."""

from bpy.types import Object, PropertyGroup, Scene

from .properties import choice, factor, flag, length, number, span, text


class SoftBodyProperties(PropertyGroup):
    """A mesh that gives way and swings, held by the bodies that it is attached to."""

    enabled: flag("Soft Body", "This mesh is a soft body")
    active: flag("In Use", "Off: simulations leave it out", default=True)
    lattice_size: length(
        "Lattice Size", "Size of the cubes that are simulated; 0: so that there are about 200 nodes", min=0.0
    )
    sag: factor(
        "Sag",
        "How far it sags under its own weight, as a share of its size; this sets how stiff it is",
        default=0.05,
        min=1e-5,
        max=1.0,
        precision=3,
    )
    use_young: flag("Young's Modulus", "Set the stiffness of the material itself, not how far it sags")
    young: number(
        "Young's Modulus [Pa]",
        "Stiffness of the material: fat about 3000, relaxed muscle 10000, rubber 1000000",
        **span(1.0, 1e6, 1e11, default=1e4, precision=0),
    )
    poisson: number(
        "Poisson's Ratio",
        "How much it bulges where it is pressed: 0 not at all, towards 0.5 it keeps its volume and becomes stiffer",
        **span(0.0, 0.45, 0.49, default=0.4),
    )
    law: choice(
        "Law",
        "How the material answers to strain; near rest both are the same",
        items=(
            ("COROTATED", "Corotated", "Linear in the strain, whatever turns"),
            (
                "NEO_HOOKEAN",
                "Neo-Hookean",
                "Smooth at any strain, also where it is flat or turned inside out",
            ),
        ),
    )
    density: number("Density [kg/m³]", "Mass of a cubic metre", **span(1.0, 3000.0, 3e4, default=1000.0))
    damping: number(
        "Damping Ratio",
        "0 swings for ever, 0.3 swings out in a few swings, 1 comes back without swinging over",
        **span(0.0, 1.0, 100.0, default=0.2),
    )
    friction: number(
        "Friction",
        "On colliders: 0 ice, 0.5 wood, 1 rubber; the geometric mean with theirs counts",
        **span(0.0, 2.0, default=0.5),
    )
    reach: length(
        "Reach",
        "What is this near to a body, or inside it, is attached to it; 0: the size of the lattice",
        min=0.0,
    )
    attached_group: text(
        "Attached", "Vertex group of the part that is attached; empty: what is within reach of a body"
    )
    cache: text("Cache", "File of the bake beside the blend file; empty: nothing is baked")
    modifier: text("Modifier", "Name of the Mesh Cache modifier that the bake added")


def soft_bodies_of(scene: Scene) -> list[Object]:
    """Every soft body of a scene, or of a snapshot of one, by name."""
    # called at every redraw: the type is quick to read, our own data is not
    found = [item for item in scene.objects if item.type == "MESH" and item.condyle.soft.enabled]
    return sorted(found, key=lambda each: each.name)


def in_use(scene: Scene) -> list[Object]:
    """Those that simulations do not leave out."""
    return [item for item in soft_bodies_of(scene) if item.condyle.soft.active]
