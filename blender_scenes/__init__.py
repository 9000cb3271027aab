"""Scenes made from nothing by scripts: each builds its .blend and checks itself.

A scene is a module with ``build(out: Path) -> Path`` that writes its .blend into the folder `out`, returns its path and
raises SceneError if a figure is out of its bounds. A new scene is one module and its name here.
"""

from importlib import import_module
from pathlib import Path

SCENES = (
    "knee", "beads", "globe", "letters", "sheet", "shoulder", "leg", "gallery", "rod", "walker", "hand", "jumper",
    "finger", "pendulums", "driven_knee", "walking_leg", "arm", "reach", "character", "starfish", "trampoline",
    "ragdoll",
)  # fmt: skip


class SceneError(RuntimeError):
    """A figure of a scene is out of its bounds; the message names both."""


def build(name: str, out: Path, filmed: bool = False) -> Path:
    """Build the scene `name` into the folder `out`, with its film if wanted; returns the path of its .blend. Raises
    SceneError.
    """
    module = import_module(f"{__name__}.{name}")
    if filmed and hasattr(module, "RECIPE"):
        return module.RECIPE.build(out, filmed=True)
    return module.build(out)
