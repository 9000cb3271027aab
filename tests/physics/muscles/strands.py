"""Strands in motion, for the tests of wrapping: inputs with known accelerations, and what the kernels make of
them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from physics.geometry import lie
from physics.kernels.wrapping import layout as wrap_layout
from physics.kernels.wrapping.network import lay_nodes
from physics.kernels.wrapping.strand import wrap_length, wrap_point
from physics.muscles.wrapping import Wrap


class Motion:
    """Ends and frames of m obstacles on quadratic paths, the frames turning at constant rates."""

    def __init__(self, ends: Any, frames: Any, rng: np.random.Generator, speed: float = 0.3) -> None:
        start = [*np.asarray(ends, dtype=float), *(frame[:3, 3] for frame in frames)]
        self.paths = [np.stack([x, *(speed * rng.normal(size=(2, 3)))]) for x in start]
        self.turned = [frame[:3, :3] for frame in frames]
        self.spins = speed * rng.normal(size=(len(self.turned), 3))

    def __call__(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Ends (6,), frames (m, 12), rates (n,) and their rates (n,) at time t."""
        x = [c[0] + c[1] * t + c[2] * t * t for c in self.paths]
        v = [c[1] + 2.0 * c[2] * t for c in self.paths]
        a = [2.0 * c[2] for c in self.paths]
        turned = [lie.so3_exp(w * t) @ r for w, r in zip(self.spins, self.turned)]
        frames = np.stack([np.concatenate([r.ravel(), y]) for r, y in zip(turned, x[2:])])
        rates = np.concatenate([*v[:2], *(z for w, y in zip(self.spins, v[2:]) for z in (w, y))])
        second = np.concatenate([*a[:2], *(z for y in a[2:] for z in (np.zeros(3), y))])
        return np.concatenate(x[:2]), frames, rates, second


@dataclass
class Strand:
    """A strand's state: length with two derivatives in time, status, memory, and inputs."""

    length: float
    rate: float
    second: float
    gradient: np.ndarray
    status: int
    own: np.ndarray
    record: np.ndarray
    rates: np.ndarray
    accelerations: np.ndarray

    def point(self, sigma: float, sigma_rate: float = 0.0, sigma_second: float = 0.0) -> Any:
        """Position, velocity, acceleration, tangent and Jacobian of a point."""
        n = len(self.rates)
        x, tangent, jacobian, bias = np.empty(3), np.empty(3), np.empty((3, n)), np.empty(3)
        wrap_point(self.record, 0, sigma, sigma_rate, self.rates, self.own, x, tangent, jacobian, bias)
        velocity = jacobian @ self.rates + tangent * sigma_rate
        acceleration = jacobian @ self.accelerations + tangent * sigma_second + bias
        return x, velocity, acceleration, tangent, jacobian


def solve(
    wrap: Wrap, ends: Any, frames: Any, rates: Any = None, second: Any = None, own: Any = None
) -> Strand:
    """A wrap's strand at given ends (6,) and frames (m, 12) of its obstacles."""
    record = wrap.packed({}, [], massive=wrap.network is not None)
    count = int(record[0])
    n = 6 + 6 * count
    rates = np.zeros(n) if rates is None else rates
    second = np.zeros(n) if second is None else second
    own = np.zeros(wrap.workspace_size) if own is None else own
    gradient = np.empty(n)
    length, curvature = wrap_length(record, 0, np.ravel(ends), frames, rates, own, gradient)
    lay_nodes(record, 0, rates, own, gradient)
    status = int(own[wrap_layout.STATUS])
    return Strand(
        length, gradient @ rates, gradient @ second + curvature, gradient, status, own, record, rates, second
    )


def at_rest(wrap: Wrap, start: Any, stop: Any) -> Strand:
    """The strand between two points, each obstacle at its own frame in the world."""
    frames = np.stack([np.concatenate([f[:3, :3].ravel(), f[:3, 3]]) for f, _ in wrap.parts])
    return solve(wrap, np.concatenate([start, stop]), frames)


def polyline(strand: Strand, count: int = 200) -> np.ndarray:
    """Points (count + 1, 3) at equal lengths."""
    return np.stack([strand.point(s)[0] for s in np.linspace(0.0, strand.length, count + 1)])


def derivative(function: Callable[[float], Any], step: float) -> Any:
    """d function / dt at 0, by central differences of fourth order."""
    near = function(step) - function(-step)
    far = function(2.0 * step) - function(-2.0 * step)
    return (8.0 * near - far) / (12.0 * step)


def largest_error(wrap: Wrap, motion: Motion, parts: Any, step: float = 1e-4) -> float:
    """Largest relative difference of L', L'', x', x'' from finite differences along a motion, at fractions of the
    length that slide along.
    """
    strand = solve(wrap, *motion(0.0))
    scale = max(1.0, abs(strand.second))
    worst = abs(derivative(lambda t: solve(wrap, *motion(t)).length, step) - strand.rate)
    worst = max(worst, abs(derivative(lambda t: solve(wrap, *motion(t)).rate, step) - strand.second) / scale)
    for part in parts:
        begin = part * strand.length

        def moved(t: float, begin: float = begin) -> Any:
            return solve(wrap, *motion(t)).point(begin + 0.2 * t + 0.3 * t * t, 0.2 + 0.6 * t, 0.6)

        _, velocity, acceleration, _, _ = moved(0.0)
        speed = derivative(lambda t: moved(t)[0], step) - velocity
        change = derivative(lambda t: moved(t)[1], step) - acceleration
        worst = max(worst, np.abs(speed).max() / max(1.0, np.abs(velocity).max()))
        worst = max(worst, np.abs(change).max() / max(1.0, np.abs(acceleration).max()))
    return float(worst)
