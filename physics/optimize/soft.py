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
from ..soft.states import initial_nodes
from .parameters import solid

FAR = 1e-3  # displacement [rad, m] in differences of order four of how nodes move with bodies


def nodes_back(model: Model, implicit: tuple[Any, ...], spaces: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """`kernels.adjoint.nodes.NodesBack` of a model, with these workspaces; None without soft bodies."""
    if not model.soft_bodies:
        return None
    nv, mesh = model.num_coordinates, model.soft_mesh
    arrays = mesh.moving(model.arrays)
    space = mesh.workspace(model.num_bodies, len(arrays[kernels.soft.layout.COORDINATES]))
    sides = np.zeros((kernels.adjoint.nodes.ROWS, nv + 3 * mesh.num_free))
    blocks = np.zeros((2, *space[kernels.soft.layout.BLOCKS].shape))
    stiff = np.ascontiguousarray(mesh.ranges[0][solid(model), :2]), np.zeros(len(solid(model)))
    return (model.arrays, arrays, space, implicit, spaces), np.zeros((2, nv, nv)), blocks, sides, stiff


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


def without_nodes(model: Model, sums: FloatArray) -> FloatArray:
    """Derivatives by the bodies' own mass, mass centre and inertia (nb, BODY_SUMS), in link axes, from those by what
    they have with attached nodes: mass, first and second moment about an origin are sums of both.
    """
    result = sums.copy()
    for i, (body, frame) in enumerate(zip(model.bodies, model.body_frames)):
        total = model.arrays[1][i]
        whole = total[layout.COM : layout.COM + 3]
        own = frame[:3, :3] @ body.com + frame[:3, 3]
        xx, yy, zz, xy, xz, yz = sums[i, at.BY_INERTIA :]
        turning = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / (2.0 - np.eye(3))
        bend = np.trace(turning) * np.eye(3) - turning
        by_place = sums[i, at.BY_COM : at.BY_INERTIA] / total[layout.MASS]
        first = by_place - 2.0 * bend @ whole
        result[i, at.BY_COM : at.BY_INERTIA] = body.mass * (first + 2.0 * bend @ own)
        result[i, at.BY_MASS] += whole @ bend @ whole - by_place @ whole + own @ first + own @ bend @ own
    return result
