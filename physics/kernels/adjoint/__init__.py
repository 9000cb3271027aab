"""Gradients of whole motions: implicit steps backwards, and frames of bodies with their Jacobians."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import contact_rows as contact_rows
    from . import contact_slopes as contact_slopes
    from . import contacts as contacts
    from . import frames as frames
    from . import layout as layout
    from . import momentum as momentum
    from . import rows as rows
    from . import states as states
    from . import sweep as sweep
else:
    __getattr__ = load_on_use(__name__)
