"""The outcomes of a batch, as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..blender import physics_access
from . import records
from .job_file import Shot, on_a_line

BAKED, KEPT, WOULD = "baked", "kept", "to bake"
SKIPPED = "skipped"
FAILED, DIVERGED, CRASHED, TIMED_OUT, INTERRUPTED = (
    "failed",
    "diverged",
    "crashed",
    "timed out",
    "interrupted",
)
GOOD = (BAKED, KEPT, WOULD, SKIPPED)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one shot.

    Attributes:
        state: one of BAKED, KEPT, WOULD, SKIPPED, FAILED, DIVERGED, CRASHED, TIMED_OUT, INTERRUPTED.
        note: the reason, in a line. seconds: duration of the shot.
        scenes: facts about each baked scene.
        warnings: one line each. codes: of these.
    """

    shot: Shot
    state: str
    note: str = ""
    seconds: float = 0.0
    scenes: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)


def doubtful(codes: Iterable[str]) -> bool:
    """Whether findings of these codes make a simulated motion doubtful; others are about the scene."""
    known = {*physics_access.part("model.diagnosis").TEXTS, "coordinates-by-constraints"}
    return not known.isdisjoint(codes)


def summary(outcome: Outcome) -> dict[str, Any]:
    """An outcome as a dictionary, for reports and events."""
    return {
        "name": outcome.shot.name,
        "state": outcome.state,
        "note": outcome.note,
        "seconds": outcome.seconds,
        "input": str(outcome.shot.source),
        "output": str(outcome.shot.target),
        "scenes": outcome.scenes,
        "warnings": outcome.warnings,
        "codes": outcome.codes,
    }


def report(outcomes: list[Outcome]) -> dict[str, Any]:
    """All outcomes as JSON."""
    counts = {
        state: sum(each.state == state for each in outcomes) for state in sorted({e.state for e in outcomes})
    }
    return {
        "format": "condyle-batch-report",
        "version": 1,
        "condyle": records.version(),
        "counts": counts,
        "shots": [summary(outcome) for outcome in outcomes],
    }


def table(outcomes: list[Outcome]) -> str:
    """All outcomes for people: one line per shot, then the counts."""
    rows = [("shot", "state", "frames", "bodies", "seconds", "note")]
    for each in outcomes:
        frames = sum(int(scene["frames"]) for scene in each.scenes if "frames" in scene)
        bodies = sum(int(scene["bodies"]) for scene in each.scenes if "bodies" in scene)
        baked = each.state == BAKED
        shown = (str(frames), str(bodies), f"{each.seconds:.1f}") if baked else ("", "", "")
        source = str(each.shot.source)  # left out of the note: the row has the shot's name
        note = on_a_line(each.note.removeprefix(f"{source}: ").removeprefix(f"{source} "))
        note = note if len(note) <= 90 else note[:89] + "…"
        rows.append((each.shot.name, each.state, *shown, note))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = [
        "  ".join(
            [text.rjust(width) if column in (2, 3, 4) else text.ljust(width) for column, (text, width) in
             enumerate(zip(row, widths))] + [row[-1]]
        ).rstrip()
        for row in rows
    ]  # fmt: skip
    counts = report(outcomes)["counts"]
    lines.append(", ".join(f"{count} {state}" for state, count in counts.items()))
    return "\n".join(lines)
