"""Fits and bakes as tasks of the compute process."""

from ..blender import lazy

lazy.package(__name__)
