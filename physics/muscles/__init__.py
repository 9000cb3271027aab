"""Muscles: their paths over the bodies and over obstacles, the mass that lies along them, and what pulls along them."""

from __future__ import annotations

from .force_law import ForceLaw, law_from_dict
from .hill import Millard, Tension, Thelen
from .mass import MassPoints
from .muscle import Muscle
from .path import Condition, Moving, PathPoint

__all__ = [
    "Condition",
    "ForceLaw",
    "MassPoints",
    "Millard",
    "Moving",
    "Muscle",
    "PathPoint",
    "Tension",
    "Thelen",
    "law_from_dict",
]
