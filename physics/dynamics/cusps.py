"""Impulses where a joint's curve turns at once (Lee & Terzopoulos 2008, sec. 8: what smooth splines leave out).

The limit of a small fillet: within it the carrier does not move, and its forces act along the joint's column alone, so
that the momenta conjugate to all other coordinates stay. With M- and M+ the mass matrices of both branches, C those of
the constraints, and e_j the cusp's coordinate, q'+ = a + rho b:

    [M+  C^T] [a]   [M- q'-]        [M+  C^T] [b]   [e_j]
    [C   0  ] [.] = [0     ],       [C   0  ] [.] = [0  ].

Energy, with restitution 1, or the plastic impulse, with 0, give rho.
"""

from dataclasses import dataclass, replace

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..constraints.base import Constraint
from ..kernels.constraints.layout import EQUALITY
from ..kernels.layout import ARMATURE
from ..model.model import Model
from . import mass_matrix
from .maximal import maximal_coordinates

#: how far beside a cusp the branch below it is evaluated, in units of the cusp's place or of 1
BESIDE = 1e-14


@dataclass(frozen=True)
class Cusps:
    """Cusps of a coordinate of a model.

    Attributes:
        column: of the coordinate. places: their values, rising (k,). restitution: 0 to 1.
    """

    column: int
    places: FloatArray
    restitution: float

    def branch(self, q: FloatArray) -> int:
        """Number of the branch in which q (nv,) is, from 0."""
        return int(np.searchsorted(self.places, q[self.column], side="right"))

    def bounds(self, branch: int) -> tuple[float, float]:
        """Where a branch begins and ends; infinite for the outer ones."""
        ends = np.concatenate([[-np.inf], self.places, [np.inf]])
        return float(ends[branch]), float(ends[branch + 1])

    def sides(self, q: FloatArray, number: int) -> tuple[FloatArray, FloatArray]:
        """Coordinates (nv,) at the end of the branch below a cusp, and at the beginning of the one above."""
        below, above, place = q.copy(), q.copy(), self.places[number]
        below[self.column] = place - BESIDE * max(abs(place), 1.0)
        above[self.column] = place
        return below, above


def cusps_of(model: Model) -> list[Cusps]:
    """All cusps of a model."""
    found = []
    for body in model.bodies:
        first = model.coordinate_slice(body.name).start
        found += [Cusps(first + each[0], each[1], each[2]) for each in body.joint.cusps]
    return found


def pass_cusp(
    model: Model, state: State, cusps: Cusps, number: int, held: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coordinates and velocities (nv,) behind a cusp, by those of a state that has just come to it.

    held: which coordinates (nv,) are prescribed and keep their velocity.
    """
    j, qd = cusps.column, state.qd
    forward = 1.0 if qd[j] > 0.0 else -1.0
    sides = cusps.sides(state.q, number)
    before, after = (replace(state, q=q) for q in (sides if forward > 0.0 else sides[::-1]))
    free = ~held
    inertias = [mass_matrix(model, each)[np.ix_(free, free)] for each in (before, after)]
    rows = _rows(model, after)
    momentum, unit = inertias[0] @ qd[free], np.eye(len(qd))[j, free]
    fixed = -rows[:, held] @ qd[held]
    a, b = _solved(inertias[1], rows[:, free], np.stack([momentum, unit]), fixed)
    at = int(np.count_nonzero(free[:j]))  # of the coordinate among the free ones
    plastic = 0.0
    if cusps.restitution < 1.0:
        coming, going = maximal_coordinates(model, before), maximal_coordinates(model, after)
        twists = coming.jacobian_product(np.where(held, 0.0, qd))  # as seen from what is prescribed
        carried = np.einsum("bij,bj->bi", coming.inertias, twists)
        along = going.jacobian_transpose_product(carried)[j] + model.arrays[4][j, ARMATURE] * qd[j]
        plastic = max(forward * (a[at] + (along - momentum[at]) * b[at]), 0.0)
    kept = qd[free] @ momentum - (a @ inertias[1] @ a - a[at] ** 2 / b[at])
    squared = plastic**2 + cusps.restitution**2 * (kept * b[at] - plastic**2)
    speed = forward * np.sqrt(max(squared, 0.0))
    rates = qd.copy()
    rates[free] = a + (speed - a[at]) / b[at] * b
    return (after if speed != 0.0 else before).q, rates


def _rows(model: Model, state: State) -> FloatArray:
    """Jacobian (rows, nv) of the constraints that hold both ways."""
    both: list[Constraint] = [
        each for each in model.constraints.values() if each.packed(model).sense == EQUALITY
    ]
    if not both:
        return np.zeros((0, len(state.q)))
    return model.evaluate_constraints(state, both)[1]


def _solved(inertia: FloatArray, rows: FloatArray, forces: FloatArray, fixed: FloatArray) -> FloatArray:
    """Solutions (2, n) under constraints: the first with the rates `fixed` (rows,) of them, the second with none."""
    size, count = len(inertia), len(rows)
    whole = np.block([[inertia, rows.T], [rows, np.zeros((count, count))]])
    right = np.concatenate([forces, np.stack([fixed, np.zeros(count)])], axis=1)
    if not count:
        return np.linalg.solve(inertia, forces.T).T
    return np.linalg.lstsq(whole, right.T, rcond=None)[0].T[:, :size]
