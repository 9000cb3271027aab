"""Functions of higher folders that updates of properties call; `registration` wires them."""

from collections.abc import Callable
from dataclasses import dataclass

from bpy.types import Object, Scene


@dataclass(frozen=True)
class Callbacks:
    """One function for each event.

    Attributes:
        joint_shape_changed: (scene, joint) the coordinates of a joint may have changed.
        loop_closed: (scene, joint) a driven joint closes a loop from now on.
        obstacle_changed: (object) the surface of an obstacle has changed.
        muscle_thickness_changed: (object) the radius of a muscle's tube has changed.
        targets_followed: () bodies follow their targets from now on.
    """

    joint_shape_changed: Callable[[Scene, Object], None]
    loop_closed: Callable[[Scene, Object], None]
    obstacle_changed: Callable[[Object], None]
    muscle_thickness_changed: Callable[[Object], None]
    targets_followed: Callable[[], None]


_wired: Callbacks | None = None


def wire(callbacks: Callbacks | None) -> None:
    """Set the callbacks; None: the add-on is disabled."""
    global _wired
    _wired = callbacks


def call() -> Callbacks:
    """The callbacks.

    Raises:
        RuntimeError: the add-on is not registered.
    """
    if _wired is None:
        raise RuntimeError("updates of Condyle's properties need the add-on: call addon.register()")
    return _wired
