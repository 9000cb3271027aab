"""Forces on bodies: springs, wrenches, damping, ground, mounts, controllers, and the inputs that they follow."""

from __future__ import annotations

from .controller import PositionController
from .damping import BodyDamping
from .ground import Ground
from .inputs import Input
from .mount import Mount
from .spring import Spring
from .wrench import Wrench

Force = Wrench | BodyDamping | Ground | Mount

__all__ = ["Spring", "Wrench", "BodyDamping", "Ground", "Mount", "Force", "Input", "PositionController"]
