"""Forces on bodies: springs, wrenches, damping, ground, mounts, bushings, controllers, and the inputs they follow."""

from .controller import PositionController
from .elements import BodyDamping, Bushing, Ground, Mount, SphereContact, Spring, Wrench
from .field import ForceField
from .inputs import Input

Force = Wrench | BodyDamping | Ground | Mount | Bushing | SphereContact | ForceField

__all__ = [
    "Spring",
    "Wrench",
    "BodyDamping",
    "Bushing",
    "Ground",
    "Mount",
    "Force",
    "ForceField",
    "Input",
    "PositionController",
    "SphereContact",
]
