"""Plots of results, fits, joints and models. Matplotlib is optional and imported on first use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics import body_poses
from ..errors import MissingDependencyError
from ..geometry import lie
from ..io.files import write_atomically
from ..joints import Joint, SplineCurve
from ..joints.drawing import drawing
from ..joints.symbols import Drawing, joined
from ..model.model import Model
from ..model.result import Result
from ..validation import number
from .constraint_drawing import drawing as constraint_drawing
from .constraint_drawing import spring as spring_drawing

# distinguishable without red and green (Okabe & Ito 2008)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#5d3a9b")
KINETIC, POTENTIAL, TOTAL = "#d55e00", "#0072b2", "#222222"
ROTATION, TRANSLATION = "#cc79a7", "#0072b2"
UNITS = {"rad": "angle [rad]", "m": "position [m]", "1": "curve parameter [1]"}
LEGEND_LIMIT = 14
CURVE_SAMPLES = 400
JUMP = 1.0  # rad between two samples that the velocity does not explain: a change of chart

#: colour, width in points and legend of each role, in drawing order
ROLE_STYLES: dict[str, tuple[str, float, str]] = {
    "surface": ("#9aa7b5", 0.7, "where it may slide"),
    "path": ("#e69f00", 2.0, "path"),
    "axis": ("#222222", 1.2, "axes"),
    "frame_x": ("#d62839", 1.2, ""),
    "frame_y": ("#3a9d23", 1.2, ""),
    "frame_z": ("#1f6fd6", 1.2, ""),
    "sample_x": ("#d62839", 0.9, ""),
    "sample_y": ("#3a9d23", 0.9, ""),
    "sample_z": ("#1f6fd6", 0.9, ""),
    "limit": ("#cc4778", 2.2, "limits"),
    "value": ("#0072b2", 1.8, "where it is"),
    "body": ("#bbbbbb", 1.0, "bodies"),
}
# Margin around a drawing, as a share of its size.
MARGIN = 0.06
# The axes of flat drawings have at least this share of the longest, so that tick labels do not overlap. Drawings are
# smaller than matplotlib's default, which cuts labels off.
LEAST_DEPTH, ZOOM = 0.5, 0.85

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


def plot_joint(
    joint: Joint,
    path: str | os.PathLike[str] | None,
    title: str = "",
    *,
    size: float = 0.1,
    limits: Any = None,
    q: Any = None,
) -> Any:
    """Draw a joint by ``joints.drawing.drawing``.

    Args:
        joint: any joint. path: of the picture (the suffix is the format), or None. title: of the figure.
        size, limits, q: as in ``joints.drawing.drawing``.

    Returns:
        The matplotlib Figure.

    Raises:
        MissingDependencyError: matplotlib is not installed.
        ModelError: an invalid argument.
    """
    return _draw_space([drawing(joint, size, limits, q)], path, title)


def plot_model(
    model: Model, state: State, path: str | os.PathLike[str] | None, title: str = "", *, size: float = 0.1
) -> Any:
    """Draw a model in a state: joints with limits, constraints, springs, and lines to the bodies' centres of mass.

    Returns:
        The matplotlib Figure.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    number(size, "size of a drawing", positive=True)
    poses = body_poses(model, state)
    shown = []
    for k, body in enumerate(model.bodies):
        parent = poses[body.parent] if body.parent >= 0 else np.eye(4)
        place = parent @ body.joint_in_parent
        q = state.q[model.coordinate_slice(body.name)]
        shown.append(drawing(body.joint, size, body.limits, q).moved(place))
        centre = poses[k][:3, :3] @ body.com + poses[k][:3, 3]
        moving = (poses[k] @ lie.inverse(body.body_in_joint))[:3, 3]
        ends = np.stack([parent[:3, 3] if body.parent >= 0 else place[:3, 3], place[:3, 3], moving, centre])
        shown.append(Drawing(ends, np.array([[0, 1], [2, 3]]), ("body", "body")))
    places: dict[str | None, FloatArray] = dict(zip(model.body_names, poses))
    shown += [constraint_drawing(each, places, size) for each in model.constraints.values()]
    for spring in model.springs:
        ends = np.stack(
            [
                poses[body][:3, :3] @ point + poses[body][:3, 3] if body >= 0 else point
                for body, point in ((spring.body, spring.point), (spring.other, spring.other_point))
            ]
        )
        shown.append(spring_drawing(ends[0], ends[1], size))
    return _draw_space(shown, path, title)


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


def _draw_space(drawings: Iterable[Drawing], path: str | os.PathLike[str] | None, title: str) -> Any:
    shown = joined(drawings)
    with _figure((8.0, 5.6), path, title) as figure:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        axes = figure.add_subplot(projection="3d", proj_type="ortho")
        for role, (colour, width, label) in ROLE_STYLES.items():
            segments = shown.segments(role)
            if len(segments):
                lines = Line3DCollection(segments, colors=colour, linewidths=width, label=label or None)
                axes.add_collection3d(lines)
        _fit_axes(axes, shown.points)
        for name in "xyz":
            getattr(axes, f"set_{name}label")(f"{name} [m]")
        axes.view_init(elev=24.0, azim=-58.0)
        figure.legend(loc="outside right center")
    return figure


def _fit_axes(axes: Any, points: FloatArray) -> None:
    """Set the same scale along all axes, and few ticks."""
    from matplotlib.ticker import MaxNLocator

    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    least = LEAST_DEPTH * float(half.max())
    half = (1.0 + MARGIN) * np.maximum(half, least)
    for name, centre, reach in zip("xyz", middle, half):
        getattr(axes, f"set_{name}lim")(centre - reach, centre + reach)
        getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(4 if reach > 0.7 * half.max() else 2))
    axes.set_box_aspect(half, zoom=ZOOM)


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
