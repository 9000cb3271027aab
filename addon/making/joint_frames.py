"""A joint's frame and child, and the names and knots of its control frames, for all that makes or changes them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
from bpy.types import Object

from ..blender import units
from ..blender.physics_access import model_error
from ..data import references
from ..data.joints import JointProperties
from ..data.references import Body


def pose_of(item: Object) -> np.ndarray:
    """World pose (4, 4) of a joint's frame, in Blender units."""
    return units.split_scale(item.matrix_world, f"joint {item.name!r}", item)[0]


def child_of(item: Object) -> Body:
    """The child of a joint; ModelError where it is missing."""
    child = references.resolve(item.condyle.joint.child)
    if child is None:
        raise model_error(f"joint {item.name!r}: its child is missing")
    return child


@contextmanager
def sliders_later(settings: JointProperties) -> Iterator[None]:
    """Context in which a driven joint's sliders are left alone: they are updated once, at the end."""
    driven, settings.driven = settings.driven, False
    try:
        yield
    finally:
        settings.driven = driven


def set_knots(settings: JointProperties, knots: Iterable[float]) -> None:
    """Replace the knots of a joint's curve or surface."""
    settings.knots.clear()
    for value in knots:
        settings.knots.add().value = value


def rename(item: Object, names: dict[Object, str]) -> None:
    """Give control frames of a joint of its own other names, where these are new."""
    wrong = {
        each: name for each, name in names.items() if each.condyle.frame_of == item and each.name != name
    }
    for number, each in enumerate(wrong):
        each.name = f"{item.name} {number}"  # temporary, to free the new names
    for each, name in wrong.items():
        each.name = name
