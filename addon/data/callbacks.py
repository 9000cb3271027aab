"""What updates of properties ask of the rooms above; `registration` says who does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Callbacks:
    """One function an event; none may be left out.

    Attributes:
        joint_shape_changed: (scene, joint) the rows of a joint's coordinates have been made anew.
        loop_closed: (scene, joint) a driven joint closes a loop from now on.
        obstacle_changed: (object) the surface of an obstacle.
        muscle_thickness_changed: (object) the radius that a muscle is shown with.
        targets_followed: () bodies follow their targets from now on.
    """

    joint_shape_changed: Callable[[Any, Any], None]
    loop_closed: Callable[[Any, Any], None]
    obstacle_changed: Callable[[Any], None]
    muscle_thickness_changed: Callable[[Any], None]
    targets_followed: Callable[[], None]


_wired: Callbacks | None = None


def wire(callbacks: Callbacks | None) -> None:
    """Say who answers from now on; None: nobody, the add-on is disabled."""
    global _wired
    _wired = callbacks


def call() -> Callbacks:
    """Who answers.

    Raises:
        RuntimeError: the add-on is not registered.
    """
    if _wired is None:
        raise RuntimeError(
            "updates of Condyle's properties need the registered add-on: call addon.register()"
        )
    return _wired
