"""Flexible surfaces as arrays for the kernels (`kernels.soft.surfaces`): their modes and corners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..fitting.blas import one_blas_thread
from ..joints.packing import Arrays
from ..kernels import layout as tree
from .body import SoftBody
from .surface import SurfaceLaw

# corners that are this near to where others place them, in sizes of the surface, are combinations of these
APART = 1e-9


class Modes:
    """Nodes of a flexible surface: modes, combinations of its free control points whose stiffness is diagonal and whose
    mass is one number, the mean mass of a point; and corners, fixed control points.

    Attributes:
        free, fixed: numbers of control points. corners: of those fixed ones of which all others are combinations.
        shapes: free control points by modes (m, m); inverse: modes by free control points.
        spread, combinations: fixed control points by corners (f, r), all by modes, then corners (n, m + r).
        nodes, forces: of modes mass, mass damping and what gravity acts on (m, 3), and forces that balance the surface
            as it was built (m, 3).
        laws: stiffness, damping and inertia (3, m + r, m + r), without the modes' own and masses that bodies have.
        inertia: (n, n) [kg] without the masses that bodies have.
    """

    def __init__(self, body: SoftBody, law: SurfaceLaw) -> None:
        self.body, self.law = body, law
        fixed = np.asarray(law.fixed).ravel()
        self.free, self.fixed = np.flatnonzero(~fixed), np.flatnonzero(fixed)
        many, finite = len(self.free), False
        # BLAS rounds by its number of threads: with one, the bits of a model do not depend on that number
        with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"), one_blas_thread():
            chosen, self.spread = _affine(law.points[self.fixed])
            self.corners = self.fixed[chosen]
            squares, shapes, inverse = law.modes
            unit = float(body.masses[self.free].mean())
            self.shapes: FloatArray = np.sqrt(unit) * shapes
            self.inverse: FloatArray = inverse / np.sqrt(unit)
            weight, self.forces = (self.shapes.T @ each[self.free] for each in (body.masses, law.balance()))
            self.nodes = np.column_stack([np.tile([unit, body.mass_damping], (many, 1)), weight])
            whole = self.combinations = np.zeros((len(fixed), many + len(chosen)))
            whole[self.free, :many], whole[self.fixed, many:] = self.shapes, self.spread
            mass, stiffness = law.matrices
            self.inertia = mass - np.diag(np.where(fixed, body.masses, 0.0))
            k, m, rest = (whole.T @ each @ whole for each in (stiffness, mass, self.inertia))
            k[:many, :many], m[:many, :many], rest[:many, :many] = np.diag(unit * squares), 0.0, 0.0
            self.laws = np.stack([k, body.stiffness_damping * k + body.mass_damping * m, rest])
            finite = bool(np.isfinite(self.laws).all())
        if not finite:
            raise ModelError(
                f"flexible surface {body.name!r} has no finite modes with density {law.density:g}, tension "
                f"{law.tension:g} and bending {law.bending:g}"
            )

    def energies(self, parent: FloatArray, states: FloatArray, gravity: FloatArray) -> FloatArray:
        """Kinetic energy without that of the masses on bodies, that of gravity, elastic energy (samples, 3) [J].

        parent: poses ([samples,] 4, 4) of the body that carries the surface. states: places and rates
        (samples, 2, n, 3).
        """
        pose = parent @ self.law.pose
        rest = self.law.points @ pose[..., :3, :3].swapaxes(-1, -2) + pose[..., None, :3, 3]
        moved, rates = states[:, 0] - rest, states[:, 1]
        kinetic = 0.5 * np.einsum("tik,ij,tjk->t", rates, self.inertia, rates, optimize=True)
        falling = -(states[:, 0, self.free] @ gravity) @ self.body.masses[self.free]
        elastic = 0.5 * np.einsum("tik,ij,tjk->t", moved, self.law.matrices[1], moved, optimize=True)
        return np.stack([kinetic, falling, elastic], axis=1)


def _affine(points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Numbers of at most four of the points (f, 3) of which all are combinations, and the weights (f, r) of these."""
    away = points - points.mean(axis=0)
    chosen = [int(np.argmax((away**2).sum(axis=1)))]
    left = points - points[chosen[0]]
    scale = np.abs(left).max()
    while len(chosen) < kernels.soft.layout.MOST_CORNERS:
        length = np.linalg.norm(left, axis=1)
        k = int(np.argmax(length))
        if not length[k] > APART * scale:
            break
        chosen.append(k)
        axis = left[k] / length[k]
        left = left - np.outer(left @ axis, axis)
    chosen.sort()
    corners = points[chosen]
    sides = (corners[1:] - corners[0]).T
    weights = np.linalg.lstsq(sides, (points - corners[0]).T, rcond=None)[0].T
    weights = np.concatenate([1.0 - weights.sum(axis=1, keepdims=True), weights], axis=1)
    weights[chosen] = np.eye(len(chosen))
    return np.array(chosen), weights


def pack_surfaces(
    modes: Sequence[Modes],
    corners: Sequence[int],
    solved: int,
    index: Mapping[str, int],
    frames: Sequence[FloatArray],
) -> tuple[Any, ...] | None:
    """The arrays, None without flexible surfaces; unknowns and beads lack what `with_coordinates` adds.

    Args:
        corners: first corner of each surface among the attached nodes. solved: how many free nodes have blocks. index:
            of bodies by name. frames: of bodies in their link frames.
    """
    if not modes:
        return None
    at = kernels.soft.layout
    count, points = sum(len(each.free) for each in modes), sum(len(each.body.nodes) for each in modes)
    width = _width(each.combinations.shape[1] for each in modes)
    sheets = np.zeros((len(modes), at.SHEET_WIDTH), dtype=np.int64)
    numbers, joined = np.zeros((count, at.MODE_WIDTH)), np.zeros((3, count, at.MOST_CORNERS))
    meeting, every = np.zeros((3, len(modes), at.MOST_CORNERS, at.MOST_CORNERS)), np.zeros((points, width))
    net, kinds, unknowns, beads, m, point = list[IntArray](), list[Any](), list[Any](), list[IntArray](), 0, 0
    for s, (each, first) in enumerate(zip(modes, corners)):
        law, few, many = each.law, len(each.corners), len(each.free)
        parent = -1 if law.parent is None else index[law.parent]
        turn = law.pose[:3, :3] if parent < 0 else frames[parent][:3, :3] @ law.pose[:3, :3]
        own, laws, forces = slice(m, m + many), each.laws, each.forces
        numbers[own, : at.MODE_SHARE] = laws[:, :many, :many].diagonal(axis1=1, axis2=2).T
        numbers[own, at.MODE_SHARE] = each.inverse.sum(axis=1)
        numbers[own, at.MODE_FORCE :] = forces @ turn.T
        joined[:, own, :few], meeting[:, s, :few, :few] = laws[:, :many, many:], laws[:, many:, many:]
        every[point : point + len(each.body.nodes), : many + few] = each.combinations
        moving, directions = few if parent >= 0 else 0, law.joint.surface.num_coordinates
        mine = range(len(beads), len(beads) + len(law.bodies))
        row, unknown = len(kinds), len(unknowns)
        kinds += [(-1, c) for c in range(moving)] + [(b, at.PLACED) for b in mine]
        kinds += [(b, at.FIRST + k) for b in mine for k in range(directions)]
        unknowns += [(0, 0, moving, -1, 0)] if moving else []  # repeated for each coordinate
        unknowns += [(k, moving + b - mine.start, 1, b, k) for b in mine for k in range(3)]
        firm = moving + len(mine)
        sheets[s] = [
            *(solved + m, m, many, first, few, parent, int(forces.any())),
            *(row, firm, firm + directions * len(mine), unknown, len(unknowns) - unknown, 0),
        ]
        for k in range(directions):
            unknowns += [(k, firm + directions * (b - mine.start) + k, 1, b, 3) for b in mine]
        sheets[s, at.SHEET_UNKNOWNS] = len(unknowns) - unknown
        for name in law.bodies:
            bead = np.zeros(at.BEAD_WIDTH, dtype=np.int64)
            bead[at.BEAD_BODY], bead[at.BEAD_NET], bead[at.BEAD_SHEET] = index[name], sum(map(len, net)), s
            bead[at.BEAD_DIRECTIONS] = directions
            beads.append(bead)
        net.append(point + law.net)
        m, point = m + many, point + len(each.body.nodes)
    kinds += [(0, 0)] * 2  # sums are taken by three
    lists = np.array(kinds, dtype=np.int64), np.array(unknowns, dtype=np.int64), np.array(beads)
    return sheets, numbers, joined, meeting, every.reshape(-1, 4), np.concatenate(net), *lists


def _width(counts: Iterable[int]) -> int:
    """Room for so many modes and corners: a multiple of four."""
    return -4 * (max(counts) // -4)


def with_coordinates(surfaces: tuple[Any, ...], arrays: Arrays) -> tuple[Any, ...]:
    """The arrays with what beads and unknowns need of a tree: their coordinates, and where surfaces are in its data."""
    at, (body_int, _, block_int, _, _) = kernels.soft.layout, arrays
    beads, sheets, count = surfaces[at.BEADS].copy(), surfaces[at.SHEETS].copy(), len(arrays[4])
    for bead in beads:
        body = body_int[bead[at.BEAD_BODY]]
        bead[at.BEAD_SHIFT] = body[tree.DOF_START]
        bead[at.BEAD_ALONG] = body[tree.DOF_START] + 3
        bead[at.BEAD_DATA] = block_int[body[tree.BLOCK_START] + 3, tree.DATA]
    unknowns = list[Any]()
    for sheet in sheets:
        first, body = sheet[at.SHEET_UNKNOWN], sheet[at.SHEET_PARENT]
        given = surfaces[at.UNKNOWNS][first : first + sheet[at.SHEET_UNKNOWNS]].tolist()
        more = coordinates_of(body_int, int(body)) if body >= 0 else []
        sheet[at.SHEET_UNKNOWN] = len(unknowns)
        unknowns += [(d, *given[0][1:]) for d in more]
        for k, *rest, bead, part in given[1 if body >= 0 else 0 :]:
            base = count + 3 * bead if part < 3 else beads[bead, at.BEAD_ALONG]
            unknowns.append((base + k, *rest, bead, part))
        extra = len(more) - (1 if body >= 0 else 0)
        sheet[[at.SHEET_FIRM_UNKNOWNS, at.SHEET_UNKNOWNS]] += extra
    found = (sheets, *surfaces[1 : at.UNKNOWNS], np.array(unknowns, dtype=np.int64), beads)
    for array in found:
        array.flags.writeable = False
    return found


def coordinates_of(body_int: IntArray, body: int) -> list[int]:
    """Coordinates that move a body."""
    found = list[int]()
    while body >= 0:
        first = int(body_int[body, tree.DOF_START])
        found += range(first, first + int(body_int[body, tree.DOF_COUNT]))
        body = int(body_int[body, tree.PARENT])
    return sorted(found)


def surface_workspace(
    surfaces: tuple[Any, ...] | None, nodes: int, coordinates: int
) -> tuple[Any, ...] | None:
    """Workspace of flexible surfaces in a model with a number of nodes, and of coordinates that move them."""
    if surfaces is None:
        return None
    at = kernels.soft.layout
    beads, modes, sheets = len(surfaces[at.BEADS]), len(surfaces[at.MODES]), surfaces[at.SHEETS]
    width = _width((sheets[:, at.SHEET_MODES] + sheets[:, at.SHEET_CORNERS]).tolist())
    rows, weights = len(surfaces[at.KINDS]), np.zeros((beads, at.WEIGHT_ROWS, width))
    unknowns = len(surfaces[at.UNKNOWNS]) + len(sheets) * coordinates
    return (
        weights,
        np.zeros((beads, 3)),
        np.zeros((2, 3 * tree.SURFACE_MOST_ORDER)),
        np.zeros(3 * nodes),
        np.zeros((beads, 3 * at.BLEND_ROWS)),
        np.zeros((rows, width)),
        np.zeros((rows, width)),
        np.zeros(modes),
        np.zeros((rows, rows)),
        np.zeros((unknowns, 3 * at.MOST_CORNERS)),
        np.zeros((unknowns, 3 * rows)),
        np.zeros((rows, 4)),
        np.zeros((len(sheets), 2), dtype=np.int64),
        np.zeros((tree.SURFACE_MOST_ORDER, tree.SURFACE_MOST_ORDER), dtype=np.int64),
        np.full(len(sheets), -1.0),
        np.full((beads, 2), np.nan),
        weights.reshape(-1, 4),
    )
