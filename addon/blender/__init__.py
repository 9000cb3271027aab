"""What is shared by all rooms and knows no joints: versions of Blender, units, the compute process, lazy modules."""

from . import lazy

lazy.package(__name__)
