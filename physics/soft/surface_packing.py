"""Flexible surfaces as arrays for the kernels (`kernels.soft.surfaces`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..joints.packing import Arrays
from ..kernels import layout as tree
from .body import SoftBody
from .surface import SurfaceLaw


def surface_links(soft: Sequence[SoftBody]) -> tuple[IntArray, FloatArray]:
    """Pairs of nodes (p, 2) with mass or stiffness between them, and their laws (p, 3)."""
    pairs, laws, first = [np.zeros((0, 2), dtype=np.int64)], [np.zeros((0, 3))], 0
    for each in soft:
        if each.surface is not None:
            mass, stiffness = each.surface.matrices
            rows, columns = np.nonzero(np.tril(mass, -1))
            m, k = mass[rows, columns], stiffness[rows, columns]
            damping = each.stiffness_damping * k + each.mass_damping * m
            pairs.append(first + np.stack([rows, columns], axis=1))
            laws.append(-np.stack([k, damping, m], axis=1))
        first += len(each.nodes)
    return np.concatenate(pairs), np.concatenate(laws)


def pack_surfaces(
    soft: Sequence[SoftBody],
    places: Sequence[IntArray],
    links: tuple[IntArray, FloatArray],
    numbers: Mapping[tuple[int, int], int],
    index: Mapping[str, int],
    frames: Sequence[FloatArray],
) -> tuple[Any, ...] | None:
    """The arrays, None without flexible surfaces; beads lack what `with_coordinates` adds.

    Args:
        places: of the nodes of each soft body in the kernels' order. links: pairs of these places, the smaller first,
            and their laws. numbers: of blocks by places, the greater first. index: of bodies by name. frames: of bodies
            in their link frames.
    """
    if all(each.surface is None for each in soft):
        return None
    at = kernels.soft.layout
    beads, net, nodes, forces, size = [], [], list[list[int]](), list[FloatArray](), 0
    for each, place in zip(soft, places):
        law = each.surface
        if law is None:
            continue
        parent = -1 if law.parent is None else index[law.parent]
        for name in law.bodies:
            bead = np.zeros(at.BEAD_WIDTH, dtype=np.int64)
            bead[at.BEAD_BODY], bead[at.BEAD_NET], bead[at.BEAD_PARENT] = index[name], size, parent
            bead[at.BEAD_DIRECTIONS] = law.joint.surface.num_coordinates
            beads.append(bead)
        net.append(place[law.net])
        size += len(law.net)
        turn = law.pose[:3, :3] if parent < 0 else frames[parent][:3, :3] @ law.pose[:3, :3]
        for k, force in enumerate(law.balance()):
            if force.any() and k not in each.attached:
                nodes.append([int(place[k]), parent])
                forces.append(turn @ force)
    blocks = [[numbers[j, i], numbers[i, i], numbers[j, j]] for i, j in links[0].tolist()]
    arrays: list[Any] = [
        links[0],
        np.array(blocks, dtype=np.int64).reshape(-1, 3),
        links[1],
        np.array(beads),
        np.concatenate(net),
        np.array(nodes, dtype=np.int64).reshape(-1, 2),
        np.array(forces).reshape(-1, 3),
    ]
    for array in arrays:
        array.flags.writeable = False
    return tuple(np.ascontiguousarray(array) for array in arrays)


def with_coordinates(
    surfaces: tuple[Any, ...], arrays: Arrays, coordinates: Sequence[int]
) -> tuple[Any, ...]:
    """The arrays with what beads need of a tree: first coordinates, and where their surfaces are in its data."""
    at, (body_int, _, block_int, _, _) = kernels.soft.layout, arrays
    beads = surfaces[at.BEADS].copy()
    for bead in beads:
        body = body_int[bead[at.BEAD_BODY]]
        bead[at.BEAD_SHIFT] = body[tree.DOF_START]
        bead[at.BEAD_ALONG] = body[tree.DOF_START] + 3
        bead[at.BEAD_COLUMN] = coordinates.index(int(bead[at.BEAD_ALONG]))
        bead[at.BEAD_DATA] = block_int[body[tree.BLOCK_START] + 3, tree.DATA]
    beads.flags.writeable = False
    return (*surfaces[: at.BEADS], beads, *surfaces[at.BEADS + 1 :])


def surface_workspace(
    surfaces: tuple[Any, ...] | None, soft: Sequence[SoftBody], nodes: int
) -> tuple[Any, ...] | None:
    """Workspace of the beads, and of a number of nodes."""
    if surfaces is None:
        return None
    at = kernels.soft.layout
    laws = [each.surface for each in soft if each.surface is not None]
    most, beads = max(int(np.prod(law.joint.surface.order)) for law in laws), len(surfaces[at.BEADS])
    return (
        np.zeros((beads, at.WEIGHT_ROWS, most)),
        np.zeros((beads, most + 1), dtype=np.int64),
        np.zeros((beads, 3)),
        np.zeros((2, 3 * tree.SURFACE_MOST_ORDER)),
        np.zeros(3 * nodes),
    )


def surface_energies(law: SurfaceLaw, parent: FloatArray, states: FloatArray) -> FloatArray:
    """Kinetic energy of the control points beyond that of lumped masses, none, and elastic energy (samples, 3) [J].

    parent: poses ([samples,] 4, 4) of the body that carries the surface. states: places and rates (samples, 2, n, 3).
    """
    mass, stiffness = law.matrices
    between = mass - np.diag(mass.sum(axis=1))
    pose = parent @ law.pose
    rest = law.points @ pose[..., :3, :3].swapaxes(-1, -2) + pose[..., None, :3, 3]
    moved, rates = states[:, 0] - rest, states[:, 1]
    kinetic = 0.5 * np.einsum("tik,ij,tjk->t", rates, between, rates, optimize=True)
    elastic = 0.5 * np.einsum("tik,ij,tjk->t", moved, stiffness, moved, optimize=True)
    return np.stack([kinetic, np.zeros_like(kinetic), elastic], axis=1)
