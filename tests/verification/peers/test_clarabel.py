"""Impulses of contacts with friction against Clarabel, a solver of cone programs.

Where the tangential speeds |u_t| are known, the impulses l minimize the convex

    f(l) = 1/2 l W l + l (right + mu |u_t| n)

with each contact's in its cone (Acary, Cadoux, Lemarechal & Malick 2011). Clarabel bounds the least f from both sides.
Its speeds u = W l + right are unique, while impulses of redundant contacts are not; f grows from its least value by at
least half of |u - u*|^2 over the largest eigenvalue of W.
"""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from physics.kernels.constraints.layout import EQUALITY, NORMAL, TANGENT
from tests.physics.kernels.contact_problems import Problem, box_stack, pile, random_problem

clarabel = pytest.importorskip("clarabel")
pytestmark = pytest.mark.peers
SCENES = 200
ACCURACY = 1e-9  # closer to round-off Clarabel often stops early


def scene(seed: int) -> Problem:
    """A pile of free bodies, a stack that is pushed, or rows of every kind on a random mass matrix."""
    rng = np.random.default_rng(seed)
    kind, size = seed % 3, int(rng.integers(1, 9))
    if kind == 0:
        return pile(rng, size, int(rng.integers(1, 4)), ratio=10.0)
    if kind == 1:
        pushed = rng.normal(size=6 * size)
        return box_stack(10.0 ** rng.uniform(-1.0, 1.0, size), rng.uniform(0.1, 1.0), pushed)
    equalities, unilaterals = rng.integers(0, 4, 2).tolist()
    return random_problem(rng, size, int(rng.integers(6, 30)), equalities, unilaterals, spread=0.5)


def cone_program(p: Problem, shifted: np.ndarray) -> Any:
    """Clarabel's solution for right hand sides shifted (n,)."""
    scale = np.where(p.kinds == NORMAL, p.friction, 1.0)  # the cone |l_t| <= mu l_n
    cones = [
        clarabel.SecondOrderConeT(3) if kind == NORMAL else clarabel.NonnegativeConeT(1)
        for kind in p.kinds
        if kind not in (EQUALITY, TANGENT)
    ]
    rows = sparse.csc_matrix(-np.diag(scale)[p.kinds != EQUALITY])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    upper = sparse.csc_matrix(np.triu(p.matrix))
    return clarabel.DefaultSolver(upper, shifted, rows, np.zeros(rows.shape[0]), cones, settings).solve()


def test_two_hundred_scenes() -> None:
    for seed in range(SCENES):
        p = scene(seed)
        impulse, _ = p.solve()
        speeds = p.matrix @ impulse + p.right
        (normal,) = np.nonzero(p.kinds == NORMAL)
        shifted = p.right.copy()
        shifted[normal] += p.friction[normal] * np.hypot(speeds[normal + 1], speeds[normal + 2])
        peer = cone_program(p, shifted)
        assert peer.status == clarabel.SolverStatus.Solved, seed
        least, most = sorted((peer.obj_val_dual, peer.obj_val))
        found = 0.5 * impulse @ p.matrix @ impulse + impulse @ shifted
        off = ACCURACY * max(1.0, abs(found))  # of its feasibility
        assert least - off <= found <= most + off, seed
        apart = np.linalg.norm(p.matrix @ np.array(peer.x) + p.right - speeds)
        assert apart**2 <= 2.0 * np.linalg.norm(p.matrix, 2) * (most - least + 2.0 * off), seed
