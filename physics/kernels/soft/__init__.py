"""Soft bodies: elements, the sparse system of tree and nodes, and steps; compiled only for models that have them."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import layout as layout
    from . import rollout as rollout
    from . import system as system
else:
    __getattr__ = load_on_use(__name__)
