"""Results of curve fits."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..joints import SplineCurve


@dataclass(frozen=True, eq=False)
class Residuals:
    """Distance between the curve and each pose, each (N,).

    Attributes:
        rotation: angle between the poses [rad].
        translation: distance between their origins [m].
        distance: both in the fit's metric, by default sqrt(angle^2 + (distance / length_scale)^2) of the connecting
            twist.
    """

    rotation: FloatArray
    translation: FloatArray
    distance: FloatArray


@dataclass(frozen=True, eq=False)
class CurveFit:
    """A spline curve joint fitted to poses.

    Attributes:
        joint: the fitted `SplineCurve`.
        q: parameter of each pose (N,).
        residuals: see `Residuals`.
        iterations: total number of Gauss-Newton steps.
        converged: whether the last step was below the tolerance.
        hessian_integral: integral of |h(q)|^2 over the range, in the metric.
        length_scale: metres that count as one radian.
        steps: size of every Gauss-Newton step, for judging convergence.
        weights: the poses' robust weights (N,), from 0 to 1; None or ones without.
        pinned: indices of the poses that the curve passes exactly.
        missing: largest residual of the equations of pinned poses and ends, in the metric.
        metric: the fit's metric M (6, 6) on body twists.
        tried: numbers of control frames tried for `within`, with the largest residuals of each [m], [rad].
    """

    joint: SplineCurve
    q: FloatArray
    residuals: Residuals
    iterations: int
    converged: bool
    hessian_integral: float
    length_scale: float
    steps: tuple[float, ...]
    weights: FloatArray | None = None
    pinned: tuple[int, ...] = ()
    missing: float = 0.0
    metric: FloatArray | None = None
    tried: tuple[tuple[int, float, float], ...] = ()

    def report(self) -> dict[str, Any]:
        """JSON-able summary in millimetres and degrees, one entry a pose."""
        millimetres = 1e3 * self.residuals.translation
        degrees = np.rad2deg(self.residuals.rotation)
        weights = np.ones(len(self.q)) if self.weights is None else self.weights
        return {
            "iterations": self.iterations,
            "converged": self.converged,
            "num_frames": len(self.joint.frames),
            "order": self.joint.order,
            "length_scale_m": self.length_scale,
            "hessian_integral": self.hessian_integral,
            "max_mm": float(millimetres.max()),
            "max_degrees": float(degrees.max()),
            "poses": [
                {"q": float(q), "mm": float(mm), "degrees": float(angle), "weight": float(weight)}
                for q, mm, angle, weight in zip(self.q, millimetres, degrees, weights)
            ],
            "pinned": list(self.pinned),
            "missing": self.missing,
            "metric": None if self.metric is None else self.metric.tolist(),
            "tried": [
                {"num_frames": m, "max_mm": 1e3 * metres, "max_degrees": float(np.rad2deg(radians))}
                for m, metres, radians in self.tried
            ],
        }
