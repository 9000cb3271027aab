"""Shared by all folders, without knowledge of joints: versions of Blender, units, the compute process, lazy modules."""

from . import lazy

lazy.package(__name__)
