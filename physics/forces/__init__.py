"""Forces on bodies: springs, wrenches, damping, ground, mounts, bushings, controllers, and the inputs they follow."""

from __future__ import annotations

from .bushing import Bushing
from .controller import PositionController
from .damping import BodyDamping
from .ground import Ground
from .inputs import Input
from .mount import Mount
from .sphere_contact import SphereContact
from .spring import Spring
from .wrench import Wrench

Force = Wrench | BodyDamping | Ground | Mount | Bushing | SphereContact

__all__ = [
    "Spring",
    "Wrench",
    "BodyDamping",
    "Bushing",
    "Ground",
    "Mount",
    "Force",
    "Input",
    "PositionController",
    "SphereContact",
]
