"""Live runs: the very steps of a simulation, knobs that the next step feels, the clock, and what is kept at the end."""

import dataclasses

import numpy as np
import pytest

import physics as ph
from physics.contacts import Plane
from physics.errors import ModelError
from physics.integrators import soft
from physics.motions.table import force_table
from physics.simulation import simulate as simulation
from physics.simulation.knobs import Knobs
from physics.simulation.live import REST, SOON, TICK, LiveRun, between
from tests.physics.constraints.mechanisms import pose
from tests.physics.small_models import alone
from tests.physics.soft.blocks import bolted


class Clock:
    """Time that passes only when it is slept, and a little at each look."""

    def __init__(self, look: float = 1e-4) -> None:
        self.now, self.look = 0.0, look

    def __call__(self) -> float:
        self.now += self.look
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def legs(kind: str = "tree"):
    """Two links over soft ground, with what makes each family of methods run."""
    hard = {"limits": [[-1.0, 1.2]], "limit_restitution": 0.3} if kind == "constrained" else {}
    hinge, foot = ph.joints.Hinge((1, 0, 0)), [[0.0, 0.0, -0.4]]
    builder = alone("thigh", hinge, mass=7.0, com=(0, 0, -0.2), inertia=0.1 * np.eye(3), **hard)
    link = {"mass": 3.0, "com": (0, 0, -0.2), "inertia": 0.04 * np.eye(3), "damping": 0.5}
    builder.add_body("shank", "thigh", joint=hinge, joint_in_parent=pose((0, 0, -0.4)), **link)
    soft = {"stiffness": 2e4, "damping": 200.0, "friction": 0.5}
    builder.add_ground("floor", "shank", foot, plane=pose((0, 0, -0.75)), **soft)
    builder.add_spring("band", "shank", (0, 0, -0.2), None, (0, 0.3, 0), stiffness=20.0, damping=1.0)
    if kind == "contact":
        builder.add_contact("wall", "shank", foot, Plane(), pose=pose((0, 0, -0.78)))
    return builder.build()


def run(model, script, seconds=0.5, clock=None, **keywords):
    """A run that is told script[k] = (time of motion, what is said), and to stop; and the pictures that it showed."""
    clock = clock or Clock()
    waiting, pictures, state = list(script), [], {"time": 0.0}

    def listen():
        said = []
        while waiting and state["time"] >= waiting[0][0] - 1e-12:
            said.append(waiting.pop(0)[1])
        if state["time"] >= seconds - 1e-12:
            said.append({"stop": None})
        return said

    def show(figures, *seen):
        state["time"] = figures["time"]
        pictures.append((figures, *seen))

    keywords = {"dt": 1e-3, "integrator": "symplectic_euler", **keywords}
    start = keywords.pop("state", None) or model.state(q=[0.3, -0.5])
    live = LiveRun(
        model, start, listen=listen, show=show, clock=clock, sleep=clock.sleep, longest=5.0, **keywords
    )
    return live.run(), pictures


@pytest.mark.parametrize(
    ("kind", "integrator"),
    [("tree", "symplectic_euler"), ("tree", "rk4"), ("constrained", "symplectic_euler"), ("tree", "bdf1")],
)
def test_with_untouched_knobs_it_is_the_simulation_bit_by_bit(kind, integrator):
    model = legs(kind)
    state = model.state(q=[0.3, -0.5])
    table = ph.Table([0.0, 0.2, 0.4], [[0.0, 0.0], [3.0, -1.0], [0.0, 0.5]])
    keywords = {"tau": table, "integrator": integrator, "record_interval": 1.0 / 24.0}
    live, _ = run(model, [], state=state, **keywords)
    assert 0.5 <= live.t[-1] + 1.0 / 24.0 < 0.6
    whole = ph.simulate(model, state, duration=1.0, dt=1e-3, **keywords)
    count = len(live.t)
    assert count >= 12
    for name in ("t", "q", "qd", "poses", "energy"):
        assert getattr(live, name).tobytes() == getattr(whole, name)[:count].tobytes(), name
    assert live.model is model


@pytest.mark.parametrize("kind", ["tree", "constrained"])
def test_without_an_interval_it_keeps_its_last_steps_alone(kind, monkeypatch):
    """A run of hours kept 0.1 MB a second of seven joints."""
    monkeypatch.setattr(simulation, "MOST_LATEST", 200)
    model = legs(kind)
    live, _ = run(model, [], seconds=1.0, dt=7e-4)
    assert 100 <= len(live.t) <= 201 and live.t[-1] >= 1.0
    whole = ph.simulate(model, model.state(q=[0.3, -0.5]), duration=1.2, dt=7e-4)
    last = int(np.searchsorted(whole.t, live.t[-1] - 1e-9)) + 1
    for name in ("t", "q", "qd", "energy", "efforts"):
        mine, theirs = getattr(live, name), getattr(whole, name)
        assert mine is theirs is None or mine.tobytes() == theirs[last - len(live.t) : last].tobytes(), name


def test_a_torque_is_felt_by_the_next_step():
    model = legs()
    free, _ = run(model, [])
    turned, pictures = run(model, [(0.2, {"inputs": {"shank.angle": 40.0}})])
    apart = np.flatnonzero((free.q[: len(turned.q)] != turned.q[: len(free.q)]).any(axis=1))
    heard = next(figures["time"] for figures, _ in pictures if figures["heard"])
    said = max(figures["time"] for figures, _ in pictures if not figures["heard"])
    # it is heard behind the stretch of steps that the picture interrupted
    assert said < turned.t[apart[0]] <= said + 1.0 / 60.0 + 2e-3 and heard <= said + 0.035
    # from there on it is the simulation from that state with that torque
    row = apart[0] - 1
    state = dataclasses.replace(model.state(q=turned.q[row], qd=turned.qd[row]), time=float(turned.t[row]))
    on = ph.simulate(model, state, duration=0.05, tau=[0.0, 40.0])
    np.testing.assert_allclose(on.q[:50], turned.q[row : row + 50], atol=2e-4)


def test_what_is_said_is_shown_before_the_next_picture_is_due():
    """Once, with motion that knows of it, a quarter of the time between pictures after it was heard; the others come as
    they would have come.
    """
    _, pictures = run(legs(), [(0.2, {"inputs": {"shank.angle": 40.0}})])
    times = [figures["time"] for figures, _ in pictures]
    k = next(k for k, (figures, _) in enumerate(pictures) if figures["heard"])
    # it is heard after a rest; steps of 1 ms, and looks at the clock
    assert 1e-3 <= times[k] - times[k - 1] <= REST + SOON + 3e-3 < TICK
    others = np.delete(times, k)
    assert np.diff(others).max() < 1.5 * TICK and len(pictures) < 1.1 * times[-1] / TICK + 3


def test_gravity_ground_and_springs_are_turned_as_if_the_model_were_built_so():
    model = legs("contact")
    knobs = Knobs(model, force_table(model, None))
    floor = {"stiffness": 5e3, "damping": 10.0, "friction": 0.1, "exponent": 1.5}
    band, wall, gravity = {"stiffness": 7.0}, {"friction": 0.8, "restitution": 0.4}, [0, 1.0, -1.6]
    forces = {"floor": floor, "band": band}
    knobs.turn({"gravity": gravity, "forces": forces, "contacts": {"wall": wall}})
    described = model.to_dict() | {"gravity": gravity}
    described["forces"][0] |= floor
    described["springs"][0] |= band
    described["contacts"][0] |= wall
    built = ph.ModelBuilder.from_dict(described).build()
    state = model.state(q=[0.3, -0.5], qd=[0.1, 0.4])
    here = knobs.model.state(q=[0.3, -0.5], qd=[0.1, 0.4])
    assert ph.simulate(knobs.model, here, 0.2).q.tobytes() == ph.simulate(built, state, 0.2).q.tobytes()
    assert knobs.model.contact_pairs.tobytes() == built.contact_pairs.tobytes()
    assert model == legs("contact")
    with pytest.raises(ValueError, match="read-only"):
        knobs.model.arrays[3][0] = 1.0


def test_recorded_energies_are_by_what_was_turned_then():
    """Gravity, springs and ground store energy: each sample has it by their numbers at its time, as it was shown."""
    model = legs()
    said = [
        (0.1, {"gravity": [0.0, 1.0, -3.0]}),
        (0.2, {"inputs": {"thigh.angle": 2.0}}),
        (0.3, {"forces": {"band": {"stiffness": 90.0}, "floor": {"stiffness": 1e3}}}),
    ]
    result, pictures = run(model, said, record_interval=1e-3)
    rows = np.rint([1e3 * figures["time"] for figures, _ in pictures]).astype(int)
    shown = np.array([figures["energy"] for figures, _ in pictures])
    assert np.abs(result.energy[rows, 2] - shown).max() < 1e-12 * np.abs(shown).max()
    untouched = dataclasses.replace(result)  # which finds energies by the model as it was given
    assert np.abs(untouched.energy - result.energy)[150:, 1].min() > 1.0
    part = between(result, 0.25, 0.4)
    assert (part.energy == result.energy[250:401]).all() and (part.poses == result.poses[250:401]).all()


@pytest.mark.filterwarnings("ignore::physics.errors.SimulationWarning")
def test_books_of_energy_are_the_simulation_s_and_pictures_show_them():
    """A band far too stiff for the step: what comes from nowhere is seen while it runs, and stays with the record."""
    described = legs().to_dict()
    described["springs"][0] |= {"stiffness": 1e5, "damping": 0.0}
    model = ph.ModelBuilder.from_dict(described).build()
    state = model.state(q=[0.3, -0.5])
    live, pictures = run(model, [], state=state, dt=2e-3)
    whole = ph.simulate(model, state, duration=float(live.t[-1]), dt=2e-3)
    assert live.info["energy"] == whole.info["energy"]
    assert live.info["energy"]["gained"] > 0.25 * live.info["energy"]["most_kinetic"]
    assert pictures[-1][0]["gained"] == live.info["energy"]["gained"]
    assert pictures[-1][0].keys() >= {"most_kinetic", "work"}


def test_corners_of_a_given_motion_take_nothing_of_the_clock():
    """Steps are fewer in a stretch where a motion turns a corner: those that were not made are still due."""
    model, times = legs(), np.linspace(0.0, 5.0, 121)
    motion = ph.Motion(times, 0.3 * np.sin(6.0 * times), interpolation="linear")
    clock = Clock()
    live, pictures = run(model, [], seconds=1.0, clock=clock, motions={"thigh": motion})
    assert 1.0 <= live.t[-1] < 1.1
    # a picture's time is some steps behind the clock; without those that were cut away it took 1.27 s
    assert pictures[-1][0]["time"] == pytest.approx(clock.now, rel=0.03)
    assert pictures[-1][0]["rate"] == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("kind", ["tree", "constrained", "contact"])
def test_what_hands_do_is_no_gain(kind):
    """Who turns gravity or a spring, or drags a spring's end, changes what is stored; a torque does work."""
    grip = {"body": "shank", "point": [0.0, 0.0, -0.4], "stiffness": 2e3, "damping": 60.0}
    dragged = [
        (0.6 + 0.02 * k, {"grip": {**grip, "target": [0.0, 0.6 * np.sin(0.3 * k), -0.3]}}) for k in range(40)
    ]
    said = [
        (0.1, {"gravity": [0.0, 1.0, -30.0]}),
        (0.2, {"inputs": {"thigh.angle": 20.0}}),
        (0.3, {"forces": {"band": {"stiffness": 300.0}, "floor": {"stiffness": 8e4}}}),
        *dragged,
        (1.5, {"grip": None}),
        (1.6, {"gravity": [0.0, 0.0, -5.0]}),
    ]
    books = run(legs(kind), said, seconds=2.5)[0].info["energy"]
    assert books["most_kinetic"] > 5.0
    assert books["gained"] < 0.05 * books["most_kinetic"] + 0.01 * books["work"]


def test_a_grip_pulls_a_point_to_the_mouse():
    model = legs()
    target = [0.0, 0.35, -0.45]
    grip = {"body": "shank", "point": [0.0, 0.0, -0.4], "target": target, "stiffness": 2e4, "damping": 300.0}
    pulled, _ = run(model, [(0.1, {"grip": grip})], seconds=3.0)
    poses = pulled.poses[-1, 1]
    assert np.linalg.norm(poses[:3, :3] @ [0, 0, -0.4] + poses[:3, 3] - target) < 0.02
    let_go, _ = run(model, [(0.1, {"grip": grip}), (0.2, {"grip": None})], seconds=3.0)
    poses = let_go.poses[-1, 1]
    assert np.linalg.norm(poses[:3, :3] @ [0, 0, -0.4] + poses[:3, 3] - target) > 0.05


def test_it_keeps_to_the_clock_and_says_how_fast_it_goes():
    model = legs()
    clock = Clock()
    _, pictures = run(model, [], seconds=2.0, clock=clock, factor=0.5)
    assert 3.9 < clock.now < 4.3
    figures = pictures[-1][0]
    assert abs(figures["rate"] - 0.5) < 0.03 and figures["headroom"] > 1.0
    gaps = np.diff([each["time"] for each, _ in pictures[5:]])
    assert gaps.max() < 0.5 * 2.5 / 60.0  # a picture about every sixtieth of a second


def test_what_a_machine_cannot_do_runs_slower():
    slow = Clock(look=0.02)  # each stretch of steps takes so long, whatever it does
    _, pictures = run(legs(), [], seconds=0.02, clock=slow)
    assert pictures[-1][0]["rate"] < 0.5


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"wind": 1.0}, "unknown parameter 'wind'"),
        ({"gravity": [0, 0, np.nan]}, "gravity"),
        ({"inputs": {"elbow.q": 1.0}}, "elbow.q"),
        ({"inputs": {"shank.angle": np.inf}}, "shank.angle"),
        ({"forces": {"roof": {"stiffness": 1.0}}}, "roof"),
        ({"forces": {"floor": {"radius": 1.0}}}, "radius"),
        ({"forces": {"floor": {"stiffness": -1.0}}}, "stiffness of 'floor'"),
        ({"forces": {"floor": {"exponent": 0.5}}}, "exponent of 'floor'"),
        ({"grip": {"body": "shank"}}, "a grip has"),
    ],
)
def test_what_cannot_be_turned_is_named_and_nothing_changes(changes, said):
    model = legs()
    knobs = Knobs(model, force_table(model, None))
    before = knobs.model.arrays[3].tobytes(), knobs.table[1].tobytes()
    with pytest.raises(ModelError, match=said):
        knobs.turn({**changes, "inputs": {"thigh.angle": 5.0, **changes.get("inputs", {})}})
    assert before == (knobs.model.arrays[3].tobytes(), knobs.table[1].tobytes())


def test_methods_that_choose_their_steps_are_refused():
    model = legs()
    with pytest.raises(ModelError, match="fixed step"):
        LiveRun(model, model.state(), 1e-3, "DOP853", listen=list, show=print)


def test_a_part_of_a_motion_is_cut_out():
    result = ph.simulate(legs(), legs().state(), duration=0.1, dt=1e-3, record_interval=0.01)
    part = between(result, 0.02, 0.05)
    assert np.allclose(part.t, [0.02, 0.03, 0.04, 0.05]) and part.q.tobytes() == result.q[2:6].tobytes()
    with pytest.raises(ModelError, match="there are 0 samples"):
        between(result, 0.2, 0.3)


def held(stiffness=3.0, damping=0.2, armature=0.01, pushed=None):
    """A link that a controller holds by a ball joint."""
    solid = {"mass": 2.0, "com": (0, 0, -0.3), "inertia": 0.02 * np.eye(3), "armature": armature}
    builder = alone("link", ph.joints.Spherical(), **solid)
    builder.add_controller("hold", "link", stiffness=stiffness, damping=damping, target=[0.2, 0.0, 0.0])
    if pushed is not None:
        builder.add_force("push", "link", pushed, float(np.linalg.norm(pushed)), point=(0, 0, -0.3))
        builder.add_body_damping("air", "link", linear=0.5)
    return builder.build()


def test_gains_and_loads_of_a_controlled_body_act_on_the_next_step():
    """From there on it is the simulation of a model that was built with them."""
    model, push = held(), np.array([0.0, 4.0, 3.0])
    gains = {"stiffness": [9.0] * 3, "damping": [0.5] * 3, "armature": [0.03] * 3}
    changes = {"controllers": {"hold": gains}, "loads": {"link": {"force": push.tolist(), "damping": 0.5}}}
    options = {"state": model.state(q=[0.4, 0.1, 0.0]), "record_interval": 1e-3}
    plain, _ = run(model, [], **options)
    turned, _ = run(model, [(0.2, changes)], **options)
    count = min(len(plain.t), len(turned.t))
    row = int(np.flatnonzero((plain.q[:count] != turned.q[:count]).any(axis=1))[0]) - 1
    new = held(9.0, 0.5, 0.03, push)
    state = dataclasses.replace(new.state(q=turned.q[row], qd=turned.qd[row]), time=float(turned.t[row]))
    on = ph.simulate(new, state, duration=0.1, dt=1e-3)
    # the first step predicts velocities by an acceleration that a state does not have
    assert np.abs(on.q - turned.q[row : row + len(on.t)]).max() < 2e-5
    assert np.abs(turned.q[-1] - plain.q[count - 1]).max() > 0.02


@pytest.mark.parametrize(
    "changes",
    [
        {"controllers": {"lift": {"stiffness": 1.0}}},
        {"controllers": {"hold": {"stiffness": [1.0, 2.0]}}},
        {"controllers": {"hold": {"force_limit": 1.0}}},
        {"controllers": {"hold": {"armature": -1.0}}},
        {"loads": {"link": {"force": [0.0, np.nan, 0.0]}}},
        {"loads": {"link": {"moment": [0.0, 0.0, 0.0]}}},
        {"loads": {"leg": {"damping": 1.0}}},
    ],
)
def test_a_bad_gain_or_load_changes_nothing(changes):
    knobs = Knobs(held(), force_table(held(), None))
    before = [array.tobytes() for array in knobs.model.arrays]
    with pytest.raises(ModelError):
        knobs.turn({"gravity": [0.0, 0.0, -1.0], **changes})
    assert [array.tobytes() for array in knobs.model.arrays] == before


@pytest.mark.parametrize("integrator", ["linearly_implicit_euler", "rk4"])
def test_soft_bodies_are_those_of_the_simulation_bit_by_bit(integrator, monkeypatch):
    """Also behind the samples for which there is room at first; each picture has all nodes."""
    monkeypatch.setattr(soft, "FIRST", 2)
    model = bolted(damping=1e-3)
    keywords = {"integrator": integrator, "record_interval": 1.0 / 24.0, "dt": 2e-3}
    live, pictures = run(model, [], state=model.state([0.3, -0.5]), **keywords)
    assert 0.5 <= live.t[-1] + 1.0 / 24.0 < 0.6
    whole = ph.simulate(model, model.state([0.3, -0.5]), duration=1.0, **keywords)
    count = len(live.t)
    for name in ("t", "q", "qd", "poses", "energy", "soft_states"):
        assert getattr(live, name).tobytes() == getattr(whole, name)[:count].tobytes(), name
    # samples of a step's length are the steps themselves: every picture is one of them
    steps = ph.simulate(model, model.state([0.3, -0.5]), 1.0, 2e-3, integrator)
    for figures, _, nodes in pictures:
        row = round(figures["time"] / 2e-3)
        assert nodes.tobytes() == steps.soft["block"].nodes[row].tobytes()
        assert figures["energy"] == pytest.approx(steps.energy[row, 2], rel=1e-12)


def test_soft_bodies_feel_gravity_and_are_kept_from_the_last_steps(monkeypatch):
    """The energy is under the gravity of each time."""
    monkeypatch.setattr(simulation, "MOST_LATEST", 100)
    model = bolted(damping=1e-3)
    keywords = {"integrator": "linearly_implicit_euler", "dt": 2e-3}
    live, _ = run(model, [(0.2, {"gravity": [0.0, 0.0, 0.0]})], state=model.state([0.0, 0.0]), **keywords)
    assert 50 <= len(live.t) <= 101 and live.soft_states.shape[0] == len(live.t)
    row = len(live.t) // 2
    state = model.state(live.q[row], live.qd[row], live.t[row])
    state = dataclasses.replace(state, soft_states=live.soft_states[row])
    light = model.altered(gravity=np.zeros(3))
    on = ph.simulate(light, state, 0.05, **keywords)
    for name in ("q", "qd", "soft_states", "energy"):
        mine = getattr(live, name)[row : row + len(on.t)]
        assert mine.tobytes() == getattr(on, name)[: len(mine)].tobytes(), name
