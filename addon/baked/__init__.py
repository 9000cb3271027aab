"""What a bake has written to a file and how it is taken away again."""

from ..blender import lazy

lazy.package(__name__)
