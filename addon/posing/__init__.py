"""Sets sliders by poses: dragging, inverse kinematics, projection onto joints."""

from ..blender import lazy

lazy.package(__name__)
