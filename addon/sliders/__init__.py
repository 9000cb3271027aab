"""Sliders of joints: drivers, and the Empties that children follow."""

from ..blender import lazy

lazy.package(__name__)
