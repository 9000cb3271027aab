"""Vectors, rotations, twists and small dense systems."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import euler as euler
else:
    __getattr__ = load_on_use(__name__)
