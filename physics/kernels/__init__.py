"""Numerical kernels, which run compiled or as plain Python; each folder imports only lower folders."""

from typing import TYPE_CHECKING

from .loading import load_on_use

if TYPE_CHECKING:
    from . import adjoint as adjoint
    from . import algebra as algebra
    from . import constraints as constraints
    from . import contact as contact
    from . import dynamics as dynamics
    from . import forces as forces
    from . import joints as joints
    from . import muscles as muscles
    from . import search as search
    from . import soft as soft
    from . import stepping as stepping
else:
    __getattr__ = load_on_use(__name__)
