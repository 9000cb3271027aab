"""Titles and labels of joints and bodies."""

from __future__ import annotations

import re

from .joints import CoordinateProperties


def title_of(row: CoordinateProperties) -> str:
    """Title of a row of coordinate settings."""
    return row.title or label_of(row.label)


def label_of(name: str) -> str:
    """A coordinate's name for people: "angle_1" is Angle 1, "2.x" is 2: X."""
    part, _, own = name.rpartition(".")
    words = re.sub("^r_", "turn_", re.sub(r"^q(?=$|_|\d)", "coordinate", own)).replace("_", " ").title()
    return f"{part}: {words}" if part else words
