"""Derivatives of a strand over obstacles (see `strand`) by the coordinates, and the mass matrix of its mass points."""

from .. import layout as at
from ..algebra.access import flat3, load_twist, store6
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..forces.points import material
from . import layout as muscle
from .frames import Span, row_at
from .strand import gradient_of, loads_of


@inline
def columns_at(nv: int) -> int:
    """Offset of the current muscle's columns in a coordinate's workspace, after its row of couplings."""
    return at.DOF_WORK_WIDTH + nv


@inline
def twists_at(space: Array, nv: int) -> int:
    """Offset of the twists of obstacles in a coordinate's workspace."""
    return columns_at(nv) + muscle.COLUMN_POINTS + 3 * int(space[muscle.ACTIVE])


@inline
def inputs_at(space: Array, nv: int) -> int:
    """Offset in it of the derivatives' inputs of the current strand."""
    return twists_at(space, nv) + 6 * int(space[muscle.OBSTACLES])


@shared
def obstacle_columns(arrays: Array, span: Span, k: int, space: Array, dof: Array) -> None:
    """Twists of the obstacles of strand k by each coordinate of a span."""
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    here = row_at(k)
    header = int(space[here + muscle.STRAND_AT])
    count = int(data[header + muscle.STRAND_OBSTACLES])
    levers = int(data[header + muscle.STRAND_PLACE]) + muscle.PLACE_FRAMES + 12 * count
    first_twist = twists_at(space, dof.shape[0]) + 6 * int(space[here + muscle.STRAND_BEFORE])
    for i in range(span[1]):
        d = int(data[span[0] + i])
        for j in range(6 * count):
            dof[d, first_twist + j] = 0.0
    for obstacle in range(count):
        body, lever = (
            int(data[header + muscle.STRAND_RECORD + 1 + obstacle]),
            flat3(space, levers + 3 * obstacle),
        )
        while body > span[2]:
            first = body_int[body, at.DOF_START]
            for d in range(first, first + body_int[body, at.DOF_COUNT]):
                s = load_twist(dof, d, at.SUBSPACE)
                v = material(s, lever)
                store6(dof, d, first_twist + 6 * obstacle, (s[0], s[1], s[2], v[0], v[1], v[2]))
            body = body_int[body, at.PARENT]


@inline
def along_gradient(data: Array, k: int, space: Array, dof: Array, d: int) -> float:
    """Derivative by coordinate d of the length of strand k over obstacles."""
    here, nv = row_at(k), dof.shape[0]
    header = int(space[here + muscle.STRAND_AT])
    gradient = gradient_of(data, header)
    points = columns_at(nv) + muscle.COLUMN_POINTS + 3 * k
    twists = twists_at(space, nv) + 6 * int(space[here + muscle.STRAND_BEFORE])
    total = 0.0
    for j in range(6):
        total += space[gradient + j] * dof[d, points + j]
    for j in range(6 * int(data[header + muscle.STRAND_OBSTACLES])):
        total += space[gradient + 6 + j] * dof[d, twists + j]
    return total


@inline
def strand_inputs(data: Array, k: int, space: Array, dof: Array, d: int) -> None:
    """Derivatives by coordinate d of (z', L', a') of strand k; advances the length before the next strand."""
    here, nv = row_at(k), dof.shape[0]
    header = int(space[here + muscle.STRAND_AT])
    columns, inputs = columns_at(nv), inputs_at(space, nv)
    points = columns + muscle.COLUMN_POINTS + 3 * k
    twists = twists_at(space, nv) + 6 * int(space[here + muscle.STRAND_BEFORE])
    count = 6 * int(data[header + muscle.STRAND_OBSTACLES])
    for j in range(6):
        dof[d, inputs + j] = dof[d, points + j]
    for j in range(count):
        dof[d, inputs + 6 + j] = dof[d, twists + j]
    dof[d, inputs + 6 + count] = dof[d, columns + muscle.COLUMN_LENGTH]
    dof[d, inputs + 7 + count] = dof[d, columns + muscle.COLUMN_BEFORE]
    dof[d, columns + muscle.COLUMN_BEFORE] += along_gradient(data, k, space, dof, d)


@shared
def add_wrapped_mass(data: Array, span: Span, k: int, space: Array, dof: Array) -> None:
    """Mass matrix of a strand's mass points, added to the coordinates' rows."""
    here, inputs = row_at(k), inputs_at(space, dof.shape[0])
    header = int(space[here + muscle.STRAND_AT])
    n = 8 + 6 * int(data[header + muscle.STRAND_OBSTACLES])
    matrix, weighed = loads_of(data, header) + n, inputs + n
    for i in range(span[1]):
        d = int(data[span[0] + i])
        strand_inputs(data, k, space, dof, d)
        if not space[here + muscle.STRAND_COUNT] > 0.0:
            continue
        for j in range(n):
            total = 0.0
            for h in range(n):
                total += space[matrix + n * max(h, j) + min(h, j)] * dof[d, inputs + h]
            dof[d, weighed + j] = total
        for j in range(i + 1):
            e = int(data[span[0] + j])
            total = 0.0
            for h in range(n):
                total += dof[d, weighed + h] * dof[e, inputs + h]
            dof[d, at.DOF_WORK_WIDTH + e] += total
