"""Springs, ground, mounts, limits and laws of coordinates."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import elements as elements
    from . import limits as limits
else:
    __getattr__ = load_on_use(__name__)
