"""Contacts: points of bodies that collide with obstacles, with friction and restitution."""

from .contact import Contact, make_contact, pack_contacts
from .obstacles import REGISTRY, Box, Capsule, HeightField, Obstacle, Plane, Sphere, obstacle_from_dict

__all__ = [
    "REGISTRY",
    "Box",
    "Capsule",
    "Contact",
    "HeightField",
    "Obstacle",
    "Plane",
    "Sphere",
    "make_contact",
    "obstacle_from_dict",
    "pack_contacts",
]
