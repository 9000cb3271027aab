"""Impacts: restitution where possible, and kinetic energy that never grows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from physics.kernels.constraints.layout import EQUALITY, NORMAL, TANGENT, UNILATERAL
from physics.kernels.contact.impacts import IMPACT_VECTORS, solve_impacts
from physics.kernels.contact.impulse_layout import impulse_space
from tests.physics.kernels.contact_problems import Problem, box_stack, pile, problem, random_problem


def impact(p: Problem, restitution):
    n = len(p.right)
    shape, length = impulse_space(n)
    impulse = np.zeros(n)
    residual = solve_impacts(
        n,
        p.matrix,
        p.right,
        p.kinds,
        p.friction,
        np.broadcast_to(np.asarray(restitution, dtype=float), n).copy(),
        impulse,
        np.zeros(shape),
        np.zeros(length, np.int64),
        np.zeros((IMPACT_VECTORS, n)),
    )
    assert residual < 1e-9
    return impulse


def energy_gain(p: Problem, impulse) -> float:
    """Kinetic energy after less before: impulses times the mean of the speeds before and after."""
    return float(impulse @ (p.right + 0.5 * p.matrix @ impulse))


def newton(p: Problem, restitution: float):
    """Newton's law alone: speeds after at least the restitution times those of approach."""
    one_sided = (p.kinds == UNILATERAL) | (p.kinds == NORMAL)
    right = np.where(one_sided & (p.right < 0.0), (1.0 + restitution) * p.right, p.right)
    return Problem(p.matrix, right, p.kinds, p.friction).solve()[0]


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_a_ball_leaves_with_the_share_of_its_speed(restitution):
    p = problem(np.eye(3), np.eye(3), np.array([-2.0, 0.3, 0.0]), [NORMAL, TANGENT, TANGENT], [0.1, 0.0, 0.0])
    impulse = impact(p, restitution)
    after = p.matrix @ impulse + p.right
    expected = [2.0 * restitution, 0.3 - min(0.3, 0.1 * 2.0 * (1.0 + restitution)), 0.0]
    assert np.abs(after - expected).max() < 1e-14


def test_elastic_rows_without_friction_keep_the_energy():
    for seed in range(20):
        p = random_problem(np.random.default_rng(seed), 0, 8, unilaterals=6)
        if (p.right > 0.0).any():  # others may hit separating rows, which loses energy
            p.right[:] = -np.abs(p.right)
            p.matrix[:] = np.diag(np.diag(p.matrix))
        impulse = impact(p, 1.0)
        assert abs(energy_gain(p, impulse)) < 1e-12 * (impulse @ np.abs(p.right))


def double_pendulum(angle_1: float, angle_2: float, rate_1: float, rate_2: float, friction: float) -> Problem:
    """Two rods of 1 m and 1 kg hinged to each other and a ceiling, the tip on rough ground (Kane & Levinson 1985)."""
    s1, c1, s2, c2 = np.sin(angle_1), np.cos(angle_1), np.sin(angle_2), np.cos(angle_2)
    mass = np.array([[4.0 / 3.0, 0.5 * (c1 * c2 + s1 * s2)], [0.5 * (c1 * c2 + s1 * s2), 1.0 / 3.0]])
    # ground below: normal up, the pendulum hangs down
    jacobian = np.array([[s1, s2], [c1, c2], [0.0, 0.0]])
    kinds = [NORMAL, TANGENT, TANGENT]
    return problem(jacobian, np.linalg.inv(mass), np.array([rate_1, rate_2]), kinds, [friction, 0.0, 0.0])


def test_energy_never_grows_where_newtons_law_lets_it():
    # Kane's configuration: hanging at 20 and 30 degrees, the lower rod sweeping back while the tip comes down
    p = double_pendulum(np.radians(20.0), np.radians(30.0), -0.1, -0.2, 0.5)
    restitution = 0.7
    worst = 0.0
    for rate in np.linspace(-1.0, 1.0, 201):
        p = double_pendulum(np.radians(20.0), np.radians(30.0), rate, -0.2, 0.5)
        if p.right[0] < 0.0:
            before = 0.5 * p.right @ np.linalg.pinv(p.matrix) @ p.right
            worst = max(worst, energy_gain(p, newton(p, restitution)) / before)
            assert energy_gain(p, impact(p, restitution)) <= 1e-12 * before
    assert worst > 0.05  # share of energy that Newton's law would add


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), contacts=st.integers(1, 4), equalities=st.integers(0, 3))
def test_energy_never_grows_with_unlike_restitutions(seed, contacts, equalities):
    rng = np.random.default_rng(seed)
    p = random_problem(rng, contacts, 9, equalities, unilaterals=2)
    joints = p.kinds == EQUALITY  # also satisfied before the impact
    p.right -= p.matrix[:, joints] @ np.linalg.pinv(p.matrix[np.ix_(joints, joints)]) @ p.right[joints]
    impulse = impact(p, rng.uniform(0.0, 1.0, len(p.right)))
    after = p.matrix @ impulse + p.right
    size = np.abs(impulse) @ (np.abs(p.right) + np.abs(after))
    assert energy_gain(p, impulse) <= 1e-8 * size
    one_sided = (p.kinds == UNILATERAL) | (p.kinds == NORMAL)
    assert after[one_sided].min() > -1e-8 * np.abs(p.right).max()
    assert np.abs(after[p.kinds == EQUALITY]).max(initial=0.0) < 1e-8 * np.abs(p.right).max()


def test_boxes_and_piles_that_fall():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        for p in (box_stack(np.ones(4), 0.5, rng.normal(size=24)), pile(rng, 3, 3)):
            impulse = impact(p, 0.6)
            assert energy_gain(p, impulse) <= 1e-8 * np.abs(impulse) @ np.abs(p.right)


def test_a_point_that_can_only_jam_gets_no_endless_impulses():
    """With one freedom and much friction no impulse in the cone may separate the point. Newton's law then has no
    solution, and unbounded opposing impulses move the point by their round-off alone.
    """
    rng = np.random.default_rng(0)
    kinds = [NORMAL, TANGENT, TANGENT]
    for _ in range(300):  # one in forty finds round-off in its responses that it can push against
        one_way = np.outer(rng.normal(size=3), rng.normal(size=2))
        p = problem(one_way, np.diag([1.3, 0.4]), rng.normal(size=2), kinds, [1.2, 0.0, 0.0])
        if p.right[0] >= 0.0:
            continue
        impulse = impact(p, 1.0)
        assert p.matrix[0, 0] * np.abs(impulse).max() < 1e3 * np.abs(p.right).max()
        assert energy_gain(p, impulse) <= 1e-12 * np.abs(impulse) @ np.abs(p.right)


@pytest.mark.parametrize("digits", [3, 5])
def test_what_keeps_rows_from_closing_is_judged_among_all_impulses(digits):
    """A ball rests next to a box that strikes by Moreau's law: the closing speeds after that are round-off, whose own
    residual is never small. `impact` keeps the residual below 1e-9.
    """
    matrix = np.diag([0.5771941, 2.0201794, 2.0201794, 3.5642389, 1.1841436, 4.3632816])
    matrix[3, 4] = matrix[4, 3] = -1.5938588
    matrix[3, 5] = matrix[5, 3] = 0.1472617
    matrix[4, 5] = matrix[5, 4] = 0.3090479
    speeds = np.array([-3.0663e-4, 1.34512e-3, 1.85122e-3, -0.1589561, 0.0722223, -0.0384987])
    contact = [NORMAL, TANGENT, TANGENT]
    friction = np.array([0.8, 0.0, 0.0, 0.8, 0.0, 0.0])
    p = Problem(np.round(matrix, digits), np.round(speeds, digits + 2), np.array(contact * 2), friction)
    impulse = impact(p, [0.0, 0.0, 0.0, 0.69958, 0.0, 0.0])
    assert energy_gain(p, impulse) < 0.0
