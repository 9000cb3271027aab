"""The complementarity solver against definitions, another solver and closed forms, on the problems of mechanisms."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from physics.kernels.constraints.layout import EQUALITY, NORMAL, TANGENT, UNILATERAL
from tests.physics.kernels.contact_problems import Problem, box_stack, pile, problem, random_problem

GOOD = 1e-9  # the solver's tolerance
seeds = st.integers(0, 2**32 - 1)


def natural_residual(p: Problem, impulse) -> float:
    """|lambda - proj_K(lambda - r (u + mu |u_t| n))| / |lambda|, without the kernels."""
    u = p.matrix @ impulse + p.right
    miss = np.zeros(len(impulse))
    for i, kind in enumerate(p.kinds):
        if kind == EQUALITY:
            miss[i] = u[i] / p.matrix[i, i]
        elif kind == UNILATERAL:
            miss[i] = min(impulse[i], u[i] / p.matrix[i, i])
        elif kind == NORMAL:
            at, mu = slice(i, i + 3), p.friction[i]
            r = 3.0 / np.trace(p.matrix[at, at])
            x = impulse[at] - r * (u[at] + [mu * np.hypot(u[i + 1], u[i + 2]), 0.0, 0.0])
            length = np.hypot(x[1], x[2])
            y = np.zeros(3)
            if length <= mu * x[0]:
                y = x
            elif mu * length > -x[0]:
                normal = (x[0] + mu * length) / (1.0 + mu**2)
                y = np.array([normal, *(mu * normal / length * x[1:])])
            miss[at] = impulse[at] - y
    return float(np.linalg.norm(miss) / max(np.linalg.norm(impulse), 1e-300))


def check(p: Problem, good: float = GOOD):
    impulse, residual = p.solve()
    again = natural_residual(p, impulse)
    assert again < good
    assert abs(residual - again) < 1e-12 + 1e-3 * again  # the reported residual is the true one
    return impulse


@settings(max_examples=30, deadline=None)
@given(seed=seeds, equalities=st.integers(0, 8), unilaterals=st.integers(0, 6), contacts=st.integers(0, 6))
def test_mixed_rows_on_any_mass_matrix(seed, equalities, unilaterals, contacts):
    if equalities + unilaterals + contacts == 0:
        return
    rng = np.random.default_rng(seed)
    check(random_problem(rng, contacts, 24, equalities, unilaterals, spread=1.0))


@settings(max_examples=30, deadline=None)
@given(seed=seeds, rows=st.integers(1, 40), coordinates=st.integers(2, 20))
def test_one_sided_rows_end_exactly(seed, rows, coordinates):
    # the velocity behind the impulses is the nearest feasible one in the metric of the mass matrix, which scipy's nnls
    # finds on its dual; where rows are many their impulses are not unique, velocities are
    rng = np.random.default_rng(seed)
    p = random_problem(rng, 0, coordinates, unilaterals=rows, spread=1.0)
    impulse = check(p, 1e-12)
    factor = np.linalg.cholesky(p.matrix + 1e-13 * np.trace(p.matrix) * np.eye(rows))
    oracle, _ = nnls(factor.T, -np.linalg.solve(factor, p.right), maxiter=1000)
    u, v = p.matrix @ impulse + p.right, p.matrix @ oracle + p.right
    # the oracle gets a regularized matrix: sqrt of 1e-13
    assert np.abs(u - v).max() < 1e-6 * np.abs(p.right).max()


def test_a_chain_of_stops_does_not_creep():
    # masses in a row pressed against a wall: all stop at once, impulses sum up
    n = 6
    jacobian = np.eye(n) - np.eye(n, k=1)
    p = problem(jacobian, np.eye(n), -np.ones(n), [UNILATERAL] * n, np.zeros(n))
    impulse, _ = p.solve()
    assert np.abs(p.matrix @ impulse + p.right).max() < 1e-14
    assert np.abs(impulse - np.arange(1, n + 1)).max() < 1e-13


def test_redundant_equalities_get_a_solution():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(4, 9))
    jacobian = np.vstack([rows, rows[:2] + rows[2:], 3.0 * rows])
    p = problem(
        jacobian, np.diag(rng.uniform(0.5, 2.0, 9)), rng.normal(size=9), [EQUALITY] * 10, np.zeros(10)
    )
    impulse, _ = p.solve()
    assert np.abs(p.matrix @ impulse + p.right).max() < 1e-13
    assert (impulse == 0.0).sum() == 6  # redundant rows get no impulse


@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "masses", [np.ones(10), 10.0 ** np.linspace(0.0, 4.0, 10), 10.0 ** np.linspace(4.0, 0.0, 10)]
)
def test_stacks_at_rest_stay_and_bear_their_weight(masses, friction):
    p = box_stack(masses, friction)
    impulse = check(p)
    # the promised residual, times the response of the lightest box to what the heaviest weighs
    assert np.abs(p.matrix @ impulse + p.right).max() < 1e-9 * p.matrix.max() * impulse.max()
    borne = impulse.reshape(10, 4, 3)[:, :, 0].sum(axis=1)
    weight = 9.81e-3 * np.cumsum(masses[::-1])[::-1]
    assert np.abs(borne / weight - 1.0).max() < 1e-6


@pytest.mark.parametrize("ratio", [1.0, 1e4])
def test_stacks_that_move(ratio):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        masses = ratio ** rng.uniform(0.0, 1.0, 10)
        check(box_stack(masses, 0.5, 0.01 * rng.normal(size=60)))


@pytest.mark.parametrize("seed", range(8))
def test_piles_with_any_normals(seed):
    check(pile(np.random.default_rng(seed), 4, 4))


def test_a_contact_that_barely_slips_among_others_that_slide():
    # One contact slips by 1.5e-10 m/s. The central path ends beside the solution, from where Newton's steps without
    # larger scales go astray: the residual was 1.5e-4.
    rows = np.loadtxt(Path(__file__).with_name("barely_slipping.txt"))
    count = len(rows)
    kinds = np.array([NORMAL, TANGENT, TANGENT] * (count // 3))
    check(Problem(np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy(), kinds, np.full(count, 1.2)))


def test_friction_against_another_solver():
    # where the tangential speeds are known, the problem is a convex one (Acary, Cadoux, Lemarechal & Malick 2011):
    # min 1/2 l W l + l (right + mu |u_t| n) on the cones; here on a cone of 1440 generators, by scipy's nnls
    mu, angles = 0.4, np.arange(1440) * np.pi / 720
    cone = np.array([np.ones(1440), mu * np.cos(angles), mu * np.sin(angles)])
    for seed in range(4):
        p = random_problem(np.random.default_rng(seed), 3, 12, friction=mu)
        p.right[::3] = -np.abs(p.right[::3])
        impulse = check(p)
        u = p.matrix @ impulse + p.right
        shifted = p.right.copy()
        shifted[::3] += mu * np.hypot(u[1::3], u[2::3])
        factor = np.linalg.cholesky(p.matrix)
        generators = np.kron(np.eye(3), cone)
        weights, _ = nnls(factor.T @ generators, -np.linalg.solve(factor, shifted), maxiter=100000)
        # half of the angle between two generators, squared: 2e-6, times the condition of W
        assert np.abs(generators @ weights - impulse).max() < 1e-3 * np.abs(impulse).max()


def slope_problem(angle: float, heading: float, friction: float) -> Problem:
    """A box of 1 kg at rest on a plane that rises by angle towards heading, one step under gravity."""
    g = 9.81e-3 * np.array([np.sin(angle) * np.cos(heading), np.sin(angle) * np.sin(heading), -np.cos(angle)])
    v = np.zeros(6)
    v[3:] = g
    return box_stack([1.0], friction, v - np.array([0.0, 0.0, 0.0, 0.0, 0.0, -9.81e-3]))


@pytest.mark.parametrize("heading", np.arange(16) * np.pi / 8)
def test_a_box_slips_at_the_same_angle_in_every_direction(heading):
    friction = 0.6
    edge = np.arctan(friction)
    for beyond in (-1e-4, 1e-4):  # a pyramid of four sides errs by up to 9 degrees
        p = slope_problem(edge + beyond, heading, friction)
        impulse, residual = p.solve()
        assert residual < GOOD
        slip = (p.matrix @ impulse + p.right).reshape(-1, 3)[:, 1:]
        moves = np.hypot(*slip.T).max()
        # along the slope: g (sin - mu cos) of the excess angle, for a box of which no edge lifts
        expected = 9.81e-3 * np.sin(max(beyond, 0.0)) / np.cos(edge) if beyond > 0 else 0.0
        assert abs(moves - expected) < 1e-9 * 9.81e-3 + 1e-6 * expected


def test_warm_start_gives_the_same():
    p = box_stack(np.ones(5), 0.5, 0.01 * np.random.default_rng(3).normal(size=30))
    impulse, _ = p.solve()
    again, residual = p.solve(impulse)
    assert residual < GOOD
    # forces on the boxes' four points are not unique; their sums are
    assert np.abs(p.matrix @ (again - impulse)).max() < 1e-6 * np.abs(p.right).max()


def test_rows_that_nothing_moves_get_no_impulse():
    p = random_problem(np.random.default_rng(1), 2, 12, equalities=2, unilaterals=1)
    for i in (0, 2, 3):
        p.matrix[i, :] = p.matrix[:, i] = 0.0
        p.right[i] = 0.0
    impulse, residual = p.solve()
    assert np.isfinite(impulse).all()
    assert residual < GOOD


def test_planar_contact_whose_second_tangent_nothing_moves():
    jacobian = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    p = problem(jacobian, np.eye(2), np.array([3.0, -1.0]), [NORMAL, TANGENT, TANGENT], [0.5, 0.0, 0.0])
    impulse, residual = p.solve()
    assert residual < 1e-15
    assert np.abs(impulse - [1.0, -0.5, 0.0]).max() < 1e-15


@pytest.mark.slow
def test_wide():
    """Piles of bodies with up to 40 contacts, jammed or not, and stacks whose masses span four decades."""
    for seed in range(150):
        rng = np.random.default_rng(1000 + seed)
        check(pile(rng, 3, 4))
        check(pile(rng, 10, 4))
        check(random_problem(rng, 16, 20, equalities=4, unilaterals=3, spread=1.0))
    for seed in range(20):
        rng = np.random.default_rng(1000 + seed)
        check(box_stack(10.0 ** rng.uniform(0.0, 4.0, 10), 0.5, 0.01 * rng.normal(size=60)))
