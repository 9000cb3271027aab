"""The outcomes of a batch, as a table for people and as JSON for programs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..blender import physics_access
from . import records
from .job_file import Shot, on_a_line

BAKED, KEPT, WOULD = "baked", "kept", "to bake"
SKIPPED = "skipped"
FAILED, DIVERGED, CRASHED = "failed", "diverged", "crashed"
TIMED_OUT, INTERRUPTED = "timed out", "interrupted"
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
    told = {
        name: getattr(outcome, name) for name in ("state", "note", "seconds", "scenes", "warnings", "codes")
    }
    shot = outcome.shot
    return {"name": shot.name, "input": str(shot.source), "output": str(shot.target), **told}


def report(outcomes: list[Outcome]) -> dict[str, Any]:
    """All outcomes as JSON."""
    return {
        "format": "condyle-batch-report",
        "version": 1,
        "condyle": records.version(),
        "counts": dict(Counter(sorted(each.state for each in outcomes))),
        "shots": [summary(outcome) for outcome in outcomes],
    }


def table(outcomes: list[Outcome]) -> str:
    """All outcomes for people: one line per shot, then the counts."""
    rows: list[tuple[str, ...]] = [("shot", "state", "frames", "bodies", "seconds", "note")]
    for each in outcomes:
        counts = [str(sum(int(scene.get(key, 0)) for scene in each.scenes)) for key in ("frames", "bodies")]
        shown = (*counts, f"{each.seconds:.1f}") if each.state == BAKED else ("", "", "")
        source = str(each.shot.source)  # left out of the note: the row has the shot's name
        note = on_a_line(each.note.removeprefix(f"{source}: ").removeprefix(f"{source} "))
        note = note if len(note) <= 90 else note[:89] + "…"
        rows.append((each.shot.name, each.state, *shown, note))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    form = "  ".join(f"{{:{side}{width}}}" for side, width in zip("<<>>>", widths)) + "  {}"
    counts = report(outcomes)["counts"]
    total = ", ".join(f"{count} {state}" for state, count in counts.items())
    return "\n".join([*(form.format(*row).rstrip() for row in rows), total])
