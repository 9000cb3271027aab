"""Joints, connections and muscles drawn over the 3D view."""

from ...blender import lazy

lazy.package(__name__)
