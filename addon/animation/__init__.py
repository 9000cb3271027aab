"""What the scene shows over time: keyed poses, prescribed joints, jumps, inputs of a simulation."""

from ..blender import lazy

lazy.package(__name__)
