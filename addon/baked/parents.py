"""Which parents and constraints a bake can write through."""

from __future__ import annotations

from bpy.types import Object

from ..blender import physics_access

BAKED_THROUGH = ("OBJECT", "ARMATURE", "BONE")


PARENTS = {"VERTEX": "a vertex", "VERTEX_3": "three vertices", "LATTICE": "the lattice"}


def check_parent(item: Object) -> None:
    """ModelError where keys cannot undo what an object's parent does to it."""
    if item.parent is not None and item.parent_type not in BAKED_THROUGH:
        raise physics_access.model_error(
            f"object {item.name!r} is parented to {PARENTS.get(item.parent_type, item.parent_type.lower())} of "
            f"{item.parent.name!r}; only parents of type object and bone can be baked through: "
            "clear the parent (Alt+P, Keep Transformation)"
        )
