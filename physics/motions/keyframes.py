"""Tables of inputs from keyframes, for controllers and forces."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..model.model import Model
from ..validation import finite_array, finite_row, instance, number, rising
from .table import Table

MOST_SAMPLES = 10_000_000


def keyframe_table(model: Model, keys: Mapping[str, Any], interval: float = 0.01, tau: Any = None) -> Table:
    """A `Table` in which inputs follow smooth curves through keyframes, constant before and after them.

    The curves are cubic splines with a continuous second derivative that start and end at rest. The table samples them,
    and is linear between samples. A key of a controller's coordinate (``"controller.coordinate"``, see
    `PositionController`) also sets the rate, to the curve's slope.

    Args:
        model: the model of the inputs.
        keys: {name of an input, or of a controller's coordinate: (times (k,), values (k,))}, times increasing [s].
        interval: between samples [s].
        tau: other generalized forces and inputs, as for `Model.with_inputs`.

    Raises:
        ModelError: a name is unknown, times do not increase, or shapes or numbers are invalid.
    """
    instance(model, Model, "model")
    interval = number(interval, "interval", positive=True)
    if not isinstance(keys, Mapping) or not keys:
        raise ModelError(f"keys must be {{name: (times, values)}}, got {keys!r:.80}")
    curves = {name: _checked_keys(name, entry) for name, entry in keys.items()}
    start = min(times[0] for times, _ in curves.values())
    end = max(times[-1] for times, _ in curves.values())
    if not end - start <= MOST_SAMPLES * interval:
        raise ModelError(
            f"interval {interval:g} s makes more than {MOST_SAMPLES} samples of {end - start:g} s"
        )
    count = max(int(np.ceil((end - start) / interval - 1e-9)), 1)
    times = np.unique(
        np.concatenate([np.linspace(start, end, count + 1), *(curve[0] for curve in curves.values())])
    )
    base = model.with_inputs(tau)
    if base.ndim != 1:
        raise ModelError(f"tau must have shape ({model.num_coordinates},), got {base.shape}")
    values = np.tile(base, (len(times), 1))
    columns = {name: model.num_coordinates + k for k, name in enumerate(model.input_names)}
    for name, (knots, heights) in curves.items():
        place, slopes = _sampled(knots, heights, times)
        if f"{name}.target" in columns:
            values[:, columns[f"{name}.target"]] = place
            values[:, columns[f"{name}.rate"]] = slopes
        elif name in columns:
            values[:, columns[name]] = place
        else:
            known = ", ".join(model.input_names) or "none"
            raise ModelError(f"keys name no input or controller's coordinate: {name!r}; inputs are {known}")
    return Table(times, values)


def _checked_keys(name: Any, entry: Any) -> tuple[FloatArray, FloatArray]:
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        raise ModelError(f"keys of {name!r} must be (times, values), got {entry!r:.80}")
    times, values = rising(entry[0], f"times of {name!r}"), finite_row(entry[1], f"values of {name!r}")
    return times, finite_array(values, times.shape, f"values of {name!r}")


def _sampled(knots: FloatArray, heights: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and slopes of the curve at times, constant outside its keys."""
    slopes = _knot_slopes(knots, heights)
    if len(knots) == 1:
        return np.full(len(times), heights[0]), np.zeros(len(times))
    piece = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(knots) - 2)
    step = np.diff(knots)[piece]
    x = np.clip((times - knots[piece]) / step, 0.0, 1.0)
    a, b = heights[piece], heights[piece + 1]
    first, second = step * slopes[piece], step * slopes[piece + 1]
    square, cube = 3.0 * (b - a) - 2.0 * first - second, first + second - 2.0 * (b - a)
    value = a + x * (first + x * (square + x * cube))
    slope = (first + x * (2.0 * square + 3.0 * x * cube)) / step
    return value, slope


def _knot_slopes(knots: FloatArray, heights: FloatArray) -> FloatArray:
    """Slopes (k,) at the keys that make the second derivative continuous, 0 at both ends."""
    count = len(knots)
    matrix, right = np.eye(count), np.zeros(count)
    step = np.diff(knots)
    rise = np.diff(heights) / step
    for k in range(1, count - 1):
        matrix[k, k - 1 : k + 2] = [step[k], 2.0 * (step[k - 1] + step[k]), step[k - 1]]
        right[k] = 3.0 * (step[k] * rise[k - 1] + step[k - 1] * rise[k])
    return np.linalg.solve(matrix, right)
