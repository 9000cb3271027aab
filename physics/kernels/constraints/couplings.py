"""L D L^T of the mass matrix of a tree whose coordinates muscles' masses couple (see `dynamics.coupled`)."""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import store_twist
from ..algebra.inertia import add_inertia, inertia_times, load_inertia, store_inertia, take_out
from ..algebra.lanes import (
    Pair,
    add_pair,
    dot_pair,
    flat_lanes,
    lanes_of,
    load_pair,
    scale_add_pair,
    store_flat,
    store_pair,
    twist_of,
)
from ..algebra.vectors import NONE, STILL, Array
from ..compiler.jit import for_muscles, inline, shared

# As in `aba`: a coordinate with less than this share of its inertia remaining is a combination of others.
SINGULAR_SHARE = 1e-13


@inline
def flat_pair(space: Array, place: int) -> Pair:
    return flat_lanes(space, place), flat_lanes(space, place + 4)


@inline
def put_pair(space: Array, place: int, x: Pair) -> None:
    store_flat(space, place, x[0])
    store_flat(space, place + 4, x[1])


@inline
def record_of(data: Array, k: int) -> tuple[int, int]:
    """Where the k-th record of the table of couplings has its coordinates, and one past the last."""
    record = int(data[int(data[at.MUSCLE_COUPLINGS]) + k])
    first = record + at.COUPLED_WITH
    return first, first + at.WITH_WIDTH * int(data[record + at.COUPLED_COUNT])


@inline
def body_of(data: Array, k: int) -> int:
    return int(data[int(data[int(data[at.MUSCLE_COUPLINGS]) + k]) + at.COUPLED_BODY])


@shared
def clear_couplings(arrays: Array, space: Array, dof: Array) -> None:
    """Clear all couplings."""
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    for k in range(body_int.shape[0]):
        i, (begin, end) = body_of(data, k), record_of(data, k)
        first = body_int[i, at.DOF_START]
        last = first + body_int[i, at.DOF_COUNT]
        for entry in range(begin, end, at.WITH_WIDTH):
            e = int(data[entry])
            put_pair(space, int(data[entry + at.WITH_PLACE]), (lanes_of(NONE), lanes_of(NONE)))
            for d in range(first, last):
                dof[d, at.DOF_WORK_WIDTH + e] = 0.0
        for d in range(first, last):
            store_twist(dof, d, at.PROJECTED, STILL)
            for e in range(first, d + 1):
                dof[d, at.DOF_WORK_WIDTH + e] = 0.0


@inline
def move_to_parent(
    arrays: Array, first: int, last: int, i: int, begin: int, end: int, space: Array, work: Array, dof: Array
) -> None:
    """Express the twist of body i by its parent's and its coordinates, from first to last."""
    dof_float, data = arrays[at.DOF_FLOAT], arrays[at.MODEL_DATA]
    inertia = load_inertia(work, i)
    for d in range(first, last):
        u = inertia_times(inertia, twist_of(load_pair(dof, d, at.SUBSPACE)))
        dof[d, at.DOF_WORK_WIDTH + d] += dof_float[d, at.ARMATURE]
        for e in range(first, d + 1):
            dof[d, at.DOF_WORK_WIDTH + e] += dot_pair(load_pair(dof, e, at.SUBSPACE), u)
        dof[d, at.INVERSE] = dot_pair(load_pair(dof, d, at.SUBSPACE), u) + dof_float[d, at.ARMATURE]
        store_pair(dof, d, at.PROJECTED, add_pair(load_pair(dof, d, at.PROJECTED), u))
    for entry in range(begin, end, at.WITH_WIDTH):
        e, b = int(data[entry]), flat_pair(space, int(data[entry + at.WITH_PLACE]))
        for d in range(first, last):
            dof[d, at.DOF_WORK_WIDTH + e] += dot_pair(load_pair(dof, d, at.SUBSPACE), b)


@inline
def take_coordinate(
    data: Array, d: int, first: int, i: int, begin: int, end: int, space: Array, work: Array, dof: Array
) -> None:
    """Eliminate coordinate d of body i."""
    inverse, u = dof[d, at.INVERSE], load_pair(dof, d, at.PROJECTED)
    store_inertia(work, i, take_out(load_inertia(work, i), u, inverse))
    for e in range(first, d):
        share = dof[d, at.DOF_WORK_WIDTH + e] * inverse
        store_pair(dof, e, at.PROJECTED, scale_add_pair(load_pair(dof, e, at.PROJECTED), -share, u))
        for f in range(first, e + 1):
            dof[e, at.DOF_WORK_WIDTH + f] -= share * dof[d, at.DOF_WORK_WIDTH + f]
        for entry in range(begin, end, at.WITH_WIDTH):
            f = int(data[entry])
            dof[e, at.DOF_WORK_WIDTH + f] -= share * dof[d, at.DOF_WORK_WIDTH + f]
    for entry in range(begin, end, at.WITH_WIDTH):
        e, place = int(data[entry]), int(data[entry + at.WITH_PLACE])
        share = dof[d, at.DOF_WORK_WIDTH + e] * inverse
        put_pair(space, place, scale_add_pair(flat_pair(space, place), -share, u))
        for other in range(entry, end, at.WITH_WIDTH):
            f = int(data[other])
            dof[e, at.DOF_WORK_WIDTH + f] -= share * dof[d, at.DOF_WORK_WIDTH + f]


@inline
def pass_on(
    body_int: Array, data: Array, i: int, begin: int, end: int, space: Array, work: Array, dof: Array
) -> None:
    """Add what is left of body i to its parent."""
    parent = body_int[i, at.PARENT]
    if parent < 0:
        return
    add_inertia(work, parent, load_inertia(work, i))
    for entry in range(begin, end, at.WITH_WIDTH):
        b = flat_pair(space, int(data[entry + at.WITH_PLACE]))
        outer = int(data[entry + at.WITH_OUTER])
        if outer > 0:
            put_pair(space, outer, add_pair(flat_pair(space, outer), b))
            continue
        e, body = int(data[entry]), int(data[entry + at.WITH_OWNER])
        store_pair(dof, e, at.PROJECTED, add_pair(load_pair(dof, e, at.PROJECTED), b))
        if body == parent:
            first = body_int[body, at.DOF_START]
            for f in range(first, first + body_int[body, at.DOF_COUNT]):
                along = dot_pair(load_pair(dof, f, at.SUBSPACE), b)
                dof[max(e, f), at.DOF_WORK_WIDTH + min(e, f)] += along if e != f else 2.0 * along
            continue
        body = body_int[body, at.PARENT]
        while body != parent:
            first = body_int[body, at.DOF_START]
            for f in range(first, first + body_int[body, at.DOF_COUNT]):
                dof[e, at.DOF_WORK_WIDTH + f] -= dot_pair(load_pair(dof, f, at.SUBSPACE), b)
            body = body_int[body, at.PARENT]


@shared
def factorize_couplings(arrays: Array, space: Array, work: Array, dof: Array) -> int:
    """Eliminate all free coordinates, from the bodies' inertias in work and the couplings; returns the first without
    inertia, or -1. Overwrites inertias.
    """
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    for k in range(body_int.shape[0]):
        i, (begin, end) = body_of(data, k), record_of(data, k)
        first = body_int[i, at.DOF_START]
        last = first + body_int[i, at.DOF_COUNT]
        move_to_parent(arrays, first, last, i, begin, end, space, work, dof)
        for d in range(last - 1, first - 1, -1):
            if dof[d, at.HELD] != 0.0:
                dof[d, at.INVERSE] = 0.0
                continue
            own = dof[d, at.DOF_WORK_WIDTH + d]
            if not own > SINGULAR_SHARE * dof[d, at.INVERSE]:
                return d
            dof[d, at.INVERSE] = 1.0 / own
            take_coordinate(data, d, first, i, begin, end, space, work, dof)
        pass_on(body_int, data, i, begin, end, space, work, dof)
    return -1


@for_muscles()
def solve_couplings(arrays: Array, right: Array, result: Array, work: Array, dof: Array) -> None:
    """Solve M result = right - S^T (the bodies' FORCE) for the free coordinates; prescribed ones get the constraint
    force, M result - right. After `factorize_couplings`; right and result may be the same array.
    """
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    number = body_int.shape[0]
    for d in range(dof.shape[0]):
        dof[d, at.REMAINDER] = right[d]
    for k in range(number):
        i, (begin, end) = body_of(data, k), record_of(data, k)
        force, parent, first = load_pair(work, i, at.FORCE), body_int[i, at.PARENT], body_int[i, at.DOF_START]
        last = first + body_int[i, at.DOF_COUNT]
        for d in range(first, last):
            dof[d, at.REMAINDER] -= dot_pair(load_pair(dof, d, at.SUBSPACE), force)
        for d in range(last - 1, first - 1, -1):
            gained = dof[d, at.REMAINDER] * dof[d, at.INVERSE]
            if gained == 0.0:
                continue
            force = scale_add_pair(force, gained, load_pair(dof, d, at.PROJECTED))
            for e in range(first, d):
                dof[e, at.REMAINDER] -= gained * dof[d, at.DOF_WORK_WIDTH + e]
            for entry in range(begin, end, at.WITH_WIDTH):
                e = int(data[entry])
                dof[e, at.REMAINDER] -= gained * dof[d, at.DOF_WORK_WIDTH + e]
        if parent >= 0:
            store_pair(work, parent, at.FORCE, add_pair(load_pair(work, parent, at.FORCE), force))
    for k in range(number - 1, -1, -1):
        i, (begin, end) = body_of(data, k), record_of(data, k)
        parent, first = body_int[i, at.PARENT], body_int[i, at.DOF_START]
        outer = lanes_of(NONE), lanes_of(NONE)
        if parent >= 0:
            outer = load_pair(work, parent, at.ACCELERATION)
        a = outer
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            rest = dof[d, at.REMAINDER] - dot_pair(load_pair(dof, d, at.PROJECTED), outer)
            for e in range(first, d):
                if dof[e, at.HELD] == 0.0:
                    rest -= dof[d, at.DOF_WORK_WIDTH + e] * result[e]
            for entry in range(begin, end, at.WITH_WIDTH):
                e = int(data[entry])
                if dof[e, at.HELD] == 0.0:
                    rest -= dof[d, at.DOF_WORK_WIDTH + e] * result[e]
            if dof[d, at.HELD] != 0.0:
                result[d] = -rest
            else:
                result[d] = rest * dof[d, at.INVERSE]
                a = scale_add_pair(a, result[d], load_pair(dof, d, at.SUBSPACE))
        store_pair(work, i, at.ACCELERATION, a)


@for_muscles()
def coupled_response(arrays: Array, impulse: Array, change: Array, work: Array, dof: Array) -> None:
    """Change of velocity M^-1 impulse (nv,); at prescribed coordinates the constraint impulse."""
    for i in range(arrays[at.BODY_INT].shape[0]):
        store_twist(work, i, at.FORCE, STILL)
    solve_couplings(arrays, impulse, change, work, dof)
