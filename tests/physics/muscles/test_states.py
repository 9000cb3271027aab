"""Muscles that pull by laws with states of their own: every method carries them, at its order."""

import numpy as np
import pytest

import physics as ph
from physics.muscles import Millard, PathPoint, Tension, Thelen

BAR = np.diag([0.01, 0.012, 0.002])
LAW = {"max_isometric_force": 100.0, "optimal_fibre_length": 0.12, "tendon_slack_length": 0.2}


def arm(law, mass=0.0, excitation=None, constraint=False, **options):
    """A forearm on an upper arm that stands still, with a flexor."""
    builder = ph.ModelBuilder()
    upper = builder.add_body(
        "upper", joint=ph.joints.Hinge([0, 1, 0]), mass=2.0, inertia=BAR, com=(0, 0, -0.15)
    )
    place = np.eye(4)
    place[2, 3] = -0.3
    link = {"mass": 1.0, "inertia": BAR, "com": (0, 0, -0.12), "damping": 0.1}
    builder.add_body("lower", upper, joint=ph.joints.Hinge([0, 1, 0]), joint_in_parent=place, **link)
    path = [PathPoint("upper", (0.02, 0, 0.0)), PathPoint("lower", (0.03, 0, -0.05))]
    builder.add_muscle("flexor", path, law=law, excitation=excitation, mass=mass, num_points=8, **options)
    builder.add_muscle("plain", path[::-1], tension=3.0)
    if constraint:
        weld = ph.constraints.DistanceConstraint("lower", None, (0, 0, -0.2), (0.3, 0, -0.6), length=0.4)
        builder.add_constraint("rod", weld)
    return builder.build()


LAWS = {
    "millard": Millard(**LAW),
    "millard_rigid": Millard(**LAW, rigid_tendon=True),
    "thelen": Thelen(**LAW),
}


def test_states_are_named_and_begin_at_rest():
    model = arm(LAWS["millard"], activation=0.3)
    assert model.muscle_state_names == ("flexor.activation", "flexor.fibre_length")
    state = model.state([0.1, -0.4])
    length = ph.muscle_lengths(model, state).lengths[0]
    rates = LAWS["millard"].state_rates(length, 0.0, 0.3, state.muscle_states)
    assert state.muscle_states[0] == 0.3
    assert abs(rates[1]) < 1e-9  # the fibre stands still
    given = model.state([0.1, -0.4], muscle_states={"flexor.activation": 0.6})
    assert given.muscle_states[0] == 0.6
    with pytest.raises(ph.ModelError, match="no muscle has a state"):
        model.state(muscle_states={"flexor.length": 1.0})
    assert arm(Tension(50.0)).state().muscle_states is None


@pytest.mark.parametrize("mass", [0.0, 0.5])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_the_force_is_that_of_the_law(law, mass):
    model, plain = arm(law, mass), arm(Tension(100.0), mass)
    state = model.state([0.1, -0.4], [0.5, 1.0], muscle_states={"flexor.activation": 0.4})
    lengths = ph.muscle_lengths(model, state)
    pull = law.force(lengths.lengths[0], lengths.rates[0], 0.7, state.muscle_states)
    found = ph.forward_dynamics(model, state, {"flexor.excitation": 0.7})
    still = plain.state(state.q, state.qd)
    expected = ph.forward_dynamics(plain, still, {"flexor.excitation": pull / 100.0})
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(
        ph.inverse_dynamics(model, state, found, {"flexor.excitation": 0.7}), 0.0, atol=1e-10
    )


def reference(model, state, tau, duration):
    return ph.simulate(
        model, state, duration, integrator="DOP853", tau=tau, rtol=1e-11, atol=1e-13, record_interval=duration
    )


METHODS = [
    ("rk4", 3.5),
    ("sdirk2", 1.6),
    ("bdf1", 0.8),
    ("linearly_implicit_euler", 0.8),
    ("symplectic_euler", 0.8),
]


@pytest.mark.parametrize("constraint", [False, True])
@pytest.mark.parametrize(("method", "order"), METHODS)
def test_every_method_carries_states_at_its_order(method, order, constraint):
    model = arm(LAWS["thelen"], 0.3, constraint=constraint)
    # a kink of the law would hide the order: from these starts the fibre stays where its curves are smooth
    start = [0.5, -0.8] if constraint else [0.1, -0.8]
    state = model.state(start, muscle_states={"flexor.activation": 0.2})
    if constraint:
        state = ph.assemble(model, state)
    tau, duration = model.with_inputs({"flexor.excitation": 0.6}), 0.048
    exact = reference(model, state, tau, duration)
    errors = []
    for dt in (4e-3, 2e-3):
        found = ph.simulate(model, state, duration, dt, integrator=method, tau=tau)
        errors.append(
            np.abs(found.muscle_states[-1] - exact.muscle_states[-1]).max()
            + np.abs(found.q[-1] - exact.q[-1]).max()
        )
    assert errors[1] < 1e-2
    assert np.log2(errors[0] / errors[1]) > order


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA", "RK45"])
def test_adaptive_methods_agree(method):
    model = arm(LAWS["millard"])
    state = model.state([0.1, -0.8])
    tau = model.with_inputs({"flexor.excitation": 0.6})
    exact = reference(model, state, tau, 0.05)
    found = ph.simulate(
        model, state, 0.05, integrator=method, tau=tau, record_interval=0.05, rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(found.muscle_states[-1], exact.muscle_states[-1], atol=1e-6)


def test_samples_and_stretches_do_not_change_states():
    model = arm(LAWS["millard"])
    state = model.state([0.1, -0.8])
    tau = model.with_inputs({"flexor.excitation": 0.6})
    often = ph.simulate(model, state, 0.02, 1e-3, tau=tau, integrator="rk4")
    seldom = ph.simulate(model, state, 0.02, 1e-3, tau=tau, integrator="rk4", record_interval=0.01)
    np.testing.assert_array_equal(often.muscle_states[[0, 10, 20]], seldom.muscle_states)


@pytest.mark.parametrize("mass", [0.0, 0.4])
def test_power_is_balanced(mass):
    """What the active element gives is what energies gain and dampers take."""
    law = LAWS["millard"]
    model = arm(law, mass)
    state = model.state([0.1, -0.8])
    tau = model.with_inputs({"flexor.excitation": 0.8})
    run = ph.simulate(model, state, 0.1, 1e-4, integrator="rk4", tau=tau)
    total, power = [], []
    for k in range(len(run.t)):
        lengths = ph.muscle_lengths(
            model, model.state(run.q[k], run.qd[k], muscle_states=run.muscle_states[k])
        )
        stored = law.energies(lengths.lengths[0], lengths.rates[0], 0.8, run.muscle_states[k])
        total.append(run.energy[k, 2] + stored[0] + stored[1])
        power.append(stored[2] - stored[3] - 0.1 * run.qd[k, 1] ** 2)
    gained = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(run.t) * (np.array(power)[1:] + power[:-1]))])
    change = np.array(total) - total[0]
    assert np.ptp(change) > 0.05
    np.testing.assert_allclose(change, gained, atol=2e-5 * np.ptp(change))  # the trapezoids' error


def test_what_is_not_carried_is_told():
    model = arm(LAWS["millard"])
    with pytest.raises(ph.ModelError, match=r"does not advance 'flexor\.activation'"):
        ph.simulate(model, model.state(), 0.1, integrator="event_driven")


def test_states_that_are_none_are_told():
    bare = ph.ModelBuilder()
    bare.add_body("arm", joint=ph.joints.Hinge(), mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3) * 0.01)
    with pytest.raises(ph.ModelError, match="muscle_states must have shape"):
        bare.build().state(muscle_states=np.zeros(2))
    with pytest.raises(ph.ModelError, match="there are none"):
        bare.build().state(muscle_states={"flexor.activation": 0.5})
    model = arm(LAWS["millard"])
    for name, value in (("activation", 1.5), ("activation", -0.1), ("fibre_length", 0.0)):
        with pytest.raises(ph.ModelError, match=rf"flexor\.{name} must .*got {value:g}"):
            model.state(muscle_states={f"flexor.{name}": value})
        states = model.state().muscle_states
        states = np.where([f"flexor.{name}" == known for known in model.muscle_state_names], value, states)
        with pytest.raises(ph.ModelError, match=rf"flexor\.{name} must .*got {value:g}"):
            model.state(muscle_states=states)
    held = model.state(muscle_states={"flexor.activation": 1.0}).muscle_states
    assert (
        model.state(muscle_states=held + [1e-9, 0.0]).muscle_states[0] > 1.0
    )  # as steps of time may leave it


def test_results_and_models_keep_states(tmp_path):
    model = arm(LAWS["millard"], 0.2, activation=0.2)
    ph.save_model(model, tmp_path / "model.json")
    again = ph.load_model(tmp_path / "model.json").model
    assert again == model
    result = ph.simulate(model, model.state(), 0.01, 1e-3)
    ph.save_result(result, tmp_path / "result.npz")
    np.testing.assert_array_equal(ph.load_result(tmp_path / "result.npz").muscle_states, result.muscle_states)


def hung_weight(mass: float) -> ph.Model:
    """A weight on a muscle that hangs from the world along z, of the size of soleus."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    slider = ph.joints.Slider((0, 0, 1))
    builder.add_body("weight", joint=slider, mass=mass, inertia=np.diag([0.01] * 3))
    law = Thelen(3549.0, 0.05, 0.25, pennation=0.436)
    builder.add_muscle("soleus", [PathPoint(None, (0, 0, 0)), PathPoint("weight", (0, 0, 0))], law=law)
    return builder.build()


@pytest.mark.parametrize("mass", [1.4, 20.0])
@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4"])
def test_a_hardly_active_fibre_that_is_drawn_taut_stays_bounded(integrator: str, mass: float) -> None:
    """Along rates at the step's begin it swung ever farther, to no number at last, and gave 100-fold energy."""
    model = hung_weight(mass)
    state = model.state(q=[-0.3], qd=[-5.0])
    result = ph.simulate(model, state, duration=0.5, dt=1e-3, integrator=integrator, record_interval=5e-3)
    fine = ph.simulate(model, state, duration=0.5, dt=5e-5, record_interval=5e-3)
    fibre, true = result.muscle_states[:, 1], fine.muscle_states[:, 1]
    # first order: of what the fibre does, 5 cm, a thousandth of a second is 3 mm at the weight's 5 m/s
    assert np.abs(fibre.max() - true.max()) < 3e-3 and np.abs(fibre.min() - true.min()) < 3e-3
    # the muscle's own work at 1 % activation is far less than this share
    assert result.energy[:, 2].max() < 1.01 * result.energy[0, 2]


def test_runge_kutta_keeps_its_order_where_fibres_are_not_stiff() -> None:
    """Only steps that are too long for a fibre lead it by implicit stages, which are of first order."""
    model = hung_weight(20.0)
    state = model.state(q=[-0.3], qd=[0.0], muscle_states=[0.8, 0.05])
    ends = [
        ph.simulate(model, state, duration=0.02, dt=dt, integrator="rk4").muscle_states[-1]
        for dt in (4e-4, 2e-4, 1e-4, 2.5e-5)
    ]
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes.min() > 3.5, (errors, slopes)


def test_a_lost_fibre_ends_the_run() -> None:
    """A fibre of no length pulls with a finite force still: coordinates alone do not show it."""
    model = hung_weight(1.4)
    state = model.state(q=[-0.3], qd=[-5.0])
    with pytest.raises(
        ph.DivergedError, match=r"'weight': the state 'soleus\.fibre_length' .* no longer"
    ) as told:
        ph.simulate(model, state, duration=0.5, dt=2e-3, integrator="forward_euler")
    assert np.isfinite(told.value.result.muscle_states).all()


@pytest.mark.parametrize("integrator", ["linearly_implicit_euler", "bdf1", "sdirk2"])
def test_a_slack_fibre_reaches_its_least_length_within_an_implicit_step(integrator: str) -> None:
    """There its rate leaps to 0, and no state met the step's equation: the run ended with the first such step."""
    model = hung_weight(1.4)
    state = model.state(q=[-0.30], qd=[2.0])
    result = ph.simulate(model, state, duration=0.6, dt=1e-3, integrator=integrator, record_interval=5e-3)
    fine = ph.simulate(model, state, duration=0.6, dt=5e-5, integrator="rk4", record_interval=5e-3)
    least = fine.muscle_states[:, 1].min()
    # of two stages the second one begins along the first one's slope: past it by the fibre's 0.5 m/s times a step
    assert abs(result.muscle_states[:, 1].min() - least) < 5e-4
    slack = fine.q[:, 0] > -0.26  # it falls freely; of first order at worst, 1 ms times 2 m/s, several times
    assert slack.sum() > 50 and np.abs(result.q - fine.q)[slack].max() < 2e-2
