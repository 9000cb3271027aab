"""Fits of joints to poses."""

from .curve import fit_curve
from .curve_check import CurveCheck, check_curve
from .meshes import MeshJointFit, fit_joint_to_meshes
from .options import FitOptions
from .result import CurveFit, Residuals
from .surface import fit_surface, naive_surface_fit
from .surface_result import SurfaceFit
from .surface_task import SurfaceOptions

__all__ = [
    "CurveCheck",
    "CurveFit",
    "FitOptions",
    "MeshJointFit",
    "Residuals",
    "SurfaceFit",
    "SurfaceOptions",
    "check_curve",
    "fit_curve",
    "fit_joint_to_meshes",
    "fit_surface",
    "naive_surface_fit",
]
