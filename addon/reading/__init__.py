"""Reads the scene into physics models."""

from ..blender import lazy

lazy.package(__name__)
