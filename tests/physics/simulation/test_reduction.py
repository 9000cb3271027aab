"""Hyper-reduced coordinates as a part of a model, against `HyperReduced`, fixed joints, and differences."""

import numpy as np
import pytest

import physics as ph
from physics.constraints import CouplingConstraint
from physics.constraints.reduction import NO_REDUCTION
from physics.contacts import Plane
from physics.muscles import PathPoint
from physics.optimize.gradient import make_task
from physics.optimize.steps import Motion
from tests.physics.constraints.mechanisms import pose
from tests.physics.optimize.problems import IMPLICIT, errors, of_body, of_coordinate
from tests.physics.small_models import row
from tests.physics.soft.blocks import MATERIAL, grid

CURL = {"curl": {"bone 0": 1.0, "bone 1": 1.0, "bone 2": 0.7}}
BENT = ph.joints.Polynomial((0.1, 0.5, -0.2, 0.05))
BONE = {"mass": 0.02, "inertia": 4e-6 * np.eye(3), "com": (0.02, 0, 0)}


def finger(count=3, **options):
    names = [f"bone {k}" for k in range(count)]
    return row(names, ph.joints.Hinge((0, 1, 0)), (0.04, 0, 0), **{**BONE, **options})


def pulled(**options):
    builder = finger(**options)
    places = (None, (-0.03, 0, -0.02)), ("bone 1", (0.01, 0, -0.01)), ("bone 2", (0.03, 0, -0.01))
    builder.add_muscle("flexor", [PathPoint(*place) for place in places], tension=2.0)
    return builder


def reduced(builder, directions=CURL, rest=None):
    builder.reduce(directions, rest)
    return builder.build()


# order of each method, and what it errs by in h with steps of 1 ms
METHODS = {"symplectic_euler": (1, 0.02), "rk4": (4, 1e-7), "bdf1": (1, 0.05), "sdirk2": (2, 1e-4)}
METHODS |= {"linearly_implicit_euler": (1, 0.05), "DOP853": (0, 1e-7), "event_driven": (0, 1e-9)}


@pytest.mark.parametrize("method", METHODS)
def test_it_moves_as_hyper_reduced_to_the_order_of_the_method(method):
    order, most = METHODS[method]
    model, hyper = reduced(pulled()), ph.HyperReduced(pulled().build(), np.array([[1.0, 1.0, 0.7]]).T)
    exact = hyper.simulate([0.3], [2.0], 0.1, 2e-4, record_interval=0.02).info["h"]
    start, apart = model.state({"curl": 0.3}, {"curl": 2.0}), []
    for dt in (1e-3, 5e-4):
        result = ph.simulate(model, start, 0.1, dt, method, record_interval=0.02)
        apart.append(np.abs(result.h - exact).max())
        assert result.info["constraints"]["drift_left"] < 1e-11
    assert apart[0] < most
    assert not order or np.log2(apart[0] / apart[1]) == pytest.approx(order, abs=0.15)


# RK4 of both; the projection onto a bent coupling errs as the method does
@pytest.mark.parametrize(("functions", "within"), [((), 1e-12), ([(3, BENT, 0)], 1e-9)])
def test_directions_that_mix_with_rests_and_a_function(functions, within, tmp_path):
    directions = np.array([[1.0, 0.5], [0.3, -1.0], [0.2, 0.6], [0.0, 0.1], [0.0, 0.0]])
    hyper = ph.HyperReduced(finger(5).build(), directions, [0, 0, 0.2, 0, 0.4], functions=functions)
    u, v = ({f"bone {k}": value for k, value in enumerate(column[:4])} for column in directions.T)
    u |= {"bone 3": BENT} if functions else {}
    model = reduced(finger(5), {"u": u, "v": v}, {"bone 2": 0.2, "bone 4": 0.4})
    start, expected = model.state({"u": 0.3, "v": -0.2}, {"v": 2.0}), hyper.state([0.3, -0.2], [0.0, 2.0])
    assert np.allclose([start.q, start.qd], [expected.q, expected.qd], rtol=0.0, atol=1e-15)
    tau = ph.Table([0.0, 0.05, 0.1], 1e-3 * np.random.default_rng(1).normal(size=(3, 5)))
    result = ph.simulate(model, start, 0.1, 1e-3, "rk4", tau=tau)
    other, adaptive = (
        hyper.simulate([0.3, -0.2], [0.0, 2.0], 0.1, integrator=method, tau=tau)
        for method in ("rk4", "DOP853")
    )
    assert np.abs(adaptive.q - other.q).max() < 1e-7
    assert np.abs(result.q - other.q).max() < within and np.abs(result.h - other.info["h"]).max() < within
    assert np.abs(result.hd - other.info["hd"]).max() < 100 * within
    ph.save_model(model, tmp_path / "model.json", start)
    read = ph.load_model(tmp_path / "model.json")
    assert (
        read.model == model
        and read.model.to_dict() == model.to_dict()
        and "constraints" not in model.to_dict()
    )
    ph.save_result(result, tmp_path / "result.npz")
    assert np.array_equal(ph.load_result(tmp_path / "result.npz").h, result.h)
    plain = model.altered(constraints=dict(model.constraints), reduction=NO_REDUCTION)
    ph.save_model(plain, tmp_path / "plain.json")  # couplings with more terms
    assert ph.load_model(tmp_path / "plain.json").model == plain != model


@pytest.mark.parametrize("method", ["symplectic_euler", "bdf1", "event_driven"])
def test_hard_limits_and_contacts_stop_it(method):
    limited = reduced(finger(limits=(-0.5, 0.5), limit_restitution=0.0))
    result = ph.simulate(limited, limited.state(qd={"curl": 8.0}), 0.3, 1e-3, method)
    assert 0.5 - 1e-3 < result.q[:, 0].max() < 0.5 + 1e-6
    builder = finger()
    builder.add_contact("tip", "bone 2", [(0.04, 0, 0)], Plane(), pose=pose((0, 0, -0.05)), friction=0.3)
    result = ph.simulate(touching := reduced(builder), touching.state(), 0.3, 1e-3, method)
    tip = (result.poses[:, 2] @ [0.04, 0.0, 0.0, 1.0])[:, 2] + 0.05
    assert tip.min() > -1e-6 and tip[-1] < 1e-6 and np.abs(result.hd[-1]) < 1e-6


def test_a_soft_body_on_it():
    """A bone that stands still moves like one that a joint fixes."""
    nodes, tets = grid(2, 1, 1, 0.02)
    held = {"tets": tets, "attached": dict.fromkeys(range(4), "bone 1"), "damping": (0.1, 1e-3), **MATERIAL}
    at, fixed, builder = pose((0.04, 0, 0), (0, 0.4, 0)), finger(1), finger(2)
    fixed.add_body("bone 1", "bone 0", joint=ph.joints.Fixed(), joint_in_parent=at, **BONE)
    fixed.add_soft_body("pad", nodes @ at[:3, :3].T + at[:3, 3], **held)
    builder.add_soft_body("pad", nodes + [0.04, 0, 0], **held)
    model, other = reduced(builder, {"turn": {"bone 0": 1.0}}, {"bone 1": 0.4}), fixed.build()
    starts = (model, model.state({"turn": 0.2})), (other, other.state({"bone 0": 0.2}))
    runs = [ph.simulate(*start, 0.1, 1e-3, "linearly_implicit_euler") for start in starts]
    # constraints beside soft bodies err by 1e-6 with these steps
    assert np.abs(runs[0].q[:, 0] - runs[1].q[:, 0]).max() < 1e-5 < 0.1 < np.ptp(runs[0].h)


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_gradients(integrator):
    model = reduced(pulled(stiffness=0.01, damping=1e-4))
    parameters = [*of_coordinate("bone 0.angle"), *of_coordinate("bone 2.angle"), *of_body("bone 1")]
    parameters = [each for each in parameters if each.kind != "damping"]  # differences reach below 0
    parameters.append(ph.Parameter("points", "flexor"))
    motion = Motion(model, model.state({"curl": 0.3}, {"curl": 2.0}), 0.04, 1e-3, integrator)
    wanted = ph.objectives.Reach("bone 2", (0.05, 0.0, -0.05), point=(0.04, 0.0, 0.0)) + ph.objectives.Rest()
    off = errors(make_task(motion, wanted, parameters))
    assert max(off.values()) < 1e-6 and np.median([*off.values()]) < 1e-8, off


def test_bad_input_is_told():
    for directions, rest, message in (
        ({"u": {"bone 0": BENT}}, {}, "where functions alone move, use HyperReduced"),
        ({"u": {"bone 0": 1.0}, "v": {"bone 0": 2.0}}, {}, "'v' moves no coordinate in proportion"),
        ({"u": {"bone 0": 1.0, "bone 1": BENT}}, {"bone 0": 0.1}, "the rest of bone 0.angle must be 0"),
        ({"bone 0": {"bone 1": 1.0}}, {}, "a new name for each h, got 'bone 0'"),
        ({}, {"bone 1": 1.0}, "directions are empty"),
        ({"u": {"bone 0": 1.0}}, {"bone 1": BENT}, "rest of 'bone 1.angle'"),
    ):
        with pytest.raises(ph.ModelError, match=message):
            (builder := finger()).reduce(directions, rest)
        assert not builder.build().constraints
    builder.reduce(CURL)
    with pytest.raises(ph.ModelError, match=r"named 'bone 1\.angle' already"):
        builder.add_constraint("bone 1.angle", CouplingConstraint("bone 1.angle", {"bone 0.angle": 1.0}))
    with pytest.raises(ph.ModelError, match=r"'bone 1\.angle' moves with curl"):
        builder.build().state({"bone 1.angle": 0.1})
