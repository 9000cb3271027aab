"""Forces on bodies: springs, wrenches, damping, ground, mounts, bushings; controllers, feedback laws and inputs."""

from .controller import PositionController
from .elements import BodyDamping, Bushing, Ground, Mount, SphereContact, Spring, Wrench
from .feedback import Feedback
from .field import ForceField
from .inputs import Input

Force = Wrench | BodyDamping | Ground | Mount | Bushing | SphereContact | ForceField

__all__ = [
    "Spring",
    "Wrench",
    "BodyDamping",
    "Bushing",
    "Feedback",
    "Ground",
    "Mount",
    "Force",
    "ForceField",
    "Input",
    "PositionController",
    "SphereContact",
]
