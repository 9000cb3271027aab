"""Scenes made from nothing by scripts: each builds its .blend and checks itself.

A scene is a module with ``build(out: Path) -> Path`` that writes its .blend into the folder `out`, returns its path and
raises SceneError if a figure is out of its bounds. A new scene is one module and one line here.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

SCENES = {
    "knee": "blender_scenes.knee",
    "beads": "blender_scenes.beads",
    "globe": "blender_scenes.globe",
    "letters": "blender_scenes.letters",
    "sheet": "blender_scenes.sheet",
    "shoulder": "blender_scenes.shoulder",
    "leg": "blender_scenes.leg",
    "gallery": "blender_scenes.gallery",
    "rod": "blender_scenes.rod",
    "walker": "blender_scenes.walker",
    "hand": "blender_scenes.hand",
    "jumper": "blender_scenes.jumper",
    "finger": "blender_scenes.finger",
    "pendulums": "blender_scenes.pendulums",
    "driven_knee": "blender_scenes.driven_knee",
    "walking_leg": "blender_scenes.walking_leg",
    "arm": "blender_scenes.arm",
    "reach": "blender_scenes.reach",
    "character": "blender_scenes.character",
    "starfish": "blender_scenes.starfish",
    "trampoline": "blender_scenes.trampoline",
}


class SceneError(RuntimeError):
    """A figure of a scene is out of its bounds; the message names both."""


def build(name: str, out: Path) -> Path:
    """Build the scene `name` into the folder `out`; returns the path of its .blend. Raises SceneError, KeyError."""
    module = import_module(SCENES[name])
    return module.build(out)
