"""Soft bodies in a motion that is taken backwards: nodes beside the coordinates, their start, and masses."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..kernels import layout
from ..kernels.adjoint import layout as at
from ..model.model import Model
from ..model.result import Result
from ..soft.mesh import moved_by
from ..soft.states import initial_nodes
from .parameters import OF_SOFT, Values

FAR = 1e-3  # displacement [rad, m] in differences of order four of how nodes move with bodies


def nodes_back(model: Model, implicit: tuple[Any, ...], spaces: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """`kernels.adjoint.nodes.NodesBack` of a model, with these workspaces; None without soft bodies."""
    if not model.soft_bodies:
        return None
    nv, mesh = model.num_coordinates, model.soft_mesh
    arrays, soft = mesh.moving(model.arrays), kernels.soft.layout
    space = mesh.workspace(model.num_bodies, len(arrays[soft.COORDINATES]))
    sides = np.zeros((kernels.adjoint.nodes.ROWS, nv + 3 * mesh.num_free))
    blocks = np.zeros((2, *space[soft.BLOCKS].shape))
    tets, springs = (arrays[k].copy() for k in (soft.TET_DATA, soft.SPRING_DATA))
    tets[:, soft.TET_DAMPING] = springs[:, soft.SPRING_DAMPING] = 1.0
    parts = mesh.ranges[0], tets, springs, np.zeros((len(model.soft_bodies), 3))
    own = model.arrays, arrays, space, implicit, spaces
    return own, np.zeros((2, nv, nv)), blocks, sides, parts, np.zeros((2, len(mesh.order)))


def num_places(model: Model) -> int:
    """How many numbers the places of the free nodes have."""
    return 3 * model.soft_mesh.num_free if model.soft_bodies else 0


def beside(model: Model, rows: Result, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coordinates and velocities (n, nv) followed by places and rates of the free nodes."""
    if rows.soft_states is None:
        return q, qd
    flat = model.soft_mesh.inward(rows.soft_states)[..., : num_places(model)]
    return np.concatenate([q, flat[:, 0]], axis=1), np.concatenate([qd, flat[:, 1]], axis=1)


def by_start(model: Model, state: State, by_places: FloatArray, by_rates: FloatArray) -> FloatArray:
    """Derivatives by coordinates and velocities (2, nv) at the start through the free nodes, which move with the
    bodies, from those by their places and rates: these are linear in velocities, and the places' derivatives are the
    rates for a unit of each.
    """
    q, qd, nv = np.array(state.q), np.array(state.qd), model.num_coordinates

    def rates(q: FloatArray, along: FloatArray) -> FloatArray:
        states: FloatArray = np.array(initial_nodes(model, q, along))
        return model.soft_mesh.inward(states)[1, : len(by_rates)]

    result = np.zeros((2, nv))
    for d, unit in enumerate(np.eye(nv)):
        moved = rates(q, unit)
        sides = [weight * rates(q + way * FAR * qd, unit) for way, weight in zip(at.WAYS, at.WEIGHTS)]
        result[:, d] = moved @ by_places + sum(sides) @ by_rates / FAR, moved @ by_rates
    return result


def _by_masses(total: FloatArray, sums: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivatives (n,) by masses at points (n, 3) of a link, and (n, 3) by the points of a unit of mass, from sums
    (BODY_SUMS,) by the mass, mass centre and inertia that its row of numbers, total, has.
    """
    whole, (xx, yy, zz, xy, xz, yz) = total[layout.COM : layout.COM + 3], sums[at.BY_INERTIA :]
    turning = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / (2.0 - np.eye(3))
    bend = np.trace(turning) * np.eye(3) - turning
    by_place = sums[at.BY_COM : at.BY_INERTIA] / total[layout.MASS]
    first = by_place - 2.0 * bend @ whole
    by_mass = sums[at.BY_MASS] + whole @ bend @ whole - by_place @ whole
    return by_mass + points @ first + ((points @ bend) * points).sum(axis=1), first + 2.0 * points @ bend


def by_numbers(model: Model, nodes: tuple[Any, ...] | None, sums: FloatArray) -> Values:
    """Derivatives by numbers of soft bodies, from sums (nb, BODY_SUMS) by what bodies have with attached nodes."""
    if nodes is None:
        return {key: np.zeros(0) for key in ("young", *OF_SOFT)}
    mesh, elements, by_node = model.soft_mesh, nodes[4][3], np.zeros_like(nodes[5])
    by_node[:, mesh.order] = nodes[5]
    drag, weight = by_node
    for i in sorted({*mesh.bodies[mesh.bodies >= 0].tolist()}):
        on = mesh.bodies == i
        points = moved_by(model.body_frames[i], mesh.points[on])
        weight[on] = mesh.masses[on] * _by_masses(model.arrays[1][i], sums[i], points)[0]
    soft = [*zip(model.soft_bodies, mesh.slices.values(), elements)]
    by = {
        "young": [
            (row[0] + each.stiffness_damping * row[1]) / each.young for each, _, row in soft if len(each.tets)
        ]
    }
    by["density"] = [
        (weight[own].sum() + each.mass_damping * drag[own].sum()) / each.density for each, own, _ in soft
    ]
    by["mass_damping"] = [drag[own].sum() for _, own, _ in soft]
    by["stiffness_damping"] = [row[2] for _, _, row in soft]
    return {key: np.array(found) for key, found in by.items()}


def without_nodes(model: Model, sums: FloatArray) -> FloatArray:
    """Derivatives by the bodies' own mass, mass centre and inertia (nb, BODY_SUMS), in link axes, from those by what
    they have with attached nodes: mass, first and second moment about an origin are sums of both.
    """
    result = sums.copy()
    for i, (body, frame) in enumerate(zip(model.bodies, model.body_frames)):
        own = frame[:3, :3] @ body.com + frame[:3, 3]
        by_mass, by_place = _by_masses(model.arrays[1][i], sums[i], own[None])
        result[i, at.BY_COM : at.BY_INERTIA] = body.mass * by_place[0]
        result[i, at.BY_MASS] = by_mass[0]
    return result
