"""Changes of a rotation vector's chart, backwards (Kim, Lee & Park 2014, eqs. 66-70).

A change keeps the rotation and its velocity: r -> s r, r' -> s r' + c <r, r'> / t^3 r with t = |r|, s = 1 - c / t and c
the whole turns removed. Its derivative by (r, r') is [[A, 0], [C, A]] with the symmetric

    A = s I + c r r^T / t^3,   C = c (r r'^T + r' r^T + <r, r'> I) / t^3 - 3 c <r, r'> r r^T / t^5.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.access import flat3
from ..algebra.vectors import Array, dot3
from ..compiler.jit import shared


@shared
def pull_charts(
    arrays: Array, dof: Array, limit: float, q: Array, qd: Array, by_q: Array, by_qd: Array
) -> None:
    """Derivatives by the state after `rollout.change_charts` into those by the state before it, in place."""
    body_int, _, block_int, _, _ = arrays
    for i in range(body_int.shape[0]):
        first = body_int[i, at.BLOCK_START]
        for b in range(first, first + body_int[i, at.BLOCK_COUNT]):
            d = body_int[i, at.DOF_START] + block_int[b, at.COORDINATE]
            if block_int[b, at.KIND] != at.ROTATION_VECTOR or dof[d, at.HELD] != 0.0:
                continue
            r, v, n, m = flat3(q, d), flat3(qd, d), flat3(by_q, d), flat3(by_qd, d)
            if dot3(r, r) <= limit * limit or dof[d + 1, at.HELD] != 0.0 or dof[d + 2, at.HELD] != 0.0:
                continue
            length = math.sqrt(dot3(r, r))
            removed = 2.0 * math.pi * int(length / (2.0 * math.pi) + 0.5)
            scale, share = 1.0 - removed / length, removed / length**3
            inner, along = dot3(r, v), dot3(r, m)
            bend = dot3(v, m) - 3.0 * inner * along / (length * length)
            for k in range(3):
                by_qd[d + k] = scale * m[k] + share * along * r[k]
                by_q[d + k] = scale * n[k] + share * (
                    (dot3(r, n) + bend) * r[k] + along * v[k] + inner * m[k]
                )
