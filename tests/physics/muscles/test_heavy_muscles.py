"""Elimination of coordinates that muscles' masses couple, against the dense mass matrix."""

import numpy as np
import pytest

import physics as ph
from physics.kernels import layout
from physics.muscles import PathPoint


def tree(parents: list[int], paths: list[tuple[int, ...]], seed: int = 3):
    """Bodies on hinges and some ball joints, and massive muscles on these bodies (-1: the world)."""
    builder, rng = ph.ModelBuilder(), np.random.default_rng(seed)
    for k, parent in enumerate(parents):
        place = np.eye(4)
        place[:3, 3] = rng.uniform(-0.3, 0.3, 3)
        joint = ph.joints.Spherical() if k % 4 == 3 else ph.joints.Hinge(rng.normal(size=3))
        above = f"body {parent}" if parent >= 0 else None
        inertia = np.diag([0.01, 0.02, 0.02])
        builder.add_body(f"body {k}", above, joint=joint, joint_in_parent=place, mass=1.0, inertia=inertia)
    for k, bodies in enumerate(paths):
        names = [f"body {body}" if body >= 0 else None for body in bodies]
        points = [PathPoint(name, rng.uniform(-0.2, 0.2, 3)) for name in names]
        builder.add_muscle(f"muscle {k}", points, mass=0.3, num_points=6, tension=2.0)
    model = builder.build()
    nv = model.num_coordinates
    return model, model.state(q=rng.normal(size=nv), qd=rng.normal(size=nv))


CHAIN = [k - 1 for k in range(12)]
SHORT = [(k, k + 1, k + 2) for k in range(10)]


@pytest.mark.parametrize(
    ("parents", "paths"),
    [
        (CHAIN, SHORT),
        (CHAIN, [(0, 11), (2, 7, 5)]),
        (CHAIN, [(-1, 4), (-1, 1, 9), *SHORT]),
        # branches whose bodies are numbered in turns, coupled with each other, and two trees
        ([-1, 0, 0, 1, 2, 3, 4, 0], [(3, 4), (5, 6), (7, 1, 2), (0, 5)]),
        ([-1, 0, 1, -1, 3, 4], [(2, 5), (1, 2), (0, 1, 3)]),
    ],
)
def test_accelerations_follow_the_mass_matrix(parents: list[int], paths: list[tuple[int, ...]]) -> None:
    model, state = tree(parents, paths)
    force = np.random.default_rng(1).normal(size=model.num_coordinates)
    change = ph.forward_dynamics(model, state, force) - ph.forward_dynamics(model, state)
    mass = ph.mass_matrix(model, state)
    # round-off times the condition number, below 1e4
    assert np.abs(mass @ change - force).max() < 1e-10


def test_couplings_of_a_chain_grow_with_its_length() -> None:
    sizes = []
    for count in (20, 40):
        parents = [k - 1 for k in range(count)]
        model, _ = tree(parents, [(k, k + 1, k + 2) for k in range(count - 2)])
        data = model.arrays[3]
        start = int(data[layout.MUSCLE_COUPLINGS])
        begins = data[start : start + count].astype(int)
        sizes.append(int(data[begins + layout.COUPLED_COUNT].sum()))
    assert sizes[1] <= 2.2 * sizes[0]
