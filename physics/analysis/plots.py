"""Plots of results and fits. Matplotlib is optional and imported on first use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import MissingDependencyError
from ..io.files import write_atomically
from ..joints import SplineCurve
from ..model.result import Result

# distinguishable without red and green (Okabe & Ito 2008)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#5d3a9b")
KINETIC, POTENTIAL, TOTAL = "#d55e00", "#0072b2", "#222222"
ROTATION, TRANSLATION = "#cc79a7", "#0072b2"
UNITS = {"rad": "angle [rad]", "m": "position [m]", "1": "curve parameter [1]"}
LEGEND_LIMIT = 14
CURVE_SAMPLES = 400
JUMP = 1.0  # rad between two samples that the velocity does not explain: a change of chart

STYLE: dict[Any, Any] = {
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": "#333333",
    "axes.edgecolor": "#999999",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "savefig.facecolor": "white",
}


def plot_result(result: Result, path: str | os.PathLike[str] | None, title: str = "") -> Any:
    """Draw coordinates, energies and the change of the total energy over time.

    Args:
        result: the motion.
        path: of the picture (the suffix is the format), or None.
        title: of the figure.

    Returns:
        The matplotlib Figure.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    units = [unit for joint in result.model.joints for unit in joint.coordinate_units]
    groups = {unit: [k for k, other in enumerate(units) if other == unit] for unit in UNITS if unit in units}
    q = _broken_at_jumps(result)
    with _panels(len(groups) + 2, path, title) as (figure, axes):
        for panel, (unit, columns) in zip(axes, groups.items()):
            _draw_coordinates(panel, result, q, columns)
            panel.set_ylabel(UNITS[unit])
        axes[0].set_title("Coordinates")
        _draw_energy(axes[-2], axes[-1], result)
        for panel in axes[:-1]:
            panel.tick_params(labelbottom=False)
        for panel in axes:
            panel.set_xlim(result.t[0], max(result.t[-1], result.t[0] + 1e-12))
        axes[-1].set_xlabel("time [s]")
    return figure


def plot_fit(fit: Any, path: str | os.PathLike[str] | None, title: str = "") -> Any:
    """Plot a fit's residuals at each pose, and the fitted curve's speed |s| and Hessian norm |ds/dq| along it.

    Args:
        fit: result of ``fit_curve`` (``joint``, ``q`` (N,), ``residuals`` with ``rotation`` and ``translation``
            (N,)).
        path: of the picture, or None.
        title: of the figure.

    Returns:
        The matplotlib Figure.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    q, speed, bend = _curve_geometry(fit.joint)
    residuals = fit.residuals
    with _panels(3, path, title) as (figure, axes):
        _draw_residuals(axes[0], fit.q, 1e3 * residuals.translation, np.degrees(residuals.rotation))
        for panel, values, colour, name, label in (
            (axes[1], speed, COLOURS[2], "Speed of the joint along its coordinate", "|s(q)|  [1]"),
            (axes[2], bend, COLOURS[7], "Norm of the joint Hessian", "|ds/dq|  [1]"),
        ):
            panel.plot(q, values, color=colour)
            panel.plot(
                fit.q, np.interp(fit.q, q, values), "o", color=colour, markersize=4, markerfacecolor="white"
            )
            panel.set_title(name)
            panel.set_ylabel(label)
            panel.set_ylim(0.0, 1.12 * float(values.max()))
        axes[2].set_xlabel("joint coordinate q; a circle marks a pose")
    return figure


def _curve_geometry(joint: SplineCurve) -> tuple[FloatArray, FloatArray, FloatArray]:
    """q, |s| and |ds/dq| along a curve, with the joint's length scale."""
    lower, upper = joint.domain.tolist()
    q = np.linspace(lower, upper, CURVE_SAMPLES)
    metric = joint.twist_metric
    twists, hessians = np.empty((len(q), 6)), np.empty((len(q), 6))
    for k, value in enumerate(q):
        _, subspace, hessian = joint.evaluate(value)
        twists[k], hessians[k] = subspace[:, 0], hessian[:, 0, 0]
    return q, metric.norm(twists), metric.norm(hessians)


def _draw_coordinates(panel: Any, result: Result, q: FloatArray, columns: list[int]) -> None:
    for place, column in enumerate(columns):
        colour = COLOURS[place % len(COLOURS)]
        style = ("-", "--", ":", "-.")[place // len(COLOURS) % 4]
        name = result.model.coordinate_names[column]
        panel.plot(result.t, q[:, column], style, color=colour, label=name)
    if len(columns) <= LEGEND_LIMIT:
        panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _broken_at_jumps(result: Result) -> FloatArray:
    """q (T, nv) with NaN where a rotation vector changes its chart: the motion itself does not jump there."""
    q = result.q.copy()
    expected = 0.5 * (result.qd[1:] + result.qd[:-1]) * np.diff(result.t)[:, None]
    jumps = np.abs(np.diff(q, axis=0) - expected) > JUMP
    for body in result.model.bodies:
        start = result.model.coordinate_slice(body.name).start
        angles = [start + k for k, unit in enumerate(body.joint.coordinate_units) if unit == "rad"]
        rows = 1 + np.flatnonzero(jumps[:, angles].any(axis=1))
        q[np.ix_(rows, angles)] = np.nan
    return q


def _draw_energy(energies: Any, change: Any, result: Result) -> None:
    kinetic, potential, total = result.energy.T
    energies.plot(result.t, total, color=TOTAL, label="total", linewidth=3.0)  # thick and below its parts
    energies.plot(result.t, kinetic, color=KINETIC, label="kinetic")
    energies.plot(result.t, potential, color=POTENTIAL, label="potential")
    energies.set_title("Energy")
    energies.set_ylabel("energy [J]")
    energies.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    drift = total - total[0]
    change.plot(result.t, drift, color=TOTAL)
    change.fill_between(result.t, 0.0, drift, color=TOTAL, alpha=0.08, linewidth=0.0)
    swing = float(np.ptp(kinetic))
    share = (
        f"; {np.abs(drift).max() / swing:.2g} of the kinetic energy's swing at most" if swing > 0.0 else ""
    )
    change.set_title("Change of the total energy" + share)
    change.set_ylabel("E − E(0)  [J]")


def _draw_residuals(panel: Any, q: FloatArray, millimetres: FloatArray, degrees: FloatArray) -> None:
    """Draw two quantities as stems side by side, in millimetres on the left axis and in degrees on the right axis."""
    other = panel.twinx()
    apart = 0.08 * float(np.ptp(q)) / max(len(q) - 1, 1)
    for axes, values, colour, shift, label in (
        (panel, millimetres, TRANSLATION, -apart, "translation [mm]"),
        (other, degrees, ROTATION, apart, "rotation [°]"),
    ):
        axes.vlines(q + shift, 0.0, values, color=colour, linewidth=2.5, alpha=0.85)
        axes.plot(q + shift, values, "o", color=colour, markersize=5)
        axes.set_ylabel(label, color=colour)
        axes.tick_params(axis="y", colors=colour)
        axes.set_ylim(0.0, 1.15 * max(float(values.max()), 1e-12))
    other.grid(False)
    panel.set_title(f"Residual of each pose: at most {millimetres.max():.3g} mm and {degrees.max():.3g}°")


@contextmanager
def _panels(count: int, path: str | os.PathLike[str] | None, title: str) -> Iterator[tuple[Any, list[Any]]]:
    """A figure of stacked panels with a common horizontal axis; saved at the end if a path is given."""
    with _figure((9.0, 2.1 * count + 0.6), path, title) as figure:
        axes = list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
        yield figure, axes
        figure.align_ylabels(axes)


@contextmanager
def _figure(size: tuple[float, float], path: str | os.PathLike[str] | None, title: str) -> Iterator[Any]:
    """An empty figure of a size in inches; saved at the end if a path is given."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingDependencyError(
            "plots need matplotlib, which is not installed: pip install matplotlib"
        ) from error
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, dpi=120, layout=layout)
        FigureCanvasAgg(figure)
        yield figure
        if title:
            figure.suptitle(title, fontsize=13.0, fontweight="bold", x=0.02, ha="left")
        if path is not None:
            with write_atomically(path) as temporary:
                figure.savefig(temporary)
