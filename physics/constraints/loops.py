"""Finds constraints that close loops within small groups of bodies (see ``kernels.constraints.loops``)."""

from typing import Any

import numpy as np

from .._typing import IntArray
from ..joints.packing import Arrays
from ..kernels import layout
from ..kernels.constraints import layout as rows
from ..kernels.constraints import loops_layout as loop

# Coordinates of a cluster up to which its dense factors pay.
MOST_COORDINATES = 24
KINDS = (rows.FRAMES, rows.SEGMENTS, rows.DISTANCE)


def local_loops(arrays: Arrays, con_int: IntArray) -> tuple[Any, ...] | None:
    """Workspace of a model's clusters; None if its constraints are not all local equalities between bodies, or if other
    things than bodies and armatures resist its coordinates.
    """
    body_int, _, _, data, dof_float = arrays
    bounded = np.isfinite(dof_float[:, [layout.LOWER, layout.UPPER]]).any()
    others = data[[layout.LIMIT_COUNT, layout.MUSCLE_MASSIVE]].any()
    kinds, senses = con_int[:, rows.CONSTRAINT_KIND], con_int[:, rows.CONSTRAINT_SENSE]
    if bounded or others or not np.isin(kinds, KINDS).all() or (senses != rows.EQUALITY).any():
        return None
    parent = body_int[:, layout.PARENT].tolist()
    leader, tied = list(range(len(parent))), []

    def lead(body: int) -> int:
        while leader[body] != body:
            leader[body] = leader[leader[body]]
            body = leader[body]
        return body

    for body, other in con_int[:, [rows.CONSTRAINT_BODY, rows.CONSTRAINT_OTHER]].tolist():
        way = []
        while body != other:
            way.append(max(body, other))
            body, other = (parent[body], other) if body > other else (body, parent[other])
        if not way:
            return None
        tied.append(way[0])
        for one in way[1:]:
            leader[lead(one)] = lead(way[0])
    groups: dict[int, list[int]] = {}
    for body in range(len(parent)):
        groups.setdefault(lead(body), []).append(body)
    return _workspace(arrays, con_int, [*groups.values()], [lead(body) for body in tied], lead)


def _workspace(
    arrays: Arrays, con_int: IntArray, groups: list[list[int]], tied: list[int], lead: Any
) -> tuple[Any, ...] | None:
    body_int, nv = arrays[0], len(arrays[4])
    parent, starts, counts = (
        body_int[:, column].tolist() for column in (layout.PARENT, layout.DOF_START, layout.DOF_COUNT)
    )
    clusters = np.zeros((len(groups), loop.CLUSTER_WIDTH), dtype=np.int64)
    members: list[int] = []
    owned: list[int] = []
    ordered: list[int] = []
    inner, places = np.zeros(len(parent), dtype=np.int64), np.zeros(nv, dtype=np.int64)
    by_group: dict[int, list[int]] = {}
    for record, group in zip(con_int, tied, strict=True):
        first = int(record[rows.CONSTRAINT_ROW])
        by_group.setdefault(group, []).extend(range(first, first + int(record[rows.CONSTRAINT_ROWS])))
    for c, bodies in enumerate(groups):
        own = [d for i in bodies for d in range(starts[i], starts[i] + counts[i])]
        mine = by_group.get(lead(bodies[0]), [])
        begins = len(members), len(owned), len(ordered)
        members, owned, ordered = members + bodies, owned + own, ordered + mine
        clusters[c] = [
            begins[0], len(members), begins[1], len(own), begins[2], len(ordered), parent[bodies[0]], 0
        ]  # fmt: skip
        inner[bodies] = [parent[i] in bodies for i in bodies]
        places[own] = range(len(own))
    wide, tall = int(clusters[:, loop.COORDINATES].max()), max(map(len, by_group.values()))
    if wide > MOST_COORDINATES:
        return None
    many, most = len(clusters), max(wide, tall)
    return (
        np.zeros(1, dtype=np.int64),
        clusters,
        np.array(members, dtype=np.int64),
        inner,
        np.array(owned, dtype=np.int64),
        places,
        np.array(ordered, dtype=np.int64),
        np.zeros((many, wide, wide)),
        np.zeros((many, tall, wide)),
        np.zeros((many, tall, tall)),
        np.zeros((many, tall), dtype=np.int64),
        np.zeros((many, tall)),
        np.zeros((tall, tall)),
        np.zeros(len(ordered)),
        np.zeros((nv, 8)),
        np.zeros((nv, 8)),
        np.zeros((len(parent), 8)),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros(nv),
        np.zeros((3, most)),
        np.zeros((6, wide)),
    )
