"""Writes the poses of a simulation to actions."""

from ..blender import lazy

lazy.package(__name__)
