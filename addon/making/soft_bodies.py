"""Makes meshes soft bodies, and takes that away again."""

from collections.abc import Sequence

from bpy.types import Object, Scene

from ..animation.scene_model import Leaders
from ..blender import physics_access
from ..blender.physics_access import model_error
from ..data import schema, soft_bodies
from ..reading import carriers, snapshot, soft_shapes
from .soft_presets import SoftPreset

#: method of a scene that has none chosen
METHOD = "linearly_implicit_euler"


def add(scene: Scene, items: Sequence[Object], preset: SoftPreset) -> list[int]:
    """Make meshes soft bodies with a preset's figures; returns how many nodes each is simulated with.

    The scene gets an implicit method, unless its user has chosen one.

    Raises:
        ModelError: a mesh cannot be simulated; nothing has been changed.
    """
    for item in items:
        if item.type != "MESH":
            raise model_error(f"{item.name!r} is no mesh: only a mesh can be a soft body")
        if item.library is not None:
            raise model_error(f"{item.name!r} is linked; make a library override first")
    before = [(item.condyle.soft.enabled, item.condyle.soft.active) for item in items]
    for item in items:
        item.condyle.soft.enabled = item.condyle.soft.active = True
    try:
        counts = [_nodes(scene, item) for item in items]
    except physics_access.physics().CondyleError:
        for item, (enabled, active) in zip(items, before):
            item.condyle.soft.enabled, item.condyle.soft.active = enabled, active
        raise
    for item in items:
        for name in ("sag", "damping", "density"):
            setattr(item.condyle.soft, name, getattr(preset, name))
        item.condyle.soft.use_young = False
        schema.stamp(item.condyle)
    if not scene.condyle.simulation.is_property_set("integrator"):
        scene.condyle.simulation.integrator = METHOD
        schema.stamp(scene.condyle)
    return counts


def _nodes(scene: Scene, item: Object) -> int:
    """How many nodes a soft body has; ModelError where it cannot be read."""
    view = snapshot.take(scene)
    record = next(each for each in soft_bodies.soft_bodies_of(view) if each.session_uid == item.session_uid)
    known = carriers.Carriers(view, carriers.simulated(view), Leaders())
    return len(soft_shapes.read(view, record, known).nodes)


def chosen(items: Sequence[Object]) -> list[Object]:
    """Those of some objects that are soft bodies."""
    return [item for item in items if item.type == "MESH" and item.condyle.soft.enabled]


def remove(items: Sequence[Object]) -> int:
    """Make soft bodies plain meshes again; returns how many there were. ModelError where one is baked."""
    found = chosen(items)
    for item in found:
        if item.condyle.soft.cache:
            raise model_error(f"soft body {item.name!r} is baked: press Free Bake first")
    for item in found:
        item.condyle.property_unset("soft")
    return len(found)
