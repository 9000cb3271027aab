"""Contacts: points of bodies that collide with obstacles, and shapes that collide with each other."""

from .collider import Collider, ColliderArrays
from .contact import Contact, make_contact, pack_contacts
from .meshes import TriangleMesh
from .obstacles import REGISTRY, Box, Capsule, HeightField, Obstacle, Plane, Sphere, obstacle_from_dict
from .shapes import Convex

__all__ = [
    "REGISTRY",
    "Box",
    "Capsule",
    "Collider",
    "ColliderArrays",
    "Contact",
    "Convex",
    "HeightField",
    "Obstacle",
    "Plane",
    "Sphere",
    "TriangleMesh",
    "make_contact",
    "obstacle_from_dict",
    "pack_contacts",
]
