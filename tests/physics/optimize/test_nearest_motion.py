"""The motion nearest to a given one within budgets of torque: one that they allow comes back, and one that they do not
is missed by less than by what is commonly done instead.
"""

import numpy as np
import pytest

import physics as ph
from physics.optimize.nearest_motion import EFFORT

FRAME, STEPS = 1 / 24, 4
DT = FRAME / STEPS


def arm(count=3):
    """Links of 0.3 m on hinges about y and x in turn."""
    builder = ph.ModelBuilder()
    for k in range(count):
        place = np.eye(4)
        place[2, 3] = -0.3 if k else 0.0
        builder.add_body(
            f"link{k}",
            f"link{k - 1}" if k else None,
            joint=ph.joints.Hinge((0, 1, 0) if k % 2 == 0 else (1, 0, 0)),
            joint_in_parent=place,
            mass=1.0 / (k + 1),
            com=(0, 0, -0.15),
            inertia=np.diag([0.01, 0.01, 0.002]),
            damping=0.05,
        )
    return builder.build()


def waving(model, frames):
    """Times and coordinates of a wave of a few hertz."""
    times = FRAME * np.arange(frames)
    return times, 0.4 * np.sin(np.outer(times, (5.0, 7.0, 9.0)) + (0.0, 1.0, 2.0))


def inputs(times):
    """Knots at every second time, without torques."""
    return ph.Table(times[::2], np.zeros((len(times[::2]), 3)))


def size(model, q):
    """Mean size of the model by the search's own measure: all coordinates a radian off."""
    mass = sum(body.mass for body in model.bodies)
    traces = [np.trace(ph.mass_matrix(model, model.state(q=row))) / mass for row in q]
    return np.sqrt(np.mean(traces))


def rms(model, found, q):
    """The distance that a search makes small: of rows (T, nv) from others, to first order."""
    mass = sum(body.mass for body in model.bodies)
    squared = [d @ ph.mass_matrix(model, model.state(q=row)) @ d / mass for d, row in zip(found - q, q)]
    return np.sqrt(np.mean(squared[1:]))


def test_a_motion_that_torques_allow_comes_back_and_is_what_its_torques_do():
    model, knots = arm(), FRAME * np.arange(0, 14, 2)
    torques = np.random.default_rng(3).normal(size=(len(knots), 3)) * (1.0, 0.3, 0.05)
    start = model.state(q=(0.3, 0.2, -0.4))
    made = ph.simulate(model, start, knots[-1], DT, "sdirk2", tau=ph.Table(knots, torques)).every(STEPS)
    most = dict.fromkeys(model.coordinate_names, 4.0)
    told = []
    found = ph.nearest_motion(
        model,
        made.t,
        made.q,
        DT,
        inputs=inputs(made.t),
        budgets=most,
        state=start,
        progress=lambda *each: told.append(each),
    )
    # these torques are no farther off than the weight of their efforts, each at most that of the budget
    assert found.distance < np.sqrt(EFFORT) * 0.01 * size(model, made.q)
    assert found.saturated == () and len(told) == found.gradients and told[-1][1] <= 1.0
    again = ph.simulate(model, found.state, knots[-1], DT, "sdirk2", tau=found.inputs)
    assert np.array_equal(again.q, found.result.q)
    assert found.apart.shape == (13, 3) and found.apart[0].max() < 1e-12


@pytest.mark.parametrize("frames", [13, 43])
def test_torques_end_at_half_their_need_and_miss_less_than_others_do(frames):
    model = arm()
    times, q = waving(model, frames)
    needed = ph.inverse_dynamics_of_samples(model, times, q, cutoff=6.0)
    budget = 0.5 * np.abs(needed.tau).max(axis=0)
    most = dict(zip(model.coordinate_names, budget))
    found = ph.nearest_motion(model, times, q, DT, inputs=inputs(times), budgets=most)
    largest = np.abs(found.inputs.values).max(axis=0)
    assert (
        set(found.saturated) >= {"link0.angle"} and (largest <= budget * (1 + 1e-7)).all()
    )  # single precision
    assert largest[0] == found.budgets["link0.angle"]
    own = rms(model, found.result.q[::STEPS], q)

    def followed(stiffness):
        """Torques of the motion, with springs to it if any, cut off at the budget."""

        def torques(t, q, qd):
            wanted, rate, torque = (
                np.array([np.interp(t, times, column) for column in rows.T])
                for rows in (needed.q, needed.qd, needed.tau)
            )
            pull = stiffness**2 * (wanted - q) + 2.0 * stiffness * (rate - qd)
            return np.clip(torque + ph.mass_matrix(model, model.state(q=wanted)) @ pull, -budget, budget)

        return ph.simulate(model, found.state, times[-1], DT, "sdirk2", tau=torques).every(STEPS).q

    assert all(own < rms(model, followed(stiffness), q) for stiffness in (0.0, 5.0, 10.0, 20.0))


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("strength", 0.0, "strength"),
        ("budgets", {"link9.angle": 1.0}, "link9"),
        ("budgets", {"link0.angle": -1.0}, "link0"),
        ("torques", ["link9.angle"], "link9"),
        ("followed", [], "followed"),
        ("inputs", ph.Table([0.0, 0.1], np.zeros((2, 3))), "0.1"),
        ("inputs", None, "inputs"),
    ],
)
def test_bad_arguments_are_named(name, value, told):
    model = arm()
    times, q = waving(model, 7)
    with pytest.raises(ph.ModelError, match=told):
        ph.nearest_motion(model, times, q, DT, **({"inputs": inputs(times)} | {name: value}))
