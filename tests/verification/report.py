"""Writes the report of measured claims: JSON, a Markdown table and pictures."""

import importlib.metadata
import json
import math
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .claim import Plot
from .runner import Outcome

FORMAT, VERSION = "condyle-verification", 1
PACKAGES = ("numpy", "scipy", "numba", "matplotlib", "bpy")


def write_beside(path: Path, data: bytes) -> None:
    """Write to a new file in the same folder, then rename it, so that a reader never sees a partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def environment() -> dict[str, str]:
    """Machine and versions of the measurement."""
    versions = {"python": platform.python_version(), "machine": platform.platform()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "absent"
    return versions


def plain(value: Any) -> Any:
    """A value for JSON: arrays become lists, numbers that are not finite become text."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(entry) for entry in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else str(float(value))
    return str(value)


def as_json(outcomes: Sequence[Outcome], import_errors: dict[str, Exception]) -> dict[str, Any]:
    """The whole report as one JSON object."""
    claims = [
        {
            "id": outcome.claim.id,
            "statement": outcome.claim.statement,
            "status": outcome.status,
            "figure": outcome.measurement.figure,
            "unit": outcome.claim.unit,
            "at_most": outcome.claim.at_most,
            "at_least": outcome.claim.at_least,
            "source": outcome.claim.source,
            "cost": outcome.claim.cost,
            "seconds": round(outcome.seconds, 3),
            "reason": outcome.reason,
            "details": outcome.measurement.details,
        }
        for outcome in outcomes
    ]
    for entry in claims:
        for key in ("figure", "details"):
            entry[key] = plain(entry[key])
        for key in ("at_most", "at_least"):  # a missing bound is null, not the text "None"
            entry[key] = None if entry[key] is None else float(entry[key])
    broken = {module: f"{type(error).__name__}: {error}" for module, error in import_errors.items()}
    return {
        "format": FORMAT,
        "version": VERSION,
        "environment": environment(),
        "import_errors": broken,
        "claims": claims,
    }


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """The report as a readable table."""
    rows = [
        "# Verification",
        "",
        ", ".join(f"{name} {version}" for name, version in environment().items()),
        "",
        "| claim | measured | bound | unit | source | |",
        "|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        claim = outcome.claim
        measured = outcome.reason or f"{outcome.measurement.figure:.3g}"
        text = " ".join(measured.replace("|", "\\|").split())
        statement = claim.statement.replace("|", "\\|")
        rows.append(
            f"| **{claim.id}**: {statement} | {text} | {claim.bound} | {claim.unit} | {claim.source} "
            f"| {outcome.status} |"
        )
    return "\n".join(rows) + "\n"


def merge_plots(outcomes: Sequence[Outcome]) -> list[Plot]:
    """One plot for all claims with the same plot name."""
    merged: dict[str, Plot] = {}
    for outcome in outcomes:
        for plot in outcome.measurement.plots:
            before = dict(merged[plot.name].lines) if plot.name in merged else {}
            merged[plot.name] = Plot(
                plot.name, plot.title, plot.x_label, plot.y_label, before | dict(plot.lines), plot.logarithmic
            )
    return list(merged.values())


def draw_plots(plots: Sequence[Plot], folder: Path) -> list[Path]:
    """Draw each plot to FOLDER/<name>.png; none without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return []
    paths = []
    for plot in plots:
        figure = Figure(figsize=(8, 5), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for label, (x, y) in plot.lines.items():
            style = "o-" if len(np.atleast_1d(x)) <= 30 else "-"
            axes.plot(x, y, style, label=label, linewidth=1, markersize=4)
        if "x" in plot.logarithmic:
            axes.set_xscale("log")
        if "y" in plot.logarithmic:
            axes.set_yscale("log")
        axes.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label)
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize="small")
        path = folder / f"{plot.name}.png"
        temporary = folder / f".{plot.name}.part.png"
        figure.savefig(temporary, dpi=120)
        os.replace(temporary, path)
        paths.append(path)
    return paths


def write_report(outcomes: Sequence[Outcome], import_errors: dict[str, Exception], folder: Path) -> None:
    """Write verification.json, verification.md and the pictures into a folder, which is created if needed."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_json(outcomes, import_errors), indent=1, allow_nan=False)
    write_beside(folder / "verification.json", text.encode())
    pictures = draw_plots(merge_plots(outcomes), folder)
    links = "".join(f"\n![{path.stem}]({path.name})\n" for path in pictures)
    write_beside(folder / "verification.md", (as_markdown(outcomes) + links).encode())
