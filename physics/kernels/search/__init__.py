"""Inverse kinematics and projection of poses to a joint."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import inverse_kinematics as inverse_kinematics
    from . import projection as projection
else:
    __getattr__ = load_on_use(__name__)
