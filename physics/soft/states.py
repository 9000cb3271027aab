"""Places and rates of nodes at the start of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..joints.packing import Arrays, Workspace
from ..kernels import layout as tree
from ..validation import finite_array, near_names
from .body import SoftBody
from .mesh import FREE, SoftMesh, default_poses, moved_by


class WithNodes(Protocol):
    """A model, as this file needs it."""

    soft_bodies: tuple[SoftBody, ...]
    soft_mesh: SoftMesh
    arrays: Arrays


def initial_nodes(
    model: WithNodes, q: FloatArray, qd: FloatArray, nodes: Any = None, rates: Any = None
) -> FloatArray | None:
    """Places and rates (2, n, 3) of all nodes; `nodes` and `rates` are {soft body: (n, 3)} of free nodes. None without
    soft bodies.

    Without a place, a free node moves with the bodies to which nodes are attached, weighted by 1 / distance^2; without
    any, it is where it was built, at rest.

    Raises:
        ModelError: a name is unknown, or numbers have another shape or are not finite.
    """
    if not model.soft_bodies:
        if nodes or rates:
            raise ModelError("nodes and node_rates are of soft bodies: the model has none")
        return None
    mesh, arrays = model.soft_mesh, model.arrays
    states: FloatArray = np.stack([mesh.rest, np.zeros_like(mesh.rest)])
    poses, twists = default_poses(arrays, q), _twists(arrays, q, qd)
    for own in mesh.slices.values():
        _follow(mesh, own, poses, twists, states)
    for k, (given, word) in enumerate(((nodes, "nodes"), (rates, "node_rates"))):
        if given is not None and not isinstance(given, Mapping):
            raise ModelError(f"{word} must be {{soft body: (n, 3)}}, got {given!r:.80}")
        for name, values in (given or {}).items():
            if name not in mesh.slices:
                raise ModelError(f"{word}: no soft body is named {name!r}{near_names(name, mesh.slices)}")
            own = mesh.slices[name]
            free = np.flatnonzero(mesh.bodies[own] == FREE)
            count = own.stop - own.start
            states[k, own.start + free] = finite_array(values, (count, 3), f"{word} of {name!r}")[free]
    return states


def carried_nodes(model: WithNodes, state: Any, q: FloatArray, qd: FloatArray) -> FloatArray | None:
    """Places and rates (2, n, 3) of all nodes of a state where its bodies are moved to other coordinates and velocities
    (nv,), by as much as those of `initial_nodes`.
    """
    after, before = initial_nodes(model, q, qd), initial_nodes(model, state.q, state.qd)
    return None if after is None or before is None else state.soft_states + (after - before)


def with_nodes(
    model: WithNodes, q: FloatArray, qd: FloatArray, nodes: Any = None, rates: Any = None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Coordinates and velocities (nv,) for places and rates (2, n, 3) of all nodes, as `initial_nodes` gives them."""
    states = initial_nodes(model, q, qd, nodes, rates)
    return (q, qd, None) if states is None else (*on_surfaces(model, q, qd, states), states)


def on_surfaces(
    model: WithNodes, q: FloatArray, qd: FloatArray, states: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coordinates and velocities (nv,) with x, y, z of bodies on flexible surfaces from places and rates of nodes."""
    mesh, arrays = model.soft_mesh, model.arrays
    if mesh.num_beads:
        q, qd, flat = np.array(q), np.array(qd), mesh.inward(states)
        packed, spaces = mesh.moving(arrays), Workspace(len(arrays[0]), len(q)).clear()
        kernels.soft.rollout.follow_surfaces(
            arrays, packed, q, qd, flat[0].copy(), flat[1].copy(), mesh.workspace(len(arrays[0]), 0), spaces
        )
    return q, qd


def _twists(arrays: Arrays, q: FloatArray, qd: FloatArray) -> FloatArray:
    """World twists (nb, 6) of the bodies about the world's origin."""
    work, dof, flags = Workspace(len(arrays[0]), len(q)).clear()
    kernels.joints.kinematics.kinematics(arrays, np.array(q), np.array(qd), work, dof, flags)
    count = len(arrays[0])
    twists = work[:count, [tree.VELOCITY + k for k in tree.TWIST]]
    reference = work[arrays[0][:, tree.ROOT], tree.REFERENCE : tree.REFERENCE + 3]
    twists[:, 3:] -= np.cross(twists[:, :3], reference)
    return twists


def _rates(twists: FloatArray, places: FloatArray) -> FloatArray:
    found: FloatArray = twists[..., 3:] + np.cross(twists[..., :3], places)
    return found


def _follow(mesh: SoftMesh, own: slice, poses: FloatArray, twists: FloatArray, states: FloatArray) -> None:
    """Write the states of a soft body's nodes that follow bodies."""
    held = own.start + np.flatnonzero(mesh.bodies[own] >= 0)
    free = own.start + np.flatnonzero(mesh.bodies[own] == FREE)
    bodies = mesh.bodies[held]
    states[0, held] = moved_by(poses[bodies], mesh.points[held])
    states[1, held] = _rates(twists[bodies], states[0, held])
    if not len(held):  # the world alone
        return
    groups = []
    for body in sorted(set(bodies.tolist())):
        places = moved_by(poses[body] @ np.linalg.inv(mesh.poses[body]), mesh.rest[free])
        groups.append((mesh.rest[held[bodies == body]], np.stack([places, _rates(twists[body], places)])))
    states[:, free] = blended(mesh.rest[free], groups)


def blended(points: FloatArray, groups: Iterable[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Means (..., n, 3) of values (..., n, 3) that groups give to points (n, 3), weighted by 1 / distance^2 from the
    nearest of each group's own points (k, 3).
    """
    sums = total = np.zeros((len(points), 1))
    for nearby, values in groups:
        away = ((points[:, None] - nearby) ** 2).sum(axis=-1).min(axis=1)
        weight = 1.0 / np.maximum(away, 1e-30)[:, None]
        total, sums = total + weight, sums + weight * values
    found: FloatArray = sums / total
    return found
