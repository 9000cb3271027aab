"""Excitations as what `simulate` takes: constants, tables, functions of time, controllers."""

import numpy as np
import pytest

import physics as ph
from physics.muscles import Keyframes, PathPoint, Proportional, Tension


@pytest.fixture
def model():
    builder = ph.ModelBuilder()
    builder.add_input("flexor.excitation", 0.1)
    builder.add_input("other", 0.2)
    builder.add_body("arm", joint=ph.joints.Hinge(), mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3) * 0.01)
    return builder.build()


def test_numbers_are_constant(model):
    assert ph.excite(model, {"flexor": 0.7, "other": 0.3}, [5.0]).tolist() == [5.0, 0.7, 0.3]
    assert ph.excite(model, {}).tolist() == [0.0, 0.1, 0.2]


@pytest.mark.parametrize("value", ["much", None, np.nan, [0.1, 0.2]])
def test_what_is_no_number_at_some_time_is_told(model, value):
    for signal in (lambda t: value, lambda t, q, qd: value):
        with pytest.raises(ph.ModelError, match=r"flexor\.excitation at t = 0 s must"):
            ph.simulate(model, model.state(), 0.01, 1e-3, tau=ph.excite(model, {"flexor": signal}))
    led = Proportional("arm.angle", gain=1.0, target=lambda t: value)
    with pytest.raises(ph.ModelError, match=r"target of a controller of 'arm\.angle' at t = 0 s must"):
        ph.simulate(model, model.state(), 0.01, 1e-3, tau=ph.excite(model, {"flexor": led}))


def test_keyframes_make_a_table(model):
    signals = {"flexor": Keyframes([0.0, 1.0], [0.0, 1.0]), "other": Keyframes([0.5, 2.0], [0.4, 1.0])}
    table = ph.excite(model, signals)
    assert table.times.tolist() == [0.0, 0.5, 1.0, 2.0]
    assert np.allclose(table.values[:, 1:], [[0.0, 0.4], [0.5, 0.4], [1.0, 0.6], [1.0, 1.0]])


def test_functions_of_time(model):
    tau = ph.excite(model, {"flexor": lambda t: 0.5 * t, "other": Keyframes([0.0, 2.0], [0.0, 1.0])})
    assert np.allclose(tau(1.0), [0.0, 0.5, 0.5])
    assert ph.simulate(model, model.state(), 0.01, 1e-3, tau=tau).t[-1] == 0.01


def test_controllers_of_the_state(model):
    hold = Proportional("arm.angle", gain=-2.0, target=0.3, damping=0.1, rest=0.05)
    tau = ph.excite(model, {"flexor": hold, "other": lambda t, q, qd: q[0] + t}, {"arm.angle": 1.0})
    q, qd = np.array([0.5]), np.array([-1.0])
    assert np.allclose(tau(0.25, q, qd), [1.0, 0.05 - 2.0 * (0.3 - 0.5) + 0.1, 0.75])
    assert tau(0.0, np.array([5.0]), qd)[1] == 1.0 and tau(0.0, np.array([-5.0]), qd)[1] == 0.0
    led = Proportional("arm.angle", gain=1.0, target=Keyframes([0.0, 1.0], [0.0, 1.0]))
    assert ph.excite(model, {"flexor": led})(0.5, np.zeros(1), np.zeros(1))[1] == 0.5
    assert ph.simulate(model, model.state(), 0.01, 1e-3, tau=tau).t[-1] == 0.01


@pytest.mark.parametrize(
    ("signals", "told"),
    [
        ({"extensor": 0.1}, "no muscle and no input is named 'extensor'"),
        ({"flexor": "much"}, "must be numbers"),
        ({"flexor": lambda t, q: 0.0}, "function of"),
        ({"flexor": Proportional("leg.angle", 1.0)}, "no coordinate is named"),
        (0.5, "signals must be"),
    ],
)
def test_bad_signals(model, signals, told):
    with pytest.raises(ph.ModelError, match=told):
        ph.excite(model, signals)


def test_bad_values():
    for bad in (([1.0, 0.0], [0.0, 1.0]), ([0.0, 1.0], [0.0]), ([0.0], [np.nan])):
        with pytest.raises(ph.ModelError):
            Keyframes(*bad)
    with pytest.raises(ph.ModelError):
        Proportional("arm.angle", gain=np.inf)


def test_a_muscle_is_excited_by_the_input_that_it_follows():
    builder = ph.ModelBuilder()
    builder.add_input("drive", 0.0)
    builder.add_body("arm", joint=ph.joints.Hinge(), mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3) * 0.01)
    path = [PathPoint(None, (0.0, 0.1, 0.0)), PathPoint("arm", (0.1, 0.0, 0.0))]
    builder.add_muscle("led", path, law=Tension(10.0), excitation="drive")
    builder.add_muscle("fixed", path, law=Tension(10.0), excitation=0.5)
    model = builder.build()
    assert ph.excite(model, {"led": 0.4}).tolist() == [0.0, 0.4]
    with pytest.raises(ph.ModelError, match=r"muscle 'fixed' follows no input: .* 0\.5"):
        ph.excite(model, {"fixed": 0.4})


def test_a_tension_pulls_with_no_more_than_its_force():
    builder = ph.ModelBuilder()
    builder.add_body("arm", joint=ph.joints.Hinge(), mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3) * 0.01)
    path = [PathPoint(None, (0.0, 0.1, 0.0)), PathPoint("arm", (0.1, 0.0, 0.0))]
    with pytest.raises(ph.ModelError, match="the excitation of muscle 'fixed' is 2"):
        builder.add_muscle("fixed", path, law=Tension(10.0), excitation=2.0)
    builder.add_muscle("led", path, law=Tension(10.0))
    model = builder.build()
    told = r"tau.*: input 'led.excitation' of muscle 'led' is 1.5"
    for signal in (1.5, Keyframes([0.0, 1.0], [0.0, 1.5]), lambda t: 1.5, lambda t, q, qd: 1.5):
        with pytest.raises(ph.ModelError, match=told):
            ph.simulate(model, model.state(), 0.01, 1e-3, tau=ph.excite(model, {"led": signal}))
    assert ph.simulate(model, model.state(), 0.01, 1e-3, tau=ph.excite(model, {"led": 1.0})).t[-1] == 0.01


def test_controllers_are_described_and_go_beside_a_table() -> None:
    controller = Proportional(
        "Body.angle", 2.0, target=Keyframes([0.0, 1.0], [0.0, 0.5]), damping=0.1, rest=0.05
    )
    again = Proportional.from_dict(controller.to_dict())
    assert again.to_dict() == controller.to_dict() and again.target(0.5) == 0.25
    with pytest.raises(ph.ModelError, match="function cannot be written"):
        Proportional("Body.angle", 2.0, target=np.sin).to_dict()
    with pytest.raises(ph.FormatError, match="'coordinate'"):
        Proportional.from_dict({"gain": 1.0})
