"""Random trees with springs and dampers in joints and between points, described for several engines at once."""

from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph

from ..generators import random_body, unit_vector


def sprung_tree(
    rng: Generator, num_bodies: int, kinds: tuple[str, ...], root_kinds: tuple[str, ...]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Any]:
    """Bodies (arguments of `add_body`, parent an index or None), springs (of `add_spring`, likewise), gravity.

    Bodies are in depth-first order. Rotation vectors have no dampers and no armature, as those of other engines act on
    angular velocities.
    """
    bodies: list[dict[str, Any]] = []
    for index in range(num_bodies):
        parent = index - 1 if index else None
        while parent is not None and rng.random() < 0.4:
            parent = bodies[parent]["parent"]
        body = random_body(rng, root_kinds if parent is None else kinds) | {"parent": parent}
        count, kind = body["joint"].num_coordinates, body["joint"].type
        body["stiffness"] = np.full(count, 0.0 if kind == "free" else 5.0 * rng.random())
        body["rest"] = np.full(count, rng.standard_normal() if kind in ("hinge", "slider") else 0.0)
        body["damping"] = np.full(count, 0.0 if kind in ("free", "spherical") else rng.random())
        body["armature"] = np.full(count, 0.0 if kind in ("free", "spherical") else 0.02 * rng.random())
        bodies.append(body)
    springs = []
    for _ in range(1 + num_bodies // 3):
        one = int(rng.integers(num_bodies))
        other = int(rng.integers(-1, num_bodies))
        if one == other:
            other = -1
        springs.append(
            {
                "body": one,
                "point": 0.2 * rng.standard_normal(3),
                "other": None if other < 0 else other,
                "other_point": 0.2 * rng.standard_normal(3),
                "stiffness": 50.0 * rng.random(),
                "damping": 2.0 * rng.random(),
                "rest_length": rng.random(),
            }
        )
    return bodies, springs, 9.81 * unit_vector(rng)


def our_tree(bodies: list[dict[str, Any]], springs: list[dict[str, Any]], gravity: Any) -> Any:
    """Our model of the same tree."""
    builder = ph.ModelBuilder(gravity=gravity)
    name = {None: None} | {index: f"body {index}" for index in range(len(bodies))}
    for index, body in enumerate(bodies):
        builder.add_body(name[index], **(body | {"parent": name[body["parent"]]}))
    for number, spring in enumerate(springs):
        ends = {"body": name[spring["body"]], "other": name[spring["other"]]}
        builder.add_spring(f"spring {number}", **(spring | ends))
    return builder.build()
