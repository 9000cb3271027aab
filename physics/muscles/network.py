"""A network for paths over a cylinder (Wang 2022, sec. 5.3.3), with weights that come with the package.

It is here for comparison only. The engine uses the smooth path of `Wrap`, which needs no training, accepts any input,
has a chosen error, and is faster. The claim ``wrapping.network`` has the errors of both, the benchmark
``wrap_network_over_geodesic`` their cost. The report of the weights is next to them; ``cylinder_network_table.json``
has the errors of networks of other depths, widths and thresholds.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from ..errors import ModelError
from ..kernels.wrapping import layout as wrap_layout
from ..kernels.wrapping.network import INPUTS, LANES, OUTPUTS, network_forward
from ..kernels.wrapping.strand import wrap_length, wrap_point
from ..validation import finite_array, number
from .obstacles import Cylinder
from .wrapping import Wrap

LAYERS, UNITS = 6, 256
#: bounds of the inputs: distances of both ends from the axis over the radius, angle between them, fraction
LOWEST, HIGHEST = (1.05, 1.05, 0.0, 0.0), (10.0, 10.0, 4.0, 1.0)
WEIGHTS = Path(__file__).parent / "cylinder_network.npz"
FRAME = np.array([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])


@dataclass(frozen=True)
class NetworkPoint:
    """A point of a path over a cylinder, in the cylinder's frame.

    Attributes:
        position: (3,) [m]. jacobian: (3, 6) derivatives by both ends at a fixed fraction.
        velocity, acceleration: (3,) for the given velocities of the ends, which do not accelerate.
        inside: whether it comes from the network; if the inputs are out of bounds it comes from the smooth path.
    """

    position: FloatArray
    jacobian: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    inside: bool


@cache
def weights(path: Path = WEIGHTS) -> NDArray[np.float32]:
    """The weights for the kernel, as one array.

    Raises:
        ModelError: the file is missing or damaged, or its arrays are not those of this network.
    """
    try:
        return _read(path)
    except ModelError:
        raise
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelError(f"the network's weights {path} cannot be read: {error}") from error


def _read(path: Path) -> NDArray[np.float32]:
    sizes = [INPUTS, *[UNITS] * LAYERS, OUTPUTS]
    parts = []
    if not zipfile.is_zipfile(path):
        raise ModelError(f"{path.name} is missing or no archive of arrays")
    with np.load(path, allow_pickle=False) as file:
        for k, (before, after) in enumerate(pairwise(sizes)):
            for name, shape in ((f"weights_{k}", (before, after)), (f"offsets_{k}", (after,))):
                if name not in file or file[name].shape != shape:
                    raise ModelError(f"{path.name} has no array {name!r} of shape {shape}")
                parts.append(file[name].astype(np.float32).ravel())
    result: NDArray[np.float32] = np.concatenate(parts)
    result.flags.writeable = False
    return result


def network_point(
    radius: float, ends: Any, fraction: float, rates: Any = None, fraction_rate: float = 0.0
) -> NetworkPoint:
    """The point at a fraction of the path's length, counterclockwise about a cylinder along z.

    Args:
        radius: of the cylinder [m]. ends: (2, 3) [m] in its frame. fraction: from 0 to 1.
        rates: (2, 3) velocities of the ends; None: at rest. fraction_rate: time derivative of the fraction.

    Raises:
        ModelError: a value is not finite, not positive or of the wrong shape.
    """
    radius = number(radius, "radius of a cylinder", positive=True)
    x = finite_array(ends, (2, 3), "ends")
    v = np.zeros((2, 3)) if rates is None else finite_array(rates, (2, 3), "rates")
    part = number(fraction, "fraction"), number(fraction_rate, "fraction_rate")
    far = np.hypot(x[:, 0], x[:, 1])
    turn = _angle(x)
    inside = bool(
        far.min() >= LOWEST[0] * radius
        and far.max() <= HIGHEST[0] * radius
        and turn <= HIGHEST[2]
        and 0.0 <= part[0] <= 1.0
    )
    if not inside:
        return _smooth_point(radius, x, v, part)
    return _network_point(radius, x, v, part, far, turn)


def _angle(x: FloatArray) -> float:
    """Angle from the first end to the last, counterclockwise, from 0 to a full turn."""
    (a, b), (c, d) = x[:, :2]
    return float(np.arctan2(a * d - b * c, a * c + b * d)) % (2.0 * np.pi)


def _smooth_point(radius: float, x: FloatArray, v: FloatArray, part: tuple[float, float]) -> NetworkPoint:
    """The same point of the smooth path."""
    wrap = Wrap((Cylinder(radius=radius, side="counterclockwise"),))
    record, own, gradient = wrap.packed({}, []), np.zeros(wrap.workspace_size), np.empty(12)
    motion = np.concatenate([v.ravel(), np.zeros(6)])
    length, curvature = wrap_length(record, 0, x.ravel(), FRAME, motion, own, gradient)
    rate = float(own[wrap_layout.RATE])
    point, tangent, jacobian, bias = np.empty(3), np.empty(3), np.empty((3, 12)), np.empty(3)
    sigma, sigma_rate = part[0] * length, part[1] * length + part[0] * rate
    wrap_point(record, 0, sigma, sigma_rate, motion, own, point, tangent, jacobian, bias)
    return NetworkPoint(
        point,
        jacobian[:, :6] + part[0] * np.outer(tangent, gradient[:6]),
        jacobian @ motion + tangent * sigma_rate,
        bias + tangent * (2.0 * part[1] * rate + part[0] * curvature),
        False,
    )


def _network_point(
    radius: float, x: FloatArray, v: FloatArray, part: tuple[float, float], far: FloatArray, turn: float
) -> NetworkPoint:
    out = x[:, :2] / far[:, None]
    aside = np.stack([-out[:, 1], out[:, 0]], axis=1)
    along, across = (out * v[:, :2]).sum(axis=1), (aside * v[:, :2]).sum(axis=1)
    spin = across / far
    spin_rate = -2.0 * along * spin / far
    # rate of the logarithm of the distance
    grow = along / far
    log = np.log(np.array(HIGHEST[:2]) / LOWEST[:2])
    inputs = np.zeros((3, INPUTS))
    inputs[0, :2] = 2.0 * np.log(far / radius / LOWEST[:2]) / log - 1.0
    inputs[1, :2] = 2.0 * grow / log
    inputs[2, :2] = 2.0 * (spin**2 - grow**2) / log
    scale = 2.0 / HIGHEST[2]
    inputs[:, 2] = scale * turn - 1.0, scale * (spin[1] - spin[0]), scale * (spin_rate[1] - spin_rate[0])
    inputs[:2, 3] = 2.0 * part[0] - 1.0, 2.0 * part[1]
    outputs = np.empty((LANES, OUTPUTS))
    network_forward(weights(), LAYERS, UNITS, inputs, np.empty((2, LANES, UNITS)), outputs)
    f, f1 = part
    hump = radius * np.array([f * (1.0 - f), (1.0 - 2.0 * f) * f1, -2.0 * f1 * f1])
    axes = np.stack([out[0], aside[0]], axis=1)
    axes1 = spin[0] * np.stack([aside[0], -out[0]], axis=1)
    axes2 = spin_rate[0] * np.stack([aside[0], -out[0]], axis=1) - spin[0] ** 2 * axes
    n, n1, n2 = outputs[:3]
    position, velocity, acceleration = (1.0 - f) * x[0] + f * x[1], (1.0 - f) * v[0] + f * v[1], np.zeros(3)
    velocity = velocity + f1 * (x[1] - x[0])
    acceleration[:] = 2.0 * f1 * (v[1] - v[0])
    position[:2] += hump[0] * axes @ n
    velocity[:2] += hump[1] * axes @ n + hump[0] * (axes1 @ n + axes @ n1)
    acceleration[:2] += hump[2] * axes @ n + 2.0 * hump[1] * (axes1 @ n + axes @ n1)
    acceleration[:2] += hump[0] * (axes2 @ n + 2.0 * axes1 @ n1 + axes @ n2)
    by = np.zeros((INPUTS, 4))  # derivatives of the inputs by both ends in the plane
    by[0, :2], by[1, 2:] = 2.0 / log[0] * out[0] / far[0], 2.0 / log[1] * out[1] / far[1]
    by[2] = scale * np.concatenate([-aside[0] / far[0], aside[1] / far[1]])
    plane = hump[0] * axes @ outputs[3:].T @ by
    plane[:, :2] += hump[0] * np.outer(np.stack([aside[0], -out[0]], axis=1) @ n, aside[0] / far[0])
    jacobian = np.concatenate([(1.0 - f) * np.eye(3), f * np.eye(3)], axis=1)
    jacobian[:2, [0, 1, 3, 4]] += plane
    return NetworkPoint(position, jacobian, velocity, acceleration, True)
