"""Findings about a run, each a code with values and a text."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..errors import SimulationWarning

KEY = "diagnosis"  # of `Result.info`

SMALLER = "take a smaller step"
MET = "so that all constraints are met"
STRAIGHT = "muscle {muscle!r} passes straight through an obstacle in {count} of {states} states"
TEXTS = {
    "energy-gained": "{gained:.3g} J of energy come from nowhere; the kinetic energy is {kinetic:.3g} J at most: "
    f"{SMALLER}, or another method",
    "energy-grows": "energy grows from {first:.3g} J to {most:.3g} J, but nothing drives the model: "
    f"{SMALLER}, or another method",
    "big-turn": f"{{coordinate}} turns by up to {{angle:.3g}} rad in a step: {SMALLER}",
    "stiff-step": f"{{coordinate}} swings through {{angle:.3g}} rad of its oscillation in a step: {SMALLER}",
    "contact-overlap": "contact {contact!r}: a body is up to {depth:.3g} m inside what it touches",
    "contacts-unmet": f"impulses of contacts and limits are off by {{residual:.3g}} of their size: {SMALLER}",
    "constraints-unmet": f"constraints are off by up to {{drift:.3g}} m or rad (steps: {{steps}}): {SMALLER}",
    "moved-by-constraints": "body {body!r} starts {distance:.3g} m and {angle:.3g} rad from its given pose, "
    f"{MET}",
    "velocities-by-constraints": "{coordinate} starts with {after:.4g} {unit}/s instead of {before:.4g} {unit}/s, "
    f"{MET}: give velocities that meet them",
    "steps-divided": f"{{count}} of {{steps}} steps failed and were taken in parts: {SMALLER}",
    "late-start": "recorded times are rounded: at {time:g} s, numbers are {spacing:.2g} s apart: start earlier",
    "wrap-inside": f"{STRAIGHT}: an end lies inside",
    "wrap-unsolved": f"{STRAIGHT}: no path over it was found",
    "wrap-slipped": "muscle {muscle!r} slips off an obstacle to another path {count} times in {states} states",
}
# of each way in `Result.info["missed_wraps"]`
WRAPS = {"inside": "wrap-inside", "unsolved": "wrap-unsolved", "slipped": "wrap-slipped"}


class Finding(NamedTuple):
    """Something that makes a run doubtful; programs go by its code and values, people by its text.

    Attributes:
        code: one of `TEXTS`, or of a newer version. values: SI units, by name; all are JSON.
    """

    code: str
    values: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The finding and the remedy, in a line."""
        values = ", ".join(f"{name} {value}" for name, value in self.values.items())
        return TEXTS.get(self.code, f"{self.code}: {values}").format_map(self.values)


def findings_of(info: Mapping[str, Any]) -> tuple[Finding, ...]:
    """All findings in a run's `Result.info`."""
    found = [Finding(**each) for each in info.get(KEY, ())]
    for missed in info.get("missed_wraps", ()):
        for way in filter(missed.get, WRAPS):
            values = {"muscle": missed["muscle"], "count": missed[way], "states": missed["states"]}
            found.append(Finding(WRAPS[way], values))
    return tuple(found)


def warn(found: Iterable[Finding], stacklevel: int) -> None:
    """A `SimulationWarning` for each code, with the text of its first finding; stacklevel: from the caller on."""
    for each in {each.code: each for each in reversed([*found])}.values():
        warnings.warn(f"{each.code}: {each.text}", SimulationWarning, stacklevel + 1)
