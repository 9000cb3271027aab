"""What operators make or change in a scene."""

from ..blender import lazy

lazy.package(__name__)
