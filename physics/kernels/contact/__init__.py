"""Contacts and impacts: detection, impulses with friction, constrained steps."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import colliding as colliding
    from . import constrained_step as constrained_step
    from . import detection as detection
    from . import impulse_layout as impulse_layout
    from . import impulses as impulses
    from . import row_impulses as row_impulses
    from . import rows as rows
else:
    __getattr__ = load_on_use(__name__)
