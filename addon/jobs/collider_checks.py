"""Colliders and force fields that are not what may be meant."""

from collections.abc import Iterator
from dataclasses import replace

from bpy.types import Scene

from ..animation.scene_model import SceneModel
from ..data import colliders, findings, force_fields, references
from ..data.findings import Finding
from ..reading.colliders import INSIDE

#: modifiers that deform a mesh with time
DEFORMING = {"ARMATURE", "CLOTH", "SOFT_BODY", "MESH_DEFORM", "SURFACE_DEFORM", "LATTICE"}


def check(scene: Scene) -> Iterator[Finding]:
    """Meshes that deform: colliders are rigid. Fields that do nothing to chains."""
    for item in (
        scene.objects if any(body.data.body.spring.enabled for body in references.bodies_of(scene)) else ()
    ):
        kind = force_fields.kind_of(item)
        if kind and (kind not in force_fields.EFFECTS or item.field.shape not in force_fields.SHAPES):
            yield findings.about(item, "field-ignored", field=item.name, kind=kind.title())
    for body in colliders.in_use(scene):
        kinds = {each.type for each in body.object.modifiers if each.show_viewport}
        if not body.bone and kinds & DEFORMING:
            yield findings.about(body, "collider-deforms", collider=body.name)


def hints(scene: Scene, read: SceneModel) -> list[Finding]:
    """Colliders that nothing can touch, and those that something begins in, which then passes through."""
    found = []
    known = {body.name: body for body in colliders.in_use(scene)}
    if known and not read.model.colliders:
        found.append(findings.about(next(iter(known.values())), "colliders-alone"))
    inside: dict[str, list[str]] = {}
    for each in read.model.colliders:
        for name in each.ignores:
            if name.startswith(INSIDE):
                inside.setdefault(name.removeprefix(INSIDE), []).append(each.name)
    for name, bodies in inside.items():
        told = findings.few(bodies)
        found.append(findings.about(known.get(name), "begins-in-collider", bodies=told, collider=name))
    return [replace(each, is_hint=True) for each in found]
