"""Sliders and poses that the user drags."""

from ..blender import lazy

lazy.package(__name__)
