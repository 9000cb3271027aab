"""Data that files store: property groups, references to bodies, findings."""

from ..blender import lazy

lazy.package(__name__)
