"""Creates and changes bodies, joints, connections, muscles and obstacles in a scene."""

from ..blender import lazy

lazy.package(__name__)
