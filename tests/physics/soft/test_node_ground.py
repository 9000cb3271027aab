"""Nodes on deformable ground."""

import numpy as np
import pytest

import physics as ph

from .blocks import MATERIAL, grid

IMPLICIT = ["linearly_implicit_euler", "bdf1", "sdirk2"]
SOFT = {"stiffness": 500.0, "dissipation": 5.0}


def dropped(ground, gravity=(0.0, 0.0, -9.81), attached=(), height=0.001, damping=1e-3):
    """A block above the plane z = 0, some of its nodes on a body that slides vertically."""
    builder = ph.ModelBuilder(gravity)
    axis = (0, 0, 1) if len(attached) else (0, 1, 0)  # across gravity, or it would fall
    builder.add_body("post", joint=ph.joints.Slider(axis), mass=0.2, inertia=np.eye(3))
    nodes, tets = grid(2, 2, 1, 0.05)
    held = dict.fromkeys(attached, "post")
    nodes = nodes + [0.0, 0.0, height]
    builder.add_soft_body(
        "block", nodes, tets=tets, damping=damping, attached=held, ground=ground, **MATERIAL
    )
    return builder.build()


@pytest.mark.parametrize("method", IMPLICIT)
@pytest.mark.parametrize("attached", [(), range(1, 18, 2), (0, 2, 4, 9)])
def test_ground_bears_the_weight(method, attached):
    """Also through nodes of a body, above the ground and on it."""
    model = dropped(SOFT, attached=attached, damping=(5.0, 1e-3))
    result = ph.simulate(model, model.state(), 3.0, 5e-3, method)
    nodes = result.soft["block"].nodes[-1]
    weight = 9.81 * (model.soft_mesh.masses.sum() + (0.2 if attached else 0.0))
    # what is left of the motion after 3 s
    assert 500.0 * -nodes[nodes[:, 2] < 0.0, 2].sum() == pytest.approx(weight, rel=1e-6)


@pytest.mark.parametrize("method", [*IMPLICIT, "rk4"])
def test_friction_slows_as_coulomb_says(method):
    """On a slope: from 0.3 s on all nodes below slide faster than `smooth_speed`."""
    model = dropped(SOFT | {"friction": 0.3}, gravity=(6.0, 0.0, -9.81), height=0.0)
    result = ph.simulate(model, model.state(), 0.8, 2e-4 if method == "rk4" else 5e-3, method)
    momentum, dt = result.soft["block"].momentum, np.diff(result.t)[0]
    a, b = round(0.4 / dt), round(0.8 / dt)
    got = (momentum[b, 3] - momentum[a, 3]) / (result.t[b] - result.t[a]) / model.soft_mesh.masses.sum()
    assert got == pytest.approx(6.0 - 0.3 * 9.81, rel=0.01)  # the block still sways
    assert np.abs(result.soft["block"].rates[-1, :, 0]).min() > 0.01


@pytest.mark.parametrize("method", IMPLICIT)
def test_friction_holds_on_a_gentle_slope(method):
    model = dropped(SOFT | {"friction": 0.5, "smooth_speed": 1e-3}, gravity=(1.0, 0.0, -9.81), height=0.0)
    rates = ph.simulate(model, model.state(), 2.0, 5e-3, method).soft["block"].rates
    # friction grows as 3 / 2 of the speed's share of `smooth_speed`
    assert rates[-1, :, 0].mean() == pytest.approx(1e-3 * 2.0 / 3.0 * 1.0 / (0.5 * 9.81), rel=0.02)


def test_ground_without_damping_keeps_energy():
    model = dropped({"stiffness": 200.0}, height=0.02, damping=0.0)
    states = model.state()
    drifts = [np.ptp(ph.simulate(model, states, 0.3, dt, "rk4").energy[:, 2]) for dt in (4e-4, 1e-4)]
    assert (
        drifts[1] < 1e-6 and drifts[1] < drifts[0] / 4.0
    )  # kinks where nodes touch and leave: at least order 1


def test_ground_is_saved():
    plane = np.eye(4)
    plane[2, 3] = -0.1
    model = dropped(SOFT | {"friction": 0.2, "plane": plane})
    again = ph.ModelBuilder.from_dict(model.to_dict()).build()
    assert again == model
    assert again.soft_bodies[0].ground.to_dict() == model.soft_bodies[0].ground.to_dict()
    assert model != dropped(SOFT)


@pytest.mark.parametrize(
    ("ground", "word"),
    [
        ({"friction": 1.0}, "stiffness"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"stiffness": 1.0, "frictoin": 1.0}, "friction"),
        ({"stiffness": 1.0, "dissipation": -1.0}, "dissipation"),
        ({"stiffness": 1.0, "plane": np.ones((4, 4))}, "plane"),
        (7.0, "ground"),
    ],
)
def test_faulty_ground_is_refused(ground, word):
    with pytest.raises(ph.ModelError, match=word):
        dropped(ground)
