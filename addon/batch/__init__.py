"""The command line: many files, one process each."""

from ..blender import lazy

lazy.package(__name__)
