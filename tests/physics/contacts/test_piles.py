"""Piles of convex bodies: large islands in which contacts slip, barely slip and wedge bodies between others."""

import numpy as np
import pytest

import physics as ph
from physics.contacts import Convex, Plane

from .shapes import free_builder

SIZE, STEP = 0.1, 1e-3


def pile(count: int, side: int) -> tuple[ph.Model, ph.State]:
    """Convex bodies of 14 corners in layers of side x side, apart and turned at random, above a floor."""
    rng = np.random.default_rng(0)
    builder = free_builder(count, 1.0, 0.004 * np.eye(3))
    builder.add_collider("floor", None, Plane(), friction=0.5)
    q = np.zeros((count, 6))
    for k in range(count):
        corners = rng.normal(size=(14, 3))
        corners *= SIZE * rng.uniform(0.7, 1.0, 3) / np.linalg.norm(corners, axis=1)[:, None]
        builder.add_collider(str(k), str(k), Convex(corners), friction=0.5)
        place = np.array([k % side, k // side % side, k // side**2 + 0.55])
        q[k] = [*(2.1 * SIZE * place + [*rng.uniform(-0.003, 0.003, 2), 0.0]), *(0.5 * rng.normal(size=3))]
    model = builder.build()
    return model, model.state(q=q.ravel())


# near: known limit of islands with 240 rows or more; which path a pile takes depends on round-off
@pytest.mark.parametrize(
    ("count", "side", "near"), [(20, 2, 1e-8), pytest.param(100, 4, 1e-5, marks=pytest.mark.slow)]
)
def test_convex_bodies_fall_into_a_pile(count: int, side: int, near: float) -> None:
    model, state = pile(count, side)
    result = ph.simulate(model, state, 1.0, STEP)
    found = result.info["constraints"]
    assert found["most_rows"] > 5 * count
    assert found["residual"] < near
    # a corner that turns by w goes r (w dt)^2 / 2 beyond its tangent in a step: at 40 rad/s almost 0.1 mm
    assert found["overlap"] < 0.01 * SIZE
    energy = result.energy[:, 2]
    assert energy[-1] < 0.3 * energy[0]
    # symplectic steps add m (g h)^2 / 2 each while a body falls
    assert np.diff(energy).max() < count * (9.81 * STEP) ** 2
