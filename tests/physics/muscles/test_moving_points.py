"""Points that move along their bodies with a coordinate: every road of the dynamics has their share of the force."""

import numpy as np
import pytest

import physics as ph
from physics.joints import Polynomial
from physics.muscles import Moving, PathPoint

BAR = np.diag([0.01, 0.012, 0.002])


def knee(limits=None):
    """Two links; the muscle's insertion slides along the second one as the second hinge turns."""
    builder = ph.ModelBuilder()
    builder.add_body("upper", joint=ph.joints.Hinge([0, 1, 0]), mass=2.0, inertia=BAR, com=(0, 0, -0.15))
    place = np.eye(4)
    place[2, 3] = -0.3
    hinge = ph.joints.Hinge([0, 1, 0])
    inertial = {"mass": 1.0, "inertia": BAR, "com": (0, 0, -0.12)}
    builder.add_body("lower", "upper", joint=hinge, joint_in_parent=place, limits=limits, **inertial)
    slide = Moving("lower.angle", Polynomial([-0.05, 0.03, 0.02]))
    builder.add_muscle(
        "extensor",
        [PathPoint("upper", (0.03, 0.0, -0.1)), PathPoint("lower", (0.04, 0.0, slide))],
        tension=50.0,
    )
    return builder.build()


@pytest.mark.parametrize("limits", [None, (-2.0, 2.0)])
def test_implicit_methods_go_where_explicit_ones_go(limits):
    model = knee(limits)
    state = model.state([0.2, -0.5])
    ends = [ph.simulate(model, state, 0.1, 5e-4, name).q[-1] for name in ("sdirk2", "rk4")]
    # the difference is SDIRK2's, of second order
    assert np.abs(ends[0] - ends[1]).max() < 1e-4 and np.abs(ends[1] - state.q).max() > 0.1


def test_derivatives_do_not_depend_on_what_was_asked_before():
    model = knee()
    state = model.state([0.2, -0.5], [0.3, 0.4])
    acceleration = ph.forward_dynamics(model, state)
    step = 1e-5
    slopes = [
        (
            ph.inverse_dynamics(model, model.state(state.q + step * e, state.qd), acceleration)
            - ph.inverse_dynamics(model, model.state(state.q - step * e, state.qd), acceleration)
        )
        / (2.0 * step)
        for e in np.eye(2)
    ]
    found = ph.inverse_dynamics_derivatives(model, state, acceleration).dq
    assert np.allclose(found, np.transpose(slopes), atol=1e-5)
