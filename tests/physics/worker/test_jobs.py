"""Jobs give what physics gives, tell how they go, stop when asked to, and fail with the error's own words."""

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import physics as ph
from physics.errors import CancelledError
from physics.kernels.compiler import jit
from physics.muscles import Millard, PathPoint, Tension
from physics.worker import client as worker
from physics.worker import goals, protocol, requests
from tests.physics.constraints.mechanisms import pose
from tests.physics.generators import random_state, random_tree, smooth_frames
from tests.physics.small_models import alone

ROOT = Path(worker.__file__).parents[2]
LONG = 1e7  # seconds of motion: no machine is done with them before the test is
HANG = 300.0  # seconds: an end for what would never end, not a measure


@pytest.fixture(scope="module")
def client():
    """As this process runs the kernels, so that results can be compared bit by bit."""
    with closing(worker.WorkerClient(environment=worker.worker_environment(jit=jit.JITTED))) as client:
        yield client


@pytest.fixture(scope="module")
def slow_client():
    """Unjitted, as where numba does not exist."""
    with closing(worker.WorkerClient(environment=worker.worker_environment(jit=False))) as client:
        yield client


def pendulum(**keywords):
    return alone("bob", ph.joints.Hinge((1, 0, 0)), com=(0, 0, -1), **keywords).build()


def poll_until(job, condition, seconds=HANG):
    deadline = time.monotonic() + seconds
    while not condition():
        assert not job.poll(), job.error
        assert time.monotonic() < deadline
        time.sleep(0.002)


def simulated(client, model, state, **keywords):
    """The result of a simulation there."""
    return requests.simulate_answer(requests.simulate(client, model, state, **keywords).wait(HANG), model)


def same_bits(there, here, names):
    for name in names:
        assert getattr(there, name).tobytes() == getattr(here, name).tobytes(), name


def fitted(client, kind, poses, **keywords):
    """A fit there, which is the one here bit by bit."""
    job = getattr(requests, kind)(client, poses, **keywords)
    there = getattr(requests, f"{kind}_answer")(job.wait(HANG))
    here = getattr(ph, kind)(poses, **keywords)
    assert there.joint == here.joint and there.report() == here.report() and there.steps == here.steps
    same_bits(there, here, ["q"])
    same_bits(there.residuals, here.residuals, ("rotation", "translation", "distance"))
    return there


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "DOP853"])
def test_a_simulation_there_is_one_here_bit_by_bit(client, integrator):
    if integrator == "DOP853":
        pytest.importorskip("scipy")
    rng = np.random.default_rng(11)
    model = random_tree(rng, 6)
    state = random_state(rng, model)
    keywords = {"duration": 0.01, "dt": 1e-3, "integrator": integrator}
    keywords["tau"] = 0.1 * rng.normal(size=model.num_coordinates)
    job = requests.simulate(client, model, state, **keywords)
    there = requests.simulate_answer(job.wait(HANG), model)
    here = ph.simulate(model, state, **keywords)
    same_bits(there, here, ("t", "q", "qd", "poses", "energy"))
    assert there.info == here.info and there.rotations.keys() == here.rotations.keys()
    assert there.model is model and job.progress == 1.0


def test_a_table_of_forces_travels(client):
    model = pendulum()
    pushed = {"duration": 0.02, "tau": ph.Table([0.0, 0.01, 0.02], [[0.0], [5.0], [0.0]])}
    there = simulated(client, model, model.state(), **pushed)
    same_bits(there, ph.simulate(model, model.state(), **pushed), ["q"])


def test_without_numba_it_works_and_says_so(slow_client):
    model = pendulum()
    slow = simulated(slow_client, model, model.state(q=[0.5]), duration=0.05)
    assert slow_client.hello["jit"] is False
    fast = ph.simulate(model, model.state(q=[0.5]), duration=0.05)
    np.testing.assert_allclose(slow.q, fast.q, rtol=1e-12)
    assert requests.warm_up(slow_client).wait(HANG).header["jit"] is False


def test_progress_is_told_while_it_runs(slow_client):
    job = requests.simulate(slow_client, pendulum(), pendulum().state(q=[1.0]), duration=10.0)
    seen = []
    began = time.monotonic()
    while not job.poll():
        if not seen or seen[-1] != job.progress:
            seen.append(job.progress)
        time.sleep(0.001)
    seconds = time.monotonic() - began
    assert job.message == "simulating" and job.state == "done"
    assert len(seen) > 2 and seen == sorted(seen)
    assert len(seen) <= 20 * seconds + 3, "at most 20 a second"


@pytest.mark.parametrize("which", ["client", "slow_client"])
def test_a_simulation_is_cancelled_in_the_middle(which, request):
    client = request.getfixturevalue(which)
    model = pendulum()
    job = requests.simulate(client, model, model.state(q=[1.0]), duration=LONG, dt=1e-3, record_interval=1e3)
    poll_until(job, lambda: job.message == "simulating", 300.0)
    job.cancel()
    assert job.state == "cancelled"
    assert client.submit("ping").wait(HANG), "the process is free again: the run would have taken hours"
    with pytest.raises(CancelledError):
        job.wait(1)


def test_a_diverged_simulation_tells_where_and_gives_what_there_is(client):
    model = pendulum(stiffness=1e9)
    keywords = {"duration": 2.0, "dt": 1e-2, "integrator": "forward_euler"}
    with pytest.raises(worker.WorkerError, match=r"diverged at t = .* in body 'bob'") as caught:
        simulated(client, model, model.state(q=[1.0]), **keywords)
    error = caught.value
    assert error.kind == "DivergedError"
    assert error.details["body"] == "bob" and 0.0 < error.details["time"] < 2.0 and error.details["reason"]
    partial = requests.simulate_answer(error.partial, model)
    assert 0 < len(partial.t) < 201 and np.isfinite(partial.q).all()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"duration": -1.0}, "duration must be positive, got -1"),
        ({"duration": 1.0, "integrator": "magic"}, "unknown integrator 'magic'"),
        ({"duration": 1.0, "tau": [1.0, 2.0]}, r"tau must have shape \(1,\), got \(2,\)"),
        ({"duration": 1.0, "spped": 1.0}, "unexpected keyword argument 'spped'"),
    ],
)
def test_bad_input_is_told_in_physics_own_words(client, options, says):
    model = pendulum()
    with pytest.raises(worker.WorkerError, match=says):
        simulated(client, model, model.state(), **options)


@pytest.mark.parametrize(
    ("kind", "header", "says"),
    [
        ("simulate", {}, "a job lacks the key 'model'"),
        ("simulate", {"model": {}}, "'bodies'"),
        ("simulate", {"model": {}, "modle": 1}, "unknown key 'modle' in a job"),
        ("project", {"joint": {"type": "hinge"}, "joints": 1}, "unknown key 'joints' in a job"),
        ("project", {"joint": {"type": "hinge"}}, "needs the array 'poses'"),
        ("fit_curve", {}, "needs the array 'poses'"),
        ("warm_up", {"stages": ["coffee"]}, "unknown stage 'coffee'"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused(client, kind, header, says):
    job = client.submit(kind, header)
    with pytest.raises(worker.WorkerError, match=says):
        job.wait(HANG)


def test_the_process_ends_in_the_middle_of_a_job_when_stdin_closes():
    command = worker.worker_command()
    model = pendulum()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    header = {"model": model.to_dict(), "options": {"duration": LONG, "record_interval": 1e3}}
    process.stdin.write(b"".join(protocol.encode({"id": 1, "kind": "simulate", "job": header})))
    process.stdin.flush()
    while (message := protocol.read_message(process.stdout)) is not None:
        assert message.header["event"] not in ("failed", "done"), message.header
        if message.header.get("message") == "simulating":
            break
    assert message is not None
    time.sleep(0.1)
    process.stdin.close()
    assert process.wait(HANG) == 0
    process.stdout.close()


@pytest.mark.skipif(not jit.JITTED, reason="without numba nothing is compiled")
def test_compiling_is_told_and_holds_nobody_up(tmp_path):
    """With an empty cache: others' jobs run meanwhile, a waiting job can be cancelled, closing stdin ends it."""
    with closing(worker.WorkerClient(environment=worker.worker_environment(tmp_path))) as client:
        warm = requests.warm_up(client)
        poll_until(warm, lambda: warm.message.startswith("compiling"))
        assert client.submit("ping").wait(HANG)
        waiting = requests.simulate(client, pendulum(), pendulum().state(), duration=0.1)
        poll_until(waiting, lambda: waiting.message.startswith("compiling"))
        waiting.cancel()
        assert client.submit("ping").wait(HANG)
        assert not warm.poll()
        began = time.perf_counter()
        client.close(timeout=HANG)
        assert time.perf_counter() - began < 0.9 * HANG, "it ends by itself, in the middle of a compilation"
        assert warm.poll() and warm.state == "cancelled"


def test_the_client_imports_neither_numba_nor_scipy():
    script = "import sys, physics.worker.client, physics.worker.requests, physics.reporting, physics.io; "
    script += "print(sorted({'numba', 'scipy', 'matplotlib', 'multiprocessing'} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert out.stdout.strip() == "[]", out.stderr


def test_a_fit_there_is_one_here_bit_by_bit(client):
    poses = smooth_frames(np.random.default_rng(4), 13)
    fitted(client, "fit_curve", poses, num_frames=8, smoothing=0.1, order=5)


def test_every_wish_of_a_fit_gets_there(client):
    """Nested and mixed values, too: the answer is that of a fit here, with weights, pins and what was tried."""
    poses = smooth_frames(np.random.default_rng(4), 8)
    keywords = {
        "within": (0.2, 0.3),
        "metric": {"mass": 2.0, "com": (0.0, 0.1, 0.0), "inertia": 0.1 * np.eye(3)},
        "pinned": [0, -1],
        "ends": ({"twist": None, "straight": True}, None),
        "weights": np.linspace(1.0, 2.0, 8),
        "robust": "tukey",
        "coordinate": "arc_length",
    }
    there = fitted(client, "fit_curve", poses, **keywords)
    assert there.joint.coordinate == "arc_length" and there.tried and there.pinned == (0, 7)
    with pytest.raises(worker.WorkerError, match="pinned pose 8 does not exist"):
        requests.fit_curve(client, poses, pinned=[8]).wait(HANG)


def test_a_fit_with_parameters_and_knots(client):
    poses = smooth_frames(np.random.default_rng(4), 9)
    q = np.linspace(0.0, 2.0, 9)
    knots = ph.splines.clamped_knots(6, 4, 0.0, 2.0)
    fit = fitted(client, "fit_curve", poses, q=q, knots=knots, num_frames=6)
    assert fit.joint.knots.tolist() == knots.tolist() and fit.q.tolist() == q.tolist()


def test_a_fit_of_a_surface_there_is_one_here_bit_by_bit(client):
    rng = np.random.default_rng(4)
    q = rng.uniform(size=(60, 2))
    q[0], q[1] = 0.0, 1.0
    twists = np.concatenate([0.5 * q, 0.1 * q[:, :1] * q[:, 1:], q, 0.01 * rng.normal(size=(60, 1))], axis=1)
    poses = ph.lie.exp(twists)
    knots = [ph.splines.clamped_knots(4, 4), ph.splines.clamped_knots(5, 4)]  # of two lengths
    keywords = {"q": q, "num_frames": (4, 5), "knots": knots, "weights": rng.uniform(size=60), "order": 4}
    fitted(client, "fit_surface", poses, **keywords)
    with pytest.raises(worker.WorkerError, match="num_frames must be at least 4"):
        requests.fit_surface(client, poses, num_frames=3).wait(HANG)


def test_a_projection_there_is_one_here_bit_by_bit(client):
    rng = np.random.default_rng(5)
    joint = ph.joints.SplineCurve(smooth_frames(rng, 7))
    poses = joint.transform(rng.uniform(*joint.domain, (9, 1))) @ ph.lie.exp(0.05 * rng.normal(size=(9, 6)))
    keywords = {"length_scale": 0.3, "bounds": [[0.1, joint.domain[1]]], "continuous": True}
    there = requests.project_answer(requests.project(client, joint, poses, **keywords).wait(HANG))
    here = ph.project(joint, poses, **keywords)
    same_bits(there, here, vars(here))
    with pytest.raises(worker.WorkerError, match="one to three coordinates"):
        requests.project(client, ph.joints.Free(), poses).wait(HANG)


def test_a_fit_that_cannot_be_is_told(client):
    poses = smooth_frames(np.random.default_rng(4), 9)
    poses[3, 0, 3] = np.nan
    with pytest.raises(worker.WorkerError, match="3") as caught:
        requests.fit_curve(client, poses).wait(HANG)
    assert caught.value.kind in ("FitError", "ModelError")
    with pytest.raises(worker.WorkerError, match="unexpected keyword argument 'smoothness'"):
        requests.fit_curve(client, poses, smoothness=1.0).wait(HANG)


def test_given_motions_and_constraints_go_to_the_compute_process_and_forces_come_back(client):
    pytest.importorskip("scipy")
    builder, link = ph.ModelBuilder(), {"mass": 1.0, "com": (0, 1, 0), "inertia": np.eye(3)}
    for name, place in (("a", 0.0), ("b", 1.0)):
        builder.add_body(name, joint=ph.joints.Hinge(), joint_in_parent=pose((place, 0, 0)), **link)
    rod = ph.constraints.DistanceConstraint("a", "b", (0, 1, 0), (0, 1, 0), length=1.0)
    builder.add_constraint("rod", rod)
    model = builder.build()
    apart = model.state([0.0, 0.3])
    keywords = {"duration": 0.1, "dt": 1e-3, "record_interval": 0.01}
    with pytest.raises(ph.CondyleError, match=r"constraint 'rod' is violated by .* at the start"):
        simulated(client, model, apart, **keywords)
    times = np.linspace(0.0, 0.1, 5)
    motions = {"a": ph.Motion(times, 2.0 * times**2, windows=[(0.0, 0.05)])}
    start = ph.assemble(model, apart)
    here = ph.simulate(model, start, motions=motions, **keywords)
    there = simulated(client, model, start, motions=motions, assemble=True, **keywords)
    same_bits(there, here, ("q", "row_forces", "efforts"))
    assert np.abs(there.efforts).max() > 0.0
    together = simulated(client, model, apart, assemble=True, **keywords)
    np.testing.assert_array_equal(together.q[0], start.q)
    with pytest.raises(ph.CondyleError, match="motion of 'a'"):
        client.submit("simulate", {"model": model.to_dict(), "motions": {"a": {"speed": 1.0}}}).wait(HANG)


def test_a_simulation_tells_what_it_does_between_its_samples_where_it_is_asked(client):
    """A slider that is pushed back and forth within one stretch."""
    model = alone("bead", ph.joints.Slider()).build()
    tau = ph.Table(
        [0.0, 0.049, 0.05, 0.051, 0.052, 0.053, 1.0], [[0.0], [0.0], [9e2], [0.0], [-9e2], [0.0], [0.0]]
    )
    keywords = {"duration": 0.25, "dt": 1e-3, "record_interval": 1.0 / 32.0, "tau": tau}
    plain = requests.simulate(client, model, model.state([0.0]), **keywords).wait(HANG)
    assert requests.between_answer(plain) is None
    answer = requests.simulate(client, model, model.state([0.0]), between=True, **keywords).wait(HANG)
    result, seen = requests.simulate_answer(answer, model), requests.between_answer(answer)
    np.testing.assert_array_equal(result.q, requests.simulate_answer(plain, model).q)
    assert seen.rows.dtype == np.int64 and seen.missed.dtype == bool and 1 in seen.rows
    assert seen.poses.shape == (len(seen.rows), 7, 1, 4, 4)
    keywords |= {"between": True, "loop": {"most_cycles": 2}}
    looped = requests.simulate(client, model, model.state([0.0]), **keywords).wait(HANG)
    assert requests.between_answer(looped) is None


def two_links():
    builder = ph.ModelBuilder()
    for name, parent in (("upper", None), ("lower", "upper")):
        place, inertia = pose((0, 0, 0.0 if parent is None else -0.3)), np.diag([0.01, 0.01, 0.001])
        hinge = {"joint": ph.joints.Hinge((0, 1, 0)), "joint_in_parent": place, "damping": 0.05}
        builder.add_body(name, parent, mass=1.0, com=(0, 0, -0.15), inertia=inertia, **hinge)
    return builder.build()


FOR_GOALS = {"duration": 0.5, "dt": 5e-3, "integrator": "sdirk2"}


def met(client, model, body, target, names):
    """Torques or excitations of these names that bring a body's tip to a target at rest, which simulate as they say."""
    wanted = [
        goals.Goal("reach", body, 0.5, target=target, point=(0, 0, -0.3)),
        goals.Goal("rest", body, 0.5),
    ]
    given = {"model": model, "state": model.state(), "torques": names, **FOR_GOALS}
    job = requests.solve_goals(client, wanted, np.linspace(0.0, 0.5, 6), **given)
    found = requests.solve_goals_answer(job.wait(HANG))
    assert max(found.misses) < 1e-4  # m, rad/s
    known = [*model.coordinate_names, *model.input_names]
    table = np.zeros((len(found.times), len(known)))
    table[:, [known.index(name) for name in names]] = np.stack(
        [found.torques[name] for name in names], axis=1
    )
    result = ph.simulate(model, model.state(), **FOR_GOALS, tau=ph.Table(found.times, table))
    again = [goal.miss(result, model.coordinate_names) for goal in wanted]
    assert again == pytest.approx(found.misses, abs=1e-9)  # round-off, magnified
    return found.torques


def test_torques_for_goals(client):
    met(client, two_links(), "lower", (-0.3, 0.0, -0.4), ["upper.angle", "lower.angle"])


@pytest.mark.parametrize("law", [Tension(400.0), Millard(600.0, 0.12, 0.06)])
def test_excitations_for_goals(client, law):
    """The first excitation of a muscle with activation stays, as its state begins with it."""
    builder = ph.ModelBuilder()
    for name, com in (("arm", (0, 0, -0.15)), ("other", (0, 0, 0))):
        builder.add_body(name, joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, com=com, inertia=0.01 * np.eye(3))
    for name, side in (("pull -1", -1), ("pull 1", 1), ("apart", 1)):
        body = "other" if name == "apart" else "arm"
        ends = [PathPoint(None, (side * 0.06, 0, 0.05)), PathPoint(body, (side * 0.03, 0, -0.12))]
        builder.add_muscle(name, ends, law=law)
    model = builder.build()
    pulling = goals.pulling(model, ["arm.angle"])
    assert pulling == {f"pull {side}": f"pull {side}.excitation" for side in (-1, 1)}
    target = (-0.3 * np.sin(0.4), 0.0, -0.3 * np.cos(0.4))
    rows = np.array([*met(client, model, "arm", target, [*pulling.values()]).values()])
    assert rows.min() >= 0.0 and rows.max() <= 1.0 and rows.max() > 0.01
    assert (rows[:, 0] == 0.0).all() == bool(law.state_names)


def test_goals_refuse_what_has_no_gradient(client):
    model = two_links()
    given = ([goals.Goal("rest", "lower", 0.5)], [0.0, 0.5])
    run = {"model": model, "state": model.state(), **FOR_GOALS}
    rows = np.zeros((3, 2))
    rows[1, 0] = 1.0  # of a coordinate that gets no torque, between two knots
    bent = {"tau": ph.Table([0.0, 0.2, 0.5], rows)}
    times = np.linspace(0.0, 1.0, 5)
    released = {"motions": {"upper": ph.Motion(times, times, windows=[(0.0, 0.2)])}}
    for more in (bent, released):
        with pytest.raises(worker.WorkerError, match="upper"):
            requests.solve_goals(client, *given, torques=["lower.angle"], **run, **more).wait(HANG)
