"""Poses to joints."""

from __future__ import annotations

from .curve import fit_curve
from .result import CurveFit, Residuals

__all__ = ["CurveFit", "Residuals", "fit_curve"]
