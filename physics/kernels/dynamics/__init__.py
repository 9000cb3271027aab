"""The articulated-body, Newton-Euler and composite-body algorithms, and their derivatives."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import aba as aba
    from . import branches as branches
    from . import crba as crba
    from . import derivatives as derivatives
    from . import jacobian as jacobian
    from . import maximal as maximal
    from . import observe as observe
    from . import rnea as rnea
    from . import sampled as sampled
else:
    __getattr__ = load_on_use(__name__)
