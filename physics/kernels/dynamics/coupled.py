"""Forward dynamics of models whose muscles have mass: an articulated-body algorithm with couplings.

Muscles couple coordinates that a tree's recursion keeps apart. Here the unknowns are the coordinates x and the twist a
of a body, and the energy is a form in these with, beside the articulated inertia of a, its couplings B with coordinates
elsewhere, and couplings C between coordinates. A joint is eliminated in two steps: a = a' + S x moves everything to the
parent's twist a', then each coordinate, last first, leaves its products with a' and with the coordinates that it is
coupled with. Tips come first, and a subtree comes whole: then B is needed only for coordinates outside of the subtree.
One inside of the parent's subtree is at hand itself, and keeps its coupling with its own parent's twist (`PROJECTED`).

With muscles across few joints each, the cost is linear in the bodies (cf. Featherstone 2008, 6.4 and 7.3). What stays
is L D L^T of the mass matrix, used for responses to impulses, too (Wang 2022, eqs. 4.18, 5.6).
"""

import math

from .. import layout as at
from ..algebra.lanes import flat_from
from ..algebra.vectors import Array
from ..compiler.jit import for_muscles, shared
from ..constraints.couplings import clear_couplings, factorize_couplings, solve_couplings
from ..forces.elements import element_forces
from ..forces.limits import limit_forces
from ..forces.passive import limit_ahead, passive_force
from ..joints.accelerations import spread_accelerations
from ..muscles.force import muscle_loads


@shared
def take_limits_ahead(dof_float: Array, q: Array, rate: Array, ahead: float, dof: Array, rest: Array) -> None:
    """Add implicit limits to the coordinates' couplings and to the remaining forces."""
    for d in range(dof.shape[0]):
        if dof[d, at.HELD] == 0.0:
            push, added = limit_ahead(dof_float, d, q[d], rate[d], ahead)
            rest[d] += push
            dof[d, at.DOF_WORK_WIDTH + d] += added
            for back in range(min(d + 1, 3)):
                dof[d, at.DOF_WORK_WIDTH + d - back] += dof[d, at.COUPLED + back]


@for_muscles()
def coupled_accelerations(
    arrays: Array,
    q: Array,
    qd: Array,
    rate: Array,
    tau: Array,
    qdd: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """As `aba.accelerations`, after `kinematics`; stores the factors of the mass matrix in dof."""
    body_int, _, _, data, dof_float = arrays
    nv = dof.shape[0]
    ahead = work[body_int.shape[0] + at.SURFACE_ROWS, at.AHEAD]
    for d in range(nv):
        qdd[d] = dof[d, at.GIVEN]
    spread_accelerations(arrays, qdd, True, work, dof)
    if data[at.LIMIT_COUNT] > 0.0:
        limit_forces(data, q, rate, ahead, dof)
    if data[at.ELEMENT_COUNT] > 0.0:
        element_forces(body_int, data, tau, dof_float.shape[0], work)
    space = flat_from(work, body_int.shape[0] + at.SCRATCH_ROWS)
    clear_couplings(arrays, space, dof)
    muscle_loads(arrays, q, qd, qdd, tau, True, True, work, dof)
    for d in range(nv):
        rest = tau[d] + dof[d, at.EXTRA] - dof_float[d, at.ARMATURE] * dof[d, at.GIVEN]
        qdd[d] = rest + passive_force(dof_float, data, tau, d, q[d], rate[d])
    if ahead > 0.0:
        take_limits_ahead(dof_float, q, rate, ahead, dof, qdd)
    bad = factorize_couplings(arrays, space, work, dof)
    if bad >= 0:
        own = dof[bad, at.DOF_WORK_WIDTH + bad]
        flags[at.STATUS] = at.SINGULAR if own < math.inf else at.NOT_FINITE
        flags[at.CULPRIT] = owner_of(body_int, bad)
        return
    solve_couplings(arrays, qdd, qdd, work, dof)
    for d in range(nv):
        if dof[d, at.HELD] != 0.0:
            dof[d, at.EFFORT] = qdd[d]
            qdd[d] = dof[d, at.GIVEN]


@shared
def owner_of(body_int: Array, coordinate: int) -> int:
    """The body whose joint has this coordinate."""
    for i in range(body_int.shape[0]):
        if coordinate < body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]:
            return i
    return 0
