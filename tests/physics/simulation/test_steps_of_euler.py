"""One step of each of Euler's methods against its formula."""

from typing import Any

import numpy as np
import pytest

import physics as ph
from tests.physics.constraints.mechanisms import pose

STEP = 1e-2


def sprung_chain(stiffness: float = 30.0, damping: float = 0.4) -> tuple[Any, Any]:
    """Hinges about skew axes with springs and dampers in the joints, whose inertial forces depend on both states."""
    rng = np.random.default_rng(3)
    builder, parent = ph.ModelBuilder(), None
    for k in range(4):
        link = {
            "joint_in_parent": pose(0.2 * rng.normal(size=3)),
            "joint": ph.joints.Hinge(rng.normal(size=3)),
        }
        link |= {"mass": 1.0, "com": 0.1 * rng.normal(size=3), "inertia": 0.02 * np.eye(3)}
        parent = builder.add_body(f"link {k}", parent, **link, stiffness=stiffness, damping=damping)
    model = builder.build()
    return model, model.state(q=rng.normal(size=4), qd=2.0 * rng.normal(size=4))


def step(model: Any, state: Any, integrator: str) -> tuple[Any, Any]:
    result = ph.simulate(model, state, STEP, STEP, integrator)
    return result.q[-1], result.qd[-1]


@pytest.mark.filterwarnings("ignore:big-turn")
def test_the_textbook_one_takes_forces_at_the_velocities_as_they_are() -> None:
    model, state = sprung_chain()
    for _ in range(3):  # the other one predicts from its second step on
        qd = state.qd + STEP * ph.forward_dynamics(model, state)
        wanted = model.state(q=state.q + STEP * qd, qd=qd)
        q, found = step(model, state, "textbook_symplectic_euler")
        # round-off
        assert np.abs(q - wanted.q).max() < 1e-13 and np.abs(found - qd).max() < 1e-12
        state = wanted
    model, state = sprung_chain()
    whole = {
        name: ph.simulate(model, state, 3 * STEP, STEP, name)
        for name in ("textbook_symplectic_euler", "symplectic_euler")
    }
    first, other = (run.qd for run in whole.values())
    assert (first[1] == other[1]).all() and np.abs(first[3] - other[3]).max() > 1e-4
    assert np.abs(first[3] - found).max() < 1e-12


def test_only_springs_and_dampers_are_implicit() -> None:
    """(M + h D + h^2 K) (q'_new - q') = h (f - h K q') with the joints' K and D alone (Wang 2022, eqs. 4.80, 4.81)."""
    stiffness, damping = 30.0, 0.4
    model, state = sprung_chain(stiffness, damping)
    mass, eye = ph.mass_matrix(model, state), np.eye(4)
    force = mass @ ph.forward_dynamics(model, state)
    matrix = mass + STEP * damping * eye + STEP**2 * stiffness * eye
    qd = state.qd + STEP * np.linalg.solve(matrix, force - STEP * stiffness * state.qd)
    q, found = step(model, state, "spring_implicit_euler")
    assert np.abs(found - qd).max() < 1e-12 and np.abs(q - state.q - STEP * qd).max() < 1e-13  # round-off
    _, whole = step(model, state, "linearly_implicit_euler")
    assert np.abs(whole - qd).max() > 1e-4


def test_springs_between_points_are_implicit_as_they_stretch() -> None:
    """A stiff spring along the line of a slider: K is its stiffness, whatever the step."""
    builder = ph.ModelBuilder()
    body = builder.add_body("mass", joint=ph.joints.Slider((1, 0, 0)), mass=2.0, inertia=np.eye(3))
    builder.add_spring(
        "spring", body, (0, 0, 0), None, (-1.0, 0, 0), stiffness=1e6, damping=10.0, rest_length=1.0
    )
    model = builder.build()
    _, qd = step(model, model.state(q=[0.01], qd=[0.3]), "spring_implicit_euler")
    wanted = 0.3 + STEP * (-1e6 * 0.01 - 10.0 * 0.3 - STEP * 1e6 * 0.3) / (2.0 + STEP * 10.0 + STEP**2 * 1e6)
    assert qd[0] == pytest.approx(wanted, rel=1e-12)
