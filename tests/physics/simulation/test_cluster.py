"""Simulations on a Dask cluster of several processes: the same bits, errors and order; a worker may die."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import physics as ph
from physics.simulation import cluster
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.simulation import test_rollouts as rollouts
from tests.verification.generators import chain, random_state

distributed = pytest.importorskip(
    "distributed", reason="Dask is in an environment of its own: test --cluster"
)

SPAN, STEP = 0.2, 1e-3


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes of one thread each."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as machines,
        distributed.Client(machines) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def model():
    return chain(4, lambda index: ph.joints.Spherical() if index == 1 else ph.joints.Hinge((0.0, 1.0, 0.0)))


def random_states(model, count):
    rng = np.random.default_rng(3)
    return [random_state(model, rng) for _ in range(count)]


def same(ours, theirs):
    if isinstance(ours, ph.DivergedError):
        assert (ours.time, ours.body, ours.reason) == (theirs.time, theirs.body, theirs.reason)
        return same(ours.result, theirs.result)
    rollouts.same(ours, theirs)
    assert ours.info.keys() == theirs.info.keys()


def test_results_are_the_bits_of_this_process_in_order(client, model):
    states = random_states(model, 23)
    table = ph.Table([0.0, 0.1], np.full((2, model.num_coordinates), [[0.0], [0.3]]))
    for tau in (None, table, np.full(model.num_coordinates, 0.1)):
        wishes = {"tau": tau, "record_interval": 0.05}
        for ours, theirs in zip(
            ph.simulate_many(model, states, SPAN, STEP, **wishes),
            ph.simulate_many(model, states, SPAN, STEP, client=client, **wishes),
            strict=True,
        ):
            same(ours, theirs)


def test_loops_are_assembled_once(client):
    loop, start = four_bar()
    states = [loop.state(start.q, share * ph.constrained_dynamics(loop, start).qdd) for share in (0.0, 0.3)]
    there = ph.simulate_many(loop, states, SPAN, STEP, client=client)
    for ours, theirs in zip(ph.simulate_many(loop, states, SPAN, STEP), there, strict=True):
        same(ours, theirs)


def test_runs_that_diverge_come_back_with_their_motion(client, model):
    states = random_states(model, 3)
    states[1] = model.state(q=states[1].q, qd=np.full(model.num_coordinates, 1e150))
    here = ph.simulate_many(model, states, SPAN, STEP)
    there = ph.simulate_many(model, states, SPAN, STEP, client=client)
    assert [type(each) for each in there] == [ph.Result, ph.DivergedError, ph.Result]
    for ours, theirs in zip(here, there):
        same(ours, theirs)


def test_a_worker_that_is_killed_loses_nothing(client, model):
    states = random_states(model, 64)
    wishes = {"duration": 2.0, "dt": 1e-4, "record_interval": 0.5}
    expected = ph.simulate_many(model, states, **wishes)
    (first, *_), killed = client.run(os.getpid).values(), []

    def kill():
        time.sleep(0.2)
        killed.append(os.kill(first, signal.SIGTERM if os.name == "nt" else signal.SIGKILL))

    thread = threading.Thread(target=kill)
    thread.start()
    found = ph.simulate_many(model, states, client=client, **wishes)
    thread.join()
    assert killed
    for ours, theirs in zip(expected, found, strict=True):
        same(ours, theirs)


def test_what_cannot_be_sent_is_refused_before_anything_runs(client, model, monkeypatch):
    states = random_states(model, 2)
    with pytest.raises(ph.ModelError, match="got the function"):
        ph.simulate_many(model, states, SPAN, STEP, tau=lambda t: np.zeros(6), client=client)
    with pytest.raises(ph.ModelError, match="integrator"):
        ph.simulate_many(model, states, SPAN, STEP, "no such method", client=client)
    monkeypatch.setattr(cluster, "version", lambda: ("another", "0"))
    with pytest.raises(ph.ModelError, match="another version of Condyle or NumPy"):
        ph.simulate_many(model, states, SPAN, STEP, client=client)
    assert ph.simulate_many(model, [], SPAN, STEP, client=client) == []
