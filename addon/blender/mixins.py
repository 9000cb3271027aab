"""Bases of mixins: for type checkers the class of Blender that they are mixed into, at run time none."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpy.types import Operator, Panel, UIList
else:
    Operator = Panel = UIList = object
