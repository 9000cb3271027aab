"""Properties of inverse kinematics: of targets, on their Empties; of following them live, on the scene."""

from bpy.types import Context, PropertyGroup

from . import callbacks
from .body_reference import BodyReference
from .properties import flag, pointer, text, vector

IDENTITY = tuple(float(row == column) for row in range(4) for column in range(4))


def _live_changed(self: "ReachProperties", _context: Context) -> None:
    """Start to follow the targets."""
    self.told = ""
    if self.live:
        callbacks.call().targets_followed()


class TargetProperties(PropertyGroup):
    """An Empty that a point of a body follows."""

    enabled: flag("Target", "This Empty is a target of a body")
    body: pointer("Body", "Body that follows this Empty", type=BodyReference)
    frame: vector(
        "Place on the Body",
        "Pose in the body's frame, row by row, that should coincide with the Empty",
        size=16,
        default=IDENTITY,
    )
    use_rotation: flag(
        "Turn, Too",
        "The body takes the Empty's rotation, too. If it cannot reach both, "
        "one radian counts as much as 10 cm",
    )


class ReachProperties(PropertyGroup):
    """How bodies follow their targets."""

    live: flag(
        "Follow Targets",
        "Move a target, and the sliders of the joints follow at once, within their limits. For renders and "
        "for use without Condyle, key them with Key Joints",
        update=_live_changed,
    )
    told: text("How Near", "How near the bodies came to their targets")
