"""Muscles: their paths over the bodies and over obstacles, and what pulls along them."""

from __future__ import annotations

from .force_law import ForceLaw, law_from_dict
from .hill import Millard, Tension, Thelen

__all__ = ["ForceLaw", "Millard", "Tension", "Thelen", "law_from_dict"]
