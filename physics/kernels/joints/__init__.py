"""Poses, velocities and derivatives of products of exponentials and splines."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import fitted_curve as fitted_curve
    from . import functions as functions
    from . import kinematics as kinematics
    from . import tangent as tangent
    from . import worlds as worlds
else:
    __getattr__ = load_on_use(__name__)
