"""Presets of soft bodies: plain figures, for a figure about as large as a human being."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SoftPreset:
    """One entry of the menu.

    Attributes:
        name: in scripts. sag: under its own weight, as a share of its size. damping: damping ratio of that swing.
        density: [kg/m^3].
    """

    name: str
    label: str
    description: str
    sag: float
    damping: float
    density: float


SOFT_PRESETS: tuple[SoftPreset, ...] = (
    SoftPreset("BELLY", "Belly", "Heavy and loose: swings on after each step", 0.06, 0.2, 950.0),
    SoftPreset("FAT", "Fat", "A layer over muscles: quivers, and is at rest at once", 0.02, 0.3, 920.0),
    SoftPreset("TENTACLE", "Tentacle", "Long and limp: trails behind its carrier", 0.3, 0.25, 1050.0),
)  # fmt: skip
BY_NAME = {each.name: each for each in SOFT_PRESETS}
