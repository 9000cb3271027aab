"""Models of two or more colliders, and what detection finds of them."""

from typing import Any

import numpy as np

import physics as ph
from physics import kernels
from physics.contacts import Box, Capsule, Convex, Plane, Sphere
from physics.dynamics.workspace import contact_space
from physics.kernels.contact.layout import FOUND

KINDS = ("sphere", "capsule", "box", "convex")


def shape(kind: str, rng: np.random.Generator) -> Any:
    """A random shape, centimetres to decimetres large."""
    if kind == "sphere":
        return Sphere(rng.uniform(0.05, 0.3))
    if kind == "capsule":
        return Capsule(rng.uniform(0.03, 0.2), rng.uniform(0.05, 0.4))
    if kind == "box":
        return Box(rng.uniform(0.05, 0.4, 3))
    return Convex(0.2 * rng.normal(size=(int(rng.integers(5, 20)), 3)))


def free_builder(count: int, mass: float = 1.0, inertia: Any = None) -> ph.ModelBuilder:
    """A builder with free bodies "0", "1", ..."""
    builder = ph.ModelBuilder()
    inertia = mass * 0.04 / 6.0 * np.eye(3) if inertia is None else inertia
    for k in range(count):
        builder.add_body(str(k), joint=ph.joints.Free(), mass=mass, inertia=inertia)
    return builder


def pair(first: Any, second: Any, **values: Any) -> ph.Model:
    """Two free bodies with a collider each."""
    builder = free_builder(2)
    builder.add_collider("first", "0", first, **values)
    builder.add_collider("second", "1", second, **values)
    return builder.build()


def boxes(count: int, half: float = 0.1, friction: float = 0.5, **values: Any) -> ph.Model:
    """Free boxes "0", "1", ... of 1 kg over a floor."""
    builder = free_builder(count, 1.0, (2.0 * half) ** 2 / 6.0 * np.eye(3))
    builder.add_collider("floor", None, Plane(), friction=friction)
    for k in range(count):
        builder.add_collider(str(k), str(k), Box((half,) * 3), friction=friction, **values)
    return builder.build()


def found_at(model: ph.Model, q: Any, reach: float = 1.0, space: Any = None) -> np.ndarray:
    """Rows of the contacts of colliders with a gap below twice the reach."""
    space = contact_space(model) if space is None else space
    work, dof, flags = model.workspace().clear()
    q = np.asarray(q, dtype=np.float64)
    kernels.joints.kinematics.kinematics(model.arrays, q, np.zeros_like(q), work, dof, flags)
    count = kernels.contact.colliding.collide(model.arrays, space, 0.0, reach, work, 0)
    assert not kernels.contact.colliding.overflows(model.arrays, space)
    return np.array(space[FOUND][:count])
