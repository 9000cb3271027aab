"""What would stop a bake or may not be meant, found before it."""

from ..blender import lazy

lazy.package(__name__)
