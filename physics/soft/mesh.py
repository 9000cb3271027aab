"""The soft bodies of a model as flat arrays for the kernels (`kernels.soft.layout`), and their workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..joints.packing import Arrays, Link, Workspace, aligned_zeros
from ..kernels import layout as tree
from .body import SoftBody
from .embedding import lame, shape_gradients
from .ordering import eliminated
from .surface_packing import Modes, coordinates_of, pack_surfaces, surface_workspace, with_coordinates
from .touching import pack_touching, touched_workspace

# in place of a body's index: a node that is free, or fixed in the world
FREE, WORLD = -1, -2


class SoftMesh:
    """All soft bodies of a model together.

    Attributes:
        slices: of the nodes of each soft body in arrays of all, by its name.
        order: node of each of the kernels' places, free ones first; of a flexible surface there are as many modes as
            free control points, and only the corners of fixed ones (see `Modes`). num_free: how many are free.
        masses: (n,) [kg]. bodies: index of the body that each node is attached to (n,), or FREE or WORLD. points: of
            attached nodes in the body frames (n, 3), zeros of free ones.
        rest, poses: all places (n, 3) and the poses of the bodies in the default state.
        arrays: for the kernels.
    """

    def __init__(
        self,
        soft: Sequence[SoftBody],
        index: Mapping[str, int],
        frames: Sequence[FloatArray],
        poses: FloatArray,
        colliders: Sequence[Any],
    ) -> None:
        """frames: of bodies in their link frames. poses: of the bodies (nb, 4, 4) in default state. colliders: all."""
        ends = np.cumsum([0, *(len(each.nodes) for each in soft)])
        self.slices = {each.name: slice(int(a), int(b)) for each, a, b in zip(soft, ends, ends[1:])}
        self.soft = tuple(soft)
        self.rest = np.concatenate([each.nodes for each in soft])
        self.masses = np.concatenate([each.masses for each in soft])
        self.bodies = np.full(len(self.rest), FREE, dtype=np.int64)
        for each, first in zip(soft, ends):
            for node, body in each.attached.items():
                self.bodies[first + node] = WORLD if body is None else index[body]
        held, on = np.flatnonzero(self.bodies != FREE), np.flatnonzero(self.bodies >= 0)
        self.points = np.where((self.bodies == WORLD)[:, None], self.rest, 0.0)
        self.points[on] = moved_by(np.linalg.inv(poses)[self.bodies[on]], self.rest[on])
        tets = np.concatenate([each.tets + first for each, first in zip(soft, ends)])
        springs = np.concatenate([each.springs + first for each, first in zip(soft, ends)])
        self.modes = [
            (Modes(each, each.surface), int(first))
            for each, first in zip(soft, ends)
            if each.surface is not None
        ]
        modal = np.concatenate([[], *(first + each.free for each, first in self.modes)]).astype(np.int64)
        dropped = [first + np.setdiff1d(each.fixed, each.corners) for each, first in self.modes]
        held = np.setdiff1d(held, np.concatenate([[], *dropped]))
        free = np.setdiff1d(np.flatnonzero(self.bodies == FREE), modal)
        self.num_solved, self.num_free = len(free), len(free) + len(modal)
        rank = np.full(len(self.rest), -1, dtype=np.int64)
        rank[free] = np.arange(len(free))
        pairs = _pairs(tets) | _pairs(springs)
        order, filled = eliminated(
            len(free), [(int(rank[i]), int(rank[j])) for i, j in pairs if rank[i] >= 0 and rank[j] >= 0]
        )
        self.order: IntArray = np.concatenate([free[order], modal, held])
        self._place = np.full(len(self.rest), -1, dtype=np.int64)
        self._place[self.order] = np.arange(len(self.order))
        self._frames, self.poses = frames, poses
        self._index = index
        self.arrays = self._packed(tets, springs, filled, colliders)

    def _packed(
        self,
        tets: IntArray,
        springs: IntArray,
        filled: list[list[int]],
        colliders: Sequence[Any],
    ) -> tuple[Any, ...]:
        soft = self.soft
        tets, springs = np.sort(self._place[tets], axis=1), np.sort(self._place[springs], axis=1)
        places = self.rest[self.order]
        counts = [len(rows) for rows in filled]
        columns = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rows = np.array([row for column in filled for row in column], dtype=np.int64)
        numbers: dict[tuple[int, int], int] = {(j, j): j for j in range(self.num_solved)}
        lists: list[list[tuple[int, int]]] = [[] for _ in filled]
        for j, column in enumerate(filled):
            for k, row in enumerate(column, int(columns[j])):
                numbers[row, j] = self.num_solved + k
                lists[row].append((j, k))
        on_sheets = {int(self._place[first + k]) for each, first in self.modes for k in each.corners}
        bodies = np.maximum(self.bodies[self.order[self.num_free :]], -1)  # -1: the world
        pairs = _pairs(tets) | _pairs(springs)
        pairs |= {(i, i) for i in range(self.num_free, len(places)) if i not in on_sheets}
        beyond = sorted(
            {(max(pair), min(pair)) for pair in pairs if max(pair) >= self.num_free},
            key=lambda pair: (pair[1] >= self.num_free, pair),
        )
        numbers |= {pair: self.num_solved + len(rows) + k for k, pair in enumerate(beyond)}
        between = np.array(beyond, dtype=np.int64).reshape(-1, 2)
        couples, meets = between[between[:, 1] < self.num_free], between[between[:, 1] >= self.num_free]
        lower = [(a, b) for a in range(4) for b in range(a + 1)]
        tet_blocks = [[numbers[tet[a], tet[b]] for a, b in lower] for tet in tets.tolist()]
        spring_blocks = [[numbers[i, i], numbers[j, i], numbers[j, j]] for i, j in springs.tolist()]
        starts = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
        entries = [entry for each in lists for entry in each]
        points = [
            point if body < 0 else moved_by(self._frames[body], point)
            for body, point in zip(bodies, self.points[self.order[self.num_free :]])
        ]
        drag = np.concatenate([np.full(len(each.nodes), each.mass_damping) for each in soft])
        nodes = np.stack([self.masses, drag, self.masses], axis=1)
        for each, first in self.modes:
            nodes[first + each.free], nodes[first + each.corners] = each.nodes, 0.0
        arrays: list[Any] = [
            tets,
            np.array(tet_blocks, dtype=np.int64).reshape(-1, 10),
            self._tet_data(tets, places),
            springs,
            np.array(spring_blocks, dtype=np.int64).reshape(-1, 3),
            self._spring_data(),
            nodes[self.order],
            bodies,
            np.array(points).reshape(-1, 3),
            np.zeros(0, dtype=np.int64),
            columns,
            rows,
            starts,
            np.array(entries, dtype=np.int64).reshape(-1, 2),
            couples - [self.num_free, 0],
            meets - self.num_free,
        ]
        own = [self._place[each] for each in self.slices.values()]
        touching = pack_touching(soft, own, numbers, colliders, self._frames)
        starts_of = [
            int(self._place[first + each.corners].min()) - self.num_free for each, first in self.modes
        ]
        sheets = [each for each, _ in self.modes]
        surfaces = pack_surfaces(sheets, starts_of, self.num_solved, self._index, self._frames)
        neo = np.concatenate([np.full(len(each.tets), each.law == "neo_hookean") for each in soft])
        laws = neo if neo.any() else None
        return (*(np.ascontiguousarray(array) for array in arrays), touching, surfaces, laws)

    def _tet_data(self, tets: IntArray, places: FloatArray) -> FloatArray:
        at = kernels.soft.layout
        data = np.zeros((len(tets), at.TET_WIDTH))
        gradients, volumes = shape_gradients(places, tets)
        data[:, 3 : at.VOLUME] = gradients.reshape(-1, 9)
        data[:, :3] = -gradients.sum(axis=1)
        data[:, at.VOLUME] = np.abs(volumes)
        row = 0
        for each in self.soft:
            own = slice(row, row + len(each.tets))
            data[own, at.MU], data[own, at.LAMBDA] = lame(each.young, each.poisson)
            data[own, at.TET_DAMPING] = each.stiffness_damping
            row = own.stop
        return data

    def _spring_data(self) -> FloatArray:
        parts = [
            np.stack([each.tensile, each.rest, np.full(len(each.rest), each.stiffness_damping)], axis=1)
            for each in self.soft
        ]
        return np.concatenate(parts)

    def moving(self, tree_arrays: Arrays) -> tuple[Any, ...]:
        """The arrays, with the coordinates of a tree that move attached nodes, touched bodies or beads."""
        at, found, body_int = kernels.soft.layout, set(), tree_arrays[0]
        touching, surfaces = self.arrays[at.TOUCHING], self.arrays[at.SURFACES]
        touched = set() if touching is None else set(touching[at.OBSTACLES][:, 0].tolist())
        beads = set() if surfaces is None else set(surfaces[at.BEADS][:, at.BEAD_BODY].tolist())
        for body in touched | beads | set(self.bodies[self.bodies >= 0].tolist()):
            found |= set(coordinates_of(body_int, body))
        arrays = list(self.arrays)
        if surfaces is not None:
            arrays[at.SURFACES] = with_coordinates(surfaces, tree_arrays)
        arrays[at.COORDINATES] = np.array(sorted(found), dtype=np.int64)
        for array in arrays[: at.TOUCHING]:
            array.flags.writeable = False
        return tuple(arrays)

    @property
    def num_beads(self) -> int:
        """How many bodies are on flexible surfaces."""
        return sum(len(each.surface.bodies) for each in self.soft if each.surface is not None)

    def weighted(self, links: Sequence[Link]) -> list[Link]:
        """Links with the lumped masses of the nodes that are attached to them."""
        result = list(links)
        for body in sorted(set(self.bodies[self.bodies >= 0].tolist())):
            on = self.bodies == body
            result[body] = with_points(links[body], self.masses[on], self.points[on])
        return result

    def workspace(self, num_bodies: int, coordinates: int) -> tuple[Any, ...]:
        """Workspace of the kernels, for a number of moving coordinates."""
        at = kernels.soft.layout
        others, surfaces = (at.ROWS, at.COUPLES, at.MEETS), self.arrays[at.SURFACES]
        total = self.num_solved + sum(len(self.arrays[k]) for k in others)
        return (
            aligned_zeros(total, at.BLOCK_WIDTH),
            aligned_zeros(self.num_solved, at.BLOCK_WIDTH),
            np.zeros(self.num_solved, dtype=np.int64),
            np.zeros((3 * self.num_solved, coordinates)),
            np.zeros((num_bodies, at.LOAD_WIDTH)),
            np.zeros((at.VECTOR_ROWS, 3 * len(self.order))),
            np.zeros((8, 4)),
            *touched_workspace(self.arrays[at.TOUCHING]),
            surface_workspace(surfaces, len(self.order), coordinates),
        )

    def inward(self, nodes: FloatArray) -> FloatArray:
        """Flat vectors (..., 3 k) for the kernels, from those of all nodes (..., n, 3)."""
        flat = nodes[..., self.order, :]
        for each, first in self.modes:
            flat[..., self._place[first + each.free], :] = each.inverse @ nodes[..., first + each.free, :]
        return np.ascontiguousarray(flat.reshape(*nodes.shape[:-2], -1))

    def outward(self, flat: FloatArray) -> FloatArray:
        """The inverse of `inward`."""
        given = flat.reshape(*flat.shape[:-1], -1, 3)
        nodes = np.ascontiguousarray(given[..., self._place, :])
        for each, first in self.modes:
            nodes[..., first + each.free, :] = each.shapes @ given[..., self._place[first + each.free], :]
            nodes[..., first + each.fixed, :] = each.spread @ given[..., self._place[first + each.corners], :]
        return nodes

    @cached_property
    def ranges(self) -> tuple[IntArray, IntArray]:
        """Of each soft body the ends of its tetrahedra, springs and free nodes; then the free nodes' places."""
        rows, places = [], []
        tets = springs = nodes = 0
        for each, own in zip(self.soft, self.slices.values()):
            mine = [
                int(self._place[k])
                for k in range(own.start, own.stop)
                if self.bodies[k] == FREE and each.surface is None
            ]
            rows.append(
                [tets, tets + len(each.tets), springs, springs + len(each.springs), nodes, nodes + len(mine)]
            )
            tets, springs, nodes = rows[-1][1], rows[-1][3], rows[-1][5]
            places += mine
        return np.array(rows, dtype=np.int64), np.array(places, dtype=np.int64)

    def energies(self, arrays: Arrays, q: FloatArray, gravity: FloatArray, states: FloatArray) -> FloatArray:
        """Of the free nodes' motion, of their weight, and of the elements (samples, soft bodies, 3) [J].

        arrays: of the model. q: (samples, nv). states: places and rates (samples, 2, n, 3).
        """
        energy = np.zeros((len(states), len(self.soft), 3))
        flat = self.inward(states)
        places, rates = np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1])
        down = float(gravity[0]), float(gravity[1]), float(gravity[2])
        kernels.soft.system.energies(self.arrays, down, self.ranges, places, rates, np.zeros((8, 4)), energy)
        for sheet, first in self.modes:
            own, parent = slice(first, first + len(sheet.body.nodes)), sheet.law.parent
            rest = np.eye(4) if parent is None else poses_at(arrays, q)[:, self._index[parent]]
            energy[:, self.soft.index(sheet.body)] += sheet.energies(rest, states[:, :, own], gravity)
        return energy

    def pressed(self, arrays: Arrays, q: FloatArray, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Energy [J] of what each soft body presses, and the depth [m] of its deepest point (samples, soft bodies).

        arrays: of the model. q: (samples, nv). states: as for `energies`.
        """
        grounded = [k for k, each in enumerate(self.soft) if each.ground is not None]
        found = np.zeros((2, len(states), len(self.soft)))
        if grounded:
            energy, depth = np.zeros((2, len(states), len(grounded)))
            spaces = Workspace(len(arrays[0]), q.shape[1]).clear()
            kernels.soft.system.touch_energies(
                arrays,
                self.arrays,
                np.ascontiguousarray(q),
                np.ascontiguousarray(self.inward(states[:, 0])),
                self.workspace(len(arrays[0]), 0),
                spaces,
                energy,
                depth,
            )
            found[:, :, grounded] = energy, depth
        return found[0], found[1]


def make_mesh(
    soft: Sequence[SoftBody],
    index: Mapping[str, int],
    arrays: Arrays,
    q: FloatArray,
    frames: Sequence[FloatArray],
    colliders: Sequence[Any],
) -> SoftMesh:
    """The soft bodies of a model with these arrays, whose default coordinates are q (see `SoftMesh`)."""
    return SoftMesh(soft, index, frames, default_poses(arrays, q), colliders)


def default_poses(arrays: Arrays, q: FloatArray) -> FloatArray:
    """Poses (nb, 4, 4) of body frames."""
    found: FloatArray = poses_at(arrays, q[None])[0]
    return found


def poses_at(arrays: Arrays, q: FloatArray) -> FloatArray:
    """Poses (samples, nb, 4, 4) of body frames at coordinates (samples, nv)."""
    count, (samples, nv) = len(arrays[0]), q.shape
    poses, energy = np.empty((samples, count, 4, 4)), np.empty((samples, 3))
    spaces = Workspace(count, nv).clear()
    alone = arrays
    if arrays[3][tree.MUSCLE_COUNT] > 0.0:  # poses do not need them
        data = arrays[3].copy()
        data[tree.MUSCLE_COUNT] = 0.0
        data.flags.writeable = False
        alone = (*arrays[:3], data, arrays[4])
    kernels.dynamics.observe.observe(alone, np.array(q), np.zeros((samples, nv)), poses, energy, *spaces)
    return poses


def with_points(link: Any, masses: FloatArray, points: FloatArray) -> Any:
    """A link or body with point masses at points (k, 3) of its frame."""
    total = link.mass + float(masses.sum())
    com = (link.mass * link.com + masses @ points) / total
    inertia = np.array(link.inertia)
    for mass, place in [(link.mass, link.com), *zip(masses.tolist(), points)]:
        arm = place - com
        inertia = inertia + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return replace(link, mass=total, com=com, inertia=inertia)


def moved_by(poses: FloatArray, points: FloatArray) -> FloatArray:
    """Points (..., 3) moved by poses (..., 4, 4)."""
    moved: FloatArray = np.einsum("...ij,...j->...i", poses[..., :3, :3], points) + poses[..., :3, 3]
    return moved


def _pairs(elements: IntArray) -> set[tuple[int, int]]:
    """Pairs of nodes, the smaller first, that an element has."""
    return {(min(a, b), max(a, b)) for element in elements.tolist() for a, b in combinations(element, 2)}
