"""Results of surface fits."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..joints import SplineSurface
from .result import Residuals


@dataclass(frozen=True, eq=False)
class SurfaceFit:
    """A spline surface joint fitted to poses.

    Attributes:
        joint: the fitted `SplineSurface`; its `values` are three angles [rad] about the axes of its `sequence`, which
            the fit chooses unless it is given, then x, y, z [m].
        q: place of each pose (N, n).
        residuals: see `Residuals`.
        iterations: Gauss-Newton steps.
        converged: whether the last step was below the tolerance.
        hessian_integral: the integral weighted by `smoothing`: the squared Hessian in the metric, scaled as in
            `surface_system.Problem`.
        smoothing: weight in use: the one given, or more if the poses leave holes.
        coverage: how well the poses determine the net, from 0 to 1, see `surface_linear.coverage`.
        length_scale: metres that count as one radian.
        steps: size of every Gauss-Newton step, for judging convergence.
    """

    joint: SplineSurface
    q: FloatArray
    residuals: Residuals
    iterations: int
    converged: bool
    hessian_integral: float
    smoothing: float
    coverage: float
    length_scale: float
    steps: tuple[float, ...]

    def report(self) -> dict[str, Any]:
        """JSON-able summary in millimetres and degrees, one entry a pose."""
        millimetres = 1e3 * self.residuals.translation
        degrees = np.rad2deg(self.residuals.rotation)
        return {
            "iterations": self.iterations,
            "converged": self.converged,
            "num_frames": list(self.joint.values.shape[:-1]),
            "order": list(self.joint.order),
            "periodic": list(self.joint.periodic),
            "sequence": self.joint.sequence,
            "gimbal_margin": self.joint.gimbal_margin(),
            "smoothing": self.smoothing,
            "coverage": self.coverage,
            "length_scale_m": self.length_scale,
            "hessian_integral": self.hessian_integral,
            "max_mm": float(millimetres.max()),
            "max_degrees": float(degrees.max()),
            "poses": [
                {"q": [float(x) for x in q], "mm": float(mm), "degrees": float(angle)}
                for q, mm, angle in zip(self.q, millimetres, degrees)
            ],
        }
