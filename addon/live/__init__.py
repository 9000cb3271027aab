"""The live run."""

from ..blender import lazy

lazy.package(__name__)
