"""Hyper-reduced coordinates against the same couplings as constraints."""

import numpy as np
import pytest

import physics as ph
from tests.physics.generators import random_state, random_tree
from tests.physics.small_models import alone, row

CURVE = ph.joints.CubicSpline(np.linspace(-3, 3, 9), np.cos(np.linspace(-3, 3, 9)))
SHAPES = (
    ph.joints.Linear(0.7, 0.2),
    ph.joints.Polynomial((0.1, 0.8, -0.2, 0.05)),
    CURVE,
    ph.joints.Wave(0.5, 0.1),
)


def tree(seed, count=6):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, count, ("hinge", "slider", "universal", "cylindrical", "helical"))
    return rng, model


def agrees_with_constraints(hyper, h, hd, tau):
    """The same motion from C q'' = C J' h' with C J = 0, as multipliers; and what the couplings carry."""
    model, state = hyper.model, hyper.state(h, hd)
    jacobian, bias = hyper.jacobian(h), hyper.jacobian_rate_product(h, hd)
    across = np.linalg.svd(jacobian)[0][:, len(h) :].T
    system = ph.constrained_bodies(model, state, tau, coordinate_rows=across, coordinate_right=across @ bias)
    hdd = hyper.forward_dynamics(h, hd, tau)
    qdd = hyper.accelerations(h, hd, hdd)
    assert np.abs(qdd - system.qdd).max() < 1e-10 * max(np.abs(qdd).max(), 1.0)
    carried = hyper.coupling_forces(h, hd, hdd, tau)
    multipliers = system.multipliers[len(system.multipliers) - len(across) :]
    scale = max(np.abs(tau).max(), np.abs(carried).max())
    assert np.abs(carried + across.T @ multipliers).max() < 1e-9 * scale
    assert np.abs(jacobian.T @ carried).max() < 1e-10 * scale


@pytest.mark.parametrize("seed", range(8))
def test_constant_directions(seed):
    rng, model = tree(seed)
    nv = model.num_coordinates
    hyper = ph.HyperReduced(model, rng.normal(size=(nv, 2)), 0.1 * rng.normal(size=nv))
    h, hd = 0.3 * rng.normal(size=(2, 2))
    agrees_with_constraints(hyper, h, hd, rng.normal(size=nv))


@pytest.mark.parametrize("seed", range(8))
def test_functions_of_any_shape(seed):
    rng, model = tree(seed + 50)
    names = list(model.coordinate_names)
    followers = rng.choice(len(names) - 1, size=len(names) // 2, replace=False) + 1
    couplings = {names[d]: (names[0], SHAPES[k % 4]) for k, d in enumerate(followers)}
    hyper = ph.HyperReduced.coupled(model, couplings)
    assert hyper.num_coordinates == len(names) - len(couplings)
    h, hd = 0.5 * rng.normal(size=(2, hyper.num_coordinates))
    agrees_with_constraints(hyper, h, hd, rng.normal(size=len(names)))
    step = 1e-5
    slope = (hyper.coordinates(h + step * hd) - hyper.coordinates(h - step * hd)) / (2 * step)
    assert np.allclose(slope, hyper.state(h, hd).qd, atol=1e-8)
    turn = (hyper.jacobian(h + step * hd) - hyper.jacobian(h - step * hd)) @ hd / (2 * step)
    assert np.allclose(turn, hyper.jacobian_rate_product(h, hd), atol=1e-8)


def test_all_coordinates_free_is_the_model_itself():
    rng, model = tree(99)
    state, tau = random_state(rng, model), rng.normal(size=model.num_coordinates)
    hyper = ph.HyperReduced.coupled(model, {})
    hdd = hyper.forward_dynamics(state.q, state.qd, tau)
    assert np.allclose(hdd, ph.forward_dynamics(model, state, tau), rtol=1e-9, atol=1e-9)


def test_a_new_coordinate_may_lead_and_others_stand_still():
    """A curl of three equal hinges is one pendulum-like coordinate (Wang 2022, eq. 4.84)."""
    link = {"com": (0, 0, -0.15), "inertia": 0.01 * np.eye(3)}
    names = [f"link {k}" for k in range(4)]
    model = row(names, ph.joints.Hinge((1, 0, 0)), (0, 0, -0.3), **link).build()
    same = ph.joints.Linear()
    hyper = ph.HyperReduced.coupled(
        model, {f"link {k}": ("curl", same) for k in range(3)} | {"link 3.angle": 0.4}
    )
    assert hyper.names == ("curl",)
    assert np.allclose(hyper.coordinates([0.2]), [0.2, 0.2, 0.2, 0.4])
    ones = np.array([1.0, 1.0, 1.0, 0.0])
    state = hyper.state([0.2])
    expected = -ones @ ph.inverse_dynamics(model, state) / (ones @ ph.mass_matrix(model, state) @ ones)
    assert np.allclose(hyper.forward_dynamics([0.2], [0.0]), expected)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")  # of kernels that run as plain Python
def test_a_run_stops_where_it_is_told_and_says_so_where_it_blows_up():
    _, model = tree(7, 4)
    hyper = ph.HyperReduced.coupled(model, {})
    h = np.zeros(hyper.num_coordinates)
    with pytest.raises(ph.CancelledError) as stopped:
        hyper.simulate(h, h, 100.0, progress=lambda fraction: False)
    assert 0 < len(stopped.value.result.t) < 1e5
    with pytest.raises(ph.DivergedError) as failed:
        hyper.simulate(h, np.full(len(h), 1e160), 1.0)
    assert len(failed.value.result.t) >= 1
    with pytest.raises(ph.ModelError, match="unknown hyper-reduced integrator 'bdf1'"):
        hyper.simulate(h, h, 1.0, integrator="bdf1")


def test_bad_input_is_told():
    _, model = tree(1)
    names = model.coordinate_names
    linear = ph.joints.Linear()
    for couplings, message in (
        ({"thigh": ("knee", linear)}, "no coordinate or body is named 'thigh'"),
        (
            {names[0]: (names[1], linear), names[1]: (names[2], linear)},
            "it follows another coordinate itself",
        ),
        ({names[0]: (names[1], np.sin)}, "needs a function of physics.joints"),
        ({names[0]: np.nan}, "must be finite"),
    ):
        with pytest.raises(ph.ModelError, match=message):
            ph.HyperReduced.coupled(model, couplings)
    with pytest.raises(ph.ModelError, match="directions must have shape"):
        ph.HyperReduced(model, np.zeros((2, 3)))
    with pytest.raises(ph.ModelError, match="'h1' moves nothing"):
        ph.HyperReduced(model, np.eye(model.num_coordinates, 2) * [1.0, 0.0])
    hyper = ph.HyperReduced(model, np.ones((model.num_coordinates, 1)))
    with pytest.raises(ph.ModelError, match=r"hd must have shape \(1,\), got \(2,\)"):
        hyper.forward_dynamics([0.0], [1.0, 2.0])


def test_contacts_and_hard_limits_are_refused():
    """Nothing would tell that they are not felt."""
    touching = alone("a", ph.joints.Slider((0, 0, 1)))
    touching.add_contact("floor", "a", [(0, 0, 0)], ph.contacts.Plane())
    limited = alone("a", ph.joints.Hinge((0, 1, 0)), limits=(-0.3, 0.3), limit_restitution=0.0)
    for builder, says in ((touching, "'floor': use ModelBuilder"), (limited, "hard limits")):
        hyper = ph.HyperReduced(builder.build(), np.eye(1))
        with pytest.raises(ph.ModelError, match=says):
            hyper.simulate([0.0], [0.0], 0.1)
