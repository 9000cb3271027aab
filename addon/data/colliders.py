"""Data of a collider, on objects and pose bones: a shape that simulated bodies cannot enter."""

import bpy
from bpy.types import PropertyGroup, Scene

from .properties import choice, factor, flag, length, lengths, number, pointer, span, text, vector
from .references import Body

#: identifiers and numbers of shapes last for ever
SHAPES = (
    ("SPHERE", "Sphere", "A ball: heads, eyes, props", "MESH_UVSPHERE", 0),
    ("CAPSULE", "Capsule", "A rounded rod: limbs, bodies, tails", "MESH_CAPSULE", 1),
    ("BOX", "Box", "A box: tables, walls, steps", "MESH_CUBE", 2),
    ("CONVEX", "Convex Hull", "The mesh, or the skin of the bone, without its hollows", "MESH_ICOSPHERE", 3),
    ("PLANE", "Plane", "A plane without end, solid behind: floors, walls", "MESH_PLANE", 4),
    ("MESH", "Mesh", "All triangles of the mesh, solid behind: terrain, bowls. The slowest", "MESH_GRID", 5),
)


class ColliderProperties(PropertyGroup):
    """A shape of an object or bone, in its own axes without its scale.

    A link of a chain that is no collider collides as the capsule along its bone, or as its mesh, where the scene has a
    collider and `active` is on; it uses friction, bounce, thickness and collection, too.
    """

    enabled: flag("Collider", "Simulated bodies cannot enter this object or bone")
    active: flag("In Use", "Off: it collides with nothing", default=True)
    shape: choice("Shape", "What it collides as", items=SHAPES)
    center: lengths("Center", "Centre of the shape, from the origin of the object or the head of the bone")
    rotation: vector(
        "Rotation",
        "Turn of the shape, whose axis is z, in the axes of the object or bone",
        size=4,
        default=(1.0, 0.0, 0.0, 0.0),
        subtype="QUATERNION",
    )
    radius: length("Radius", "Radius of a sphere or capsule; of a link 0: that of its mass", min=0.0)
    length: length("Length", "Length of a capsule between the centres of its round ends", min=0.0)
    size: lengths("Size", "Lengths of the sides of a box", min=0.0)
    margin: length("Thickness", "The surface is so far outside of the shape", min=0.0)
    friction: number(
        "Friction",
        "0 ice, 0.5 wood, 1 rubber; of two colliders the geometric mean counts",
        **span(0.0, 2.0, default=0.5),
    )
    restitution: factor(
        "Bounce", "Share of the speed that is left after a hit; of two colliders the greater one counts"
    )
    groups: text(
        "Groups",
        "Names with commas between: colliders touch that have one in common. Those without a name touch each other",
    )
    collection: pointer(
        "Collection",
        "It touches only the colliders of objects in this collection. Empty: those of its groups",
        type=bpy.types.Collection,
    )


def colliders_of(scene: Scene) -> list[Body]:
    """Every object and pose bone of a scene that is a collider, in a stable order."""
    found = []
    for item in sorted(scene.objects, key=lambda each: each.name):
        if item.condyle.collider.enabled:
            found.append(Body(item))
        if item.pose is not None:
            found += [Body(item, bone.name) for bone in item.pose.bones if bone.condyle.collider.enabled]
    return found


def in_use(scene: Scene) -> list[Body]:
    """The colliders of a scene that simulations take in."""
    return [body for body in colliders_of(scene) if body.data.collider.active]


def chosen(bodies: list[Body]) -> list[Body]:
    """Those of bodies that are colliders."""
    return [body for body in bodies if body.data.collider.enabled]
