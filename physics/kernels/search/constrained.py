"""Constraints in the search for coordinates: an augmented Lagrangian (Nocedal & Wright 2006, sec. 17.3).

`tied` is None, or (constraints, system, pulls, penalty): a multiplier for each row, and the weight of its square.
"""

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..constraints.rows import constraint_rows
from . import layout as search


@inline
def shortfall(kind: int, value: float, pull: float, penalty: float) -> float:
    """Value of a row, shifted by its multiplier; 0 for a one-sided row that does not act."""
    short = value + pull / penalty
    return short if kind == con.EQUALITY else min(short, 0.0)


@inline
def rows_at(
    slopes: bool, arrays: Array, tied: Array, q: Array, vectors: Array, work: Array, dof: Array
) -> int:
    """Put all rows, with or without slopes, into the system, after `kinematics`; returns their number."""
    system = tied[1]
    rows, kinds, jacobian = system[con.SYSTEM_ROWS], system[con.SYSTEM_KINDS], system[con.SYSTEM_JACOBIAN]
    bodies, still = arrays[at.BODY_INT], vectors[search.STILL]
    return constraint_rows(bodies, tied[0], slopes, q, still, work, dof, rows, kinds, jacobian)


@shared
def constraint_cost(arrays: Array, tied: Array, q: Array, vectors: Array, work: Array, dof: Array) -> float:
    """Half the weighted sum of squares of all rows, after `kinematics`."""
    _, system, pulls, penalty = tied
    rows, kinds = system[con.SYSTEM_ROWS], system[con.SYSTEM_KINDS]
    count = rows_at(False, arrays, tied, q, vectors, work, dof)
    cost = 0.0
    for k in range(count):
        cost += 0.5 * penalty * shortfall(kinds[k], rows[k, con.ROW_VALUE], pulls[k], penalty) ** 2
    return cost


@shared
def add_constraints(
    arrays: Array, tied: Array, q: Array, normal: Array, vectors: Array, work: Array, dof: Array
) -> bool:
    """Add all rows to the normal equations, after `kinematics`; returns whether they are met."""
    _, system, pulls, penalty = tied
    rows, kinds = system[con.SYSTEM_ROWS], system[con.SYSTEM_KINDS]
    values, columns, spans = system[con.SYSTEM_JACOBIAN]
    count = rows_at(True, arrays, tied, q, vectors, work, dof)
    met = True
    for k in range(count):
        value = rows[k, con.ROW_VALUE]
        met = met and abs(shortfall(kinds[k], value, 0.0, penalty)) <= search.TIED
        short = shortfall(kinds[k], value, pulls[k], penalty)
        if short == 0.0 and kinds[k] != con.EQUALITY:
            continue
        width = spans[k, con.SPAN_COUNT]
        for c in range(width):
            push, d = penalty * values[k, c], columns[k, c]
            vectors[search.GRADIENT, d] -= push * short
            for e in range(width):
                normal[d, columns[k, e]] += push * values[k, e]
    return met
