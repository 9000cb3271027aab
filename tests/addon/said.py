"""What findings say to programs: codes and values, whose wording is in `addon/data/messages.py` alone."""

from collections.abc import Iterable
from typing import Any


def said(findings: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The code of each finding with its values."""
    return [(each.code, *each.values.values()) for each in findings]


def codes(findings: Iterable[Any]) -> list[str]:
    return [each.code for each in findings]


def culprit(part, finding):
    """The object or bone of a finding, or None."""
    return part("data.finding_list").culprit(finding)
