"""Reads the scene into models of physics."""

from ..blender import lazy

lazy.package(__name__)
