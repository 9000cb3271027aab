"""Muscles: paths, mass along them, Hill's laws and their states."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import hill as hill
    from . import law_curves as law_curves
    from . import readings as readings
else:
    __getattr__ = load_on_use(__name__)
