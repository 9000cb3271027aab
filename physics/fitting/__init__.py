"""Poses to joints."""

from __future__ import annotations

from .curve import fit_curve
from .curve_check import CurveCheck, check_curve
from .options import FitOptions
from .result import CurveFit, Residuals

__all__ = ["CurveCheck", "CurveFit", "FitOptions", "Residuals", "check_curve", "fit_curve"]
