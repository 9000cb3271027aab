"""Rows of loops, couplings and rolling, and the bodies' response to them."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import row_pieces as row_pieces
    from . import rows as rows
else:
    __getattr__ = load_on_use(__name__)
