"""Presets of chains that swing after their animation: plain figures, for a figure about as large as a human being."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ChainPreset:
    """One entry of the menu.

    Attributes:
        name: in scripts. kind: type of the joints.
        frequency: of the chain's slowest swing [Hz]. damping_ratio: of that. gravity: its share. drag: [1/s].
    """

    name: str
    label: str
    description: str
    kind: str
    frequency: float
    damping_ratio: float
    gravity: float = 1.0
    drag: float = 0.0


CHAIN_PRESETS: tuple[ChainPreset, ...] = (
    ChainPreset("TAIL", "Tail", "Muscular: sags a little, swings out within two seconds", "spherical", 1.2, 0.3),
    ChainPreset("HAIR", "Hair", "Ponytail, strand or plait: loose and trailing", "spherical", 0.9, 0.25, 1.0, 1.0),
    ChainPreset("EAR", "Ear", "Stiff and light: flicks, and is at rest at once", "spherical", 4.0, 0.35),
    ChainPreset("ROPE", "Rope", "Limp: falls straight down from its first link", "spherical", 0.2, 0.3, 1.0, 0.3),
    ChainPreset("CLOTH", "Cloth Strip", "Ribbon or scarf: limp, and light in the air", "spherical", 0.4, 0.4, 1.0, 3.0),
    ChainPreset("ANTENNA", "Antenna", "Springy: rings for long", "spherical", 3.0, 0.04),
    ChainPreset("BELLY", "Belly, Fat", "Each bone slides on its own: belly, breast, cheek", "translational", 3.5, 0.2),
)  # fmt: skip
BY_NAME = {each.name: each for each in CHAIN_PRESETS}
