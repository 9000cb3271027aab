"""Soft bodies: nodes with tetrahedra and springs, free or attached to bodies."""

from .body import SoftBody
from .embedding import Embedding

__all__ = ["Embedding", "SoftBody"]
