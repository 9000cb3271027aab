"""Soft bodies: nodes with tetrahedra and springs, free or attached to bodies."""

from .body import SoftBody
from .embedding import Embedding
from .lattice import soft_lattice

__all__ = ["Embedding", "SoftBody", "soft_lattice"]
