"""What has changed since a bake."""

from ..blender import lazy

lazy.package(__name__)
