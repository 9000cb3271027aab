"""Makes objects and bones colliders, which simulated bodies cannot enter."""

from collections.abc import Sequence
from typing import Any

from bpy.types import Scene

from ..blender.physics_access import model_error
from ..data import colliders, schema
from ..data.references import Body
from ..reading import collider_fit
from .bodies_and_joints import check_own

#: settings that describe a surface, not a shape
SURFACE = ("friction", "restitution", "margin", "groups", "collection")


def add(
    scene: Scene, bodies: Sequence[Body], shape: str = "AUTO", surface: dict[str, Any] | None = None
) -> None:
    """Make objects and bones colliders, or fit a shape anew to those that are.

    Args:
        shape: one of `colliders.SHAPES`, or "AUTO", see `collider_fit.fit`. surface: values of some of `SURFACE`.

    Raises:
        ModelError: one of them has nothing to fit the shape to, or is linked; nothing is changed then.
    """
    if not bodies:
        raise model_error("nothing is selected: select objects, or bones in Pose Mode")
    for body in bodies:
        check_own(body)
    fitted = [collider_fit.fit(scene, body, shape) for body in bodies]
    for body, found in zip(bodies, fitted):
        settings = body.data.collider
        for name, value in {**found, **(surface or {}), "enabled": True, "active": True}.items():
            setattr(settings, name, value)
        schema.stamp(body.data, body.object.condyle)
    schema.stamp(scene.condyle)


def remove(bodies: Sequence[Body]) -> int:
    """Make colliders ordinary objects and bones again; returns how many were some."""
    found = colliders.chosen(list(bodies))
    for body in found:
        check_own(body)
    for body in found:
        body.data.property_unset("collider")
    return len(found)


def copy(source: Body, target: Body) -> None:
    """Give a collider or link the surface of another, and whether it is in use; not its shape."""
    for name in ("active", *SURFACE):
        setattr(target.data.collider, name, getattr(source.data.collider, name))
