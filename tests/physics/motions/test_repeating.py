"""Live runs that are led: what ends as it began goes round and round, and controllers excite muscles."""

from dataclasses import replace

import numpy as np
import pytest

import physics as ph
from physics.errors import ModelError
from physics.motions.excitation import Keyframes, Proportional
from physics.motions.pull import Pull, Pulls
from physics.motions.repeating import Repeating
from physics.muscles import PathPoint, Tension
from tests.physics.simulation.test_live import legs, run


def wave(times):
    return 0.4 * np.sin(2.0 * np.pi * times)


def led(integrator="rk4", windows=None, turns=0.0, rounds=3):
    """The thigh on a motion of half a second that goes round, and on one that was given for all of the time."""
    model, times, whole = legs(), np.linspace(0.0, 0.5, 13), np.arange(12 * rounds + 25) / 24.0

    def motion(at, windows):
        return ph.Motion(at, wave(2.0 * at) + turns * at, windows=windows)

    asked = Repeating(0.0, 0.5, motions=["thigh"])
    options = asked.applied(model, {"motions": {"thigh": motion(times, windows)}})
    laid = None
    if windows is not None:
        laid = [(a + 0.5 * k, min(b, 0.5) + 0.5 * k) for k in range(rounds) for a, b in windows]
    seconds = 0.5 * rounds - 0.1
    live, _ = run(model, [], seconds, integrator=integrator, record_interval=1.0 / 24.0, **options)
    given = {"thigh": motion(whole, laid)}
    return live, ph.simulate(
        model,
        model.state(q=[0.3, -0.5]),
        0.5 * rounds,
        1e-3,
        integrator,
        motions=given,
        record_interval=1.0 / 24.0,
    )


@pytest.mark.parametrize("turns", [0.0, 4.0 * np.pi])
@pytest.mark.parametrize("windows", [None, [(0.0, 0.1), (0.3, 1.5)]])
def test_a_motion_goes_round(windows, turns):
    """As one whose times go on, and with the whole turns that it makes in a period."""
    live, whole = led(windows=windows, turns=turns)
    count = int(np.searchsorted(live.t, 1.3))
    # splines that end elsewhere differ near their ends alone: by a factor of 0.27 less from key to key, of which there
    # are 30 behind what is compared; between windows the foot's strokes on the ground show every last digit
    np.testing.assert_allclose(live.q[:count, 0], whole.q[:count, 0], atol=1e-9 if windows is None else 1e-3)


def test_a_periodic_motion_goes_round_from_its_first_cycle_on():
    """As given once, with the slope of its seam at the very beginning."""
    times = np.linspace(0.0, 0.5, 7)
    motion = ph.Motion(times, wave(2.0 * times), interpolation="periodic")
    model = legs()
    laid = Repeating(0.0, 0.5, motions=["thigh"]).applied(model, {"motions": {"thigh": motion}})["motions"]
    once, again = (
        ph.simulate(model, model.state(q=[0.0, -0.5]), 0.5, motions={"thigh": each}, record_interval=0.05)
        for each in (motion, laid["thigh"])
    )
    np.testing.assert_allclose(again.q[:, 0], once.q[:, 0], atol=1e-9)
    np.testing.assert_allclose(again.qd[:, 0], once.qd[:, 0], atol=1e-8)


def test_a_motion_beyond_its_period_is_refused():
    times = np.linspace(0.0, 1.0, 13)
    motion = ph.Motion(times, wave(times), windows=[(0.1, 0.3)])
    with pytest.raises(ModelError, match=r"exceeds the period of 0\.5 s"):
        Repeating(0.0, 0.5, motions=["thigh"]).applied(legs(), {"motions": {"thigh": motion}})


@pytest.mark.parametrize("fps", [24, 25, 30, 60])
def test_a_leap_at_the_end_of_a_period_stays_one(fps):
    """Keys that are stepped back at the last frame, whatever round-off does to its time."""
    for count in (7, 20, 35, 48, 60, 85, 100, 120):  # more and shorter periods only take longer
        times = np.arange(count + 1) / fps
        values = np.where((times > times[0]) & (times < times[-1]), 1.0, 0.0)
        motion = ph.Motion(times, values, leaps=[times[1], times[-1]])
        asked = Repeating(0.0, times[-1], motions=["thigh"])
        laid = asked.applied(legs(), {"motions": {"thigh": motion}})["motions"]["thigh"]
        assert len(laid.leaps) == 2 * int(np.ceil(600.0 / times[-1])) - 1
        pieces = laid.pieces(0, 0.0, 0.0, 0.0)
        within = (pieces[:, 0] > 0.0) & (pieces[:, 0] < 5.0)
        assert np.abs(pieces[within, 2] * (1.0 - pieces[within, 2])).max() < 1e-9  # 0 or 1 at all times


@pytest.mark.parametrize("fps", [24, 30])
def test_what_ends_elsewhere_starts_over(fps):
    """It is at its end up to the end of each period, and back within the time that is said, as in the first one."""
    times = np.arange(2 * fps // 2 + 1) / (2.0 * fps)
    values = np.where(times > 0.25, times - 0.1, times) + 0.2
    motion = ph.Motion(times, values, leaps=[times[times > 0.25][0]])
    pull = Pull(times, values[:, None], np.full(len(times), 0.5))
    asked = Repeating(0.0, 0.5, ["thigh"], ["thigh"], anew={"thigh": 1.0 / fps})
    laid = asked.applied(legs(), {"motions": {"thigh": motion}, "pulls": {"thigh": pull}})
    for found in (laid["motions"]["thigh"], laid["pulls"]["thigh"]):
        at = np.array([0.1, 0.5, 0.5 + 1.0 / fps, 0.6, 1.0, 100.5, 100.6])
        wanted = [0.3, 0.6, 0.2 + 1.0 / fps, 0.3, 0.6, 0.6, 0.3]
        np.testing.assert_allclose(np.interp(at, found.times, found.values[:, 0]), wanted, atol=1e-9)
    pieces = laid["motions"]["thigh"].pieces(0, 0.0, 0.0, 0.0)
    rest = (pieces[:, 0] % 0.5 > 1.0 / fps + 1e-6) & (pieces[:, 0] < 20.0)
    assert len(laid["motions"]["thigh"].leaps) == 2 * 1200 - 1
    np.testing.assert_allclose(np.abs(pieces[rest, 3]).max(), 1.0, atol=1e-6)
    with pytest.raises(ModelError, match="values at both ends of the period"):
        replace(asked, period=0.7, motions=()).applied(legs(), {"pulls": {"thigh": pull}})


def test_windows_are_cut_at_both_ends_and_what_lies_within_stays_as_it_is():
    times = np.array([0.2, 0.35, 0.5, 0.65, 0.8])
    motion = ph.Motion(times, [0.0, 0.7, 1.0, 0.8, 0.5], windows=[(0.2, 0.8)])
    asked = Repeating(0.0, 1.0, motions=["thigh"])
    laid = asked.applied(legs(), {"motions": {"thigh": motion}})["motions"]["thigh"]
    own, now = motion.pieces(0, 0.0, 0.0, 0.0), laid.pieces(0, 0.0, 0.0, 0.0)
    for start in (0.2, 0.5, 0.65):
        row, same = (rows[np.argmin(np.abs(rows[:, 0] - start))] for rows in (own, now))
        np.testing.assert_allclose(same[:8], row[:8], atol=1e-9)
    early = ph.Motion([0.0, 0.5, 1.0], [0.0, 1.0, 0.0], windows=[(-1.0, 0.2)])
    laid = asked.applied(legs(), {"motions": {"thigh": early}})["motions"]["thigh"]
    assert [laid.holds_at(t) for t in (0.1, 0.5, 1.1, 1.5)] == [True, False, True, False]


def drawn(times, turns=0.0, weight=0.5):
    return Pull(times, (wave(2.0 * times) + turns * times)[:, None], np.full(len(times), weight))


@pytest.mark.parametrize("turns", [0.0, 4.0 * np.pi])
def test_a_pull_goes_round(turns):
    """As one whose times go on; a torque that is turned meanwhile acts beside it."""
    model, times, whole = legs(), np.linspace(0.0, 0.5, 13), np.arange(60) / 24.0
    options = Repeating(0.0, 0.5, pulls=["thigh"]).applied(model, {"pulls": {"thigh": drawn(times, turns)}})
    said = [(0.0, {"inputs": {"shank.angle": 0.3}})]
    live, _ = run(model, said, 1.4, integrator="symplectic_euler", record_interval=1.0 / 24.0, **options)
    state = model.state(q=[0.3, -0.5])
    torque = model.with_inputs({"shank.angle": 0.3})
    pulls = Pulls(model, {"thigh": drawn(whole, turns)}, torque, 1e-3)
    given = ph.simulate(model, state, 1.5, 1e-3, "symplectic_euler", tau=pulls, record_interval=1.0 / 24.0)
    count = int(np.searchsorted(live.t, 1.3))
    assert count > 30 and np.ptp(live.q[:count, 0]) > 0.5
    # the foot's strokes on the ground bring out every last digit: by three more a period, one that stops by 0.4 rad
    np.testing.assert_allclose(live.q[:8], given.q[:8], atol=1e-9)
    np.testing.assert_allclose(live.q[:count, 0], given.q[:count, 0], atol=0.01)


def test_a_pull_beyond_its_period_is_refused():
    with pytest.raises(ModelError, match=r"pull of 'thigh', from 0 s to 1 s, exceeds the period of 0\.5 s"):
        Repeating(0.0, 0.5, pulls=["thigh"]).applied(
            legs(), {"pulls": {"thigh": drawn(np.linspace(0.0, 1.0, 13))}}
        )


def test_columns_of_a_table_and_targets_go_round_or_on_and_others_stay():
    model, times = legs(), np.linspace(0.0, 0.5, 6)
    rows = np.stack([np.sin(4.0 * np.pi * times), 10.0 * times], axis=1)
    made = Repeating(0.0, 0.5, inputs=["thigh.angle"]).applied(model, {"tau": ph.Table(times, rows)})["tau"]
    np.testing.assert_allclose(np.interp(0.6, made.times, made.values[:, 0]), rows[1, 0], atol=1e-12)
    np.testing.assert_allclose(np.interp([0.6, 1.3], made.times, made.values[:, 1]), 5.0)
    asked = Repeating(0.0, 0.5, inputs=["thigh.angle", "shank.angle"], onward=["shank.angle"])
    made = asked.applied(model, {"tau": ph.Table(times, rows)})["tau"]
    np.testing.assert_allclose(np.interp(0.6, made.times, made.values[:, 0]), rows[1, 0], atol=1e-12)
    np.testing.assert_allclose(np.interp([0.6, 1.3], made.times, made.values[:, 1]), [6.0, 13.0])
    controller = Proportional("thigh.angle", 1.0, target=Keyframes(times, rows[:, 0]))
    made = Repeating(0.0, 0.5, controllers=["calf"]).applied(model, {"controllers": {"calf": controller}})
    assert made["controllers"]["calf"].target(0.6) == pytest.approx(rows[1, 0])


@pytest.mark.parametrize(
    ("asked", "options", "said"),
    [
        ({"period": 0.0}, {}, "period"),
        ({"motions": ["arm"]}, {}, "no motion is named 'arm'"),
        ({"pulls": ["arm"]}, {}, "no pull is named 'arm'"),
        ({"motions": ["thigh"]}, {"motions": {"thigh": ph.Motion([0, 1], [0, 1], kind="velocity")}}, "velocity"),
        (
            {"motions": ["thigh"]},
            {"motions": {"thigh": ph.Motion([0.2, 0.8], [0, 1])}},
            "from 0.2 s to 0.8 s, does not repeat",
        ),
        ({"inputs": ["thigh.angle"]}, {"tau": [0.0, 0.0]}, "Table"),
        ({"inputs": ["arm"]}, {"tau": ph.Table([0.0, 1.0], np.zeros((2, 2)))}, "no column of a table"),
        ({"inputs": ["thigh.angle"]}, {"tau": ph.Table([0.0, 2.0], np.zeros((2, 2)))}, "does not repeat"),
    ],
)  # fmt: skip
def test_what_cannot_go_round_is_named(asked, options, said):
    with pytest.raises(ModelError, match=said):
        Repeating(**{"start": 0.0, "period": 1.0, **asked}).applied(legs(), options)


def pulled():
    """A rod that hangs from a hinge, and a muscle that turns it."""
    builder = ph.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body(
        "rod", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, com=(0, 0, -0.2), inertia=0.02 * np.eye(3)
    )
    path = [PathPoint(None, (0.1, 0.0, 0.0)), PathPoint("rod", (0.03, 0.0, -0.3))]
    builder.add_muscle("calf", path, law=Tension(40.0))
    return builder.build()


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4"])
def test_a_controller_excites_as_in_a_simulation_until_its_input_is_turned(integrator):
    model = pulled()
    controllers = {
        "calf": Proportional("rod.angle", -2.0, target=Keyframes([0.0, 0.5], [0.1, -0.4]), rest=0.2)
    }
    options = {"integrator": integrator, "record_interval": 1.0 / 24.0}
    start = model.state(q=[0.3])
    live, _ = run(model, [], 0.6, state=start, controllers=controllers, **options)
    whole = ph.simulate(model, start, 1.0, 1e-3, tau=ph.excite(model, controllers), **options)
    assert live.q.tobytes() == whole.q[: len(live.q)].tobytes()
    idle = ph.simulate(model, start, 1.0, 1e-3, **options)
    assert np.abs(idle.q[12] - whole.q[12]).max() > 0.05
    turned, _ = run(
        model,
        [(0.2, {"inputs": {"calf.excitation": 1.0}}), (0.3, {"inputs": {"calf.excitation": None}})],
        0.6,
        state=start,
        controllers=controllers,
        **options,
    )
    assert turned.q[4].tobytes() == whole.q[4].tobytes() and np.abs(turned.q[9] - whole.q[9]).max() > 1e-3


def test_a_pull_of_a_ball_goes_round_and_round():
    """By a turn in each cycle: what is meant by any number of turns is the nearest of them."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("ball", joint=ph.joints.Spherical(), mass=1.0, inertia=0.1 * np.eye(3))
    model, times = builder.build(), np.linspace(0.0, 1.0, 25)
    values = np.zeros((25, 3))
    values[:, 2] = 2.0 * np.pi * times - 0.99 * np.pi
    pull = {"ball": Pull(times, values, np.full(25, 0.9))}
    laid = Repeating(0.0, 1.0, pulls=["ball"]).applied(model, {"pulls": pull})["pulls"]
    start = model.state(q=values[0], qd=[0.0, 0.0, 2.0 * np.pi])
    result = ph.simulate(model, start, 6.0, tau=Pulls(model, laid, None, 1e-3), record_interval=0.1)
    wanted = np.zeros((len(result.t), 3))
    wanted[:, 2] = 2.0 * np.pi * result.t - 0.99 * np.pi
    apart = np.swapaxes(ph.lie.so3_exp(result.q), -1, -2) @ ph.lie.so3_exp(wanted)
    assert np.abs(ph.lie.so3_log(apart)).max() < 0.01
