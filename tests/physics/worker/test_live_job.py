"""Live runs in the compute process: pictures come, knobs are heard, what is kept is the simulation, death is told."""

import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest

import physics as ph
from physics.errors import CancelledError
from physics.worker import client as worker
from physics.worker import jobs, requests
from physics.worker.protocol import Message
from tests.physics.worker.test_jobs import client, pendulum, poll_until  # noqa: F401


def start(client, model, **keywords):
    state = model.state(q=[0.5])
    job = requests.live(client, model, state, dt=1e-3, integrator="symplectic_euler", **keywords)
    poll_until(job, lambda: job.news is not None)
    return job


def until(job, condition):
    poll_until(job, lambda: condition(job.news))


def test_what_is_kept_of_a_live_run_is_the_simulation(client):
    model = pendulum()
    job = start(client, model, record_interval=0.05)
    assert job.news.arrays["poses"].shape == (1, 4, 4) and job.state == "running"
    until(job, lambda news: news.header["time"] > 0.4)
    job.tell({"stop": {"from": 0.1, "to": 0.3}})
    kept = requests.simulate_answer(job.wait(300), model)
    whole = ph.simulate(model, model.state(q=[0.5]), duration=1.0, record_interval=0.05)
    assert np.allclose(kept.t, [0.1, 0.15, 0.2, 0.25, 0.3])
    for name in ("t", "q", "qd", "poses", "energy"):
        assert getattr(kept, name).tobytes() == getattr(whole, name)[2:7].tobytes(), name


def test_a_knob_is_heard_and_pictures_say_so(client):
    job = start(client, pendulum())
    job.tell({"gravity": [0.0, 0.0, 9.81], "inputs": {"bob.angle": 3.0}})
    until(job, lambda news: news.header["heard"] == 1)
    job.tell({"stop": None})
    assert job.wait(300).arrays == {}


def test_a_run_that_is_not_kept_is_not_looked_through(monkeypatch):
    """Looking through an hour's paths of muscles took minutes."""
    looked, figures = [], {"time": 0.0}
    report = SimpleNamespace(
        message=lambda *_: None,
        told=lambda: [{"stop": None}] if figures["time"] > 0.3 else [],
        news=lambda said, _: figures.update(said),
    )
    monkeypatch.setattr(jobs, "prepare", lambda *_: None)
    monkeypatch.setattr(jobs.LiveRun, "checked", lambda _, result: looked.append(len(result.t)))
    job = {"model": pendulum().to_dict(), "state": {"q": [0.5]}, "options": {"dt": 1e-3, "integrator": "rk4"}}
    assert jobs.run("live", job, {}, report) == ({}, {})
    assert looked == [jobs.LAST]


def test_news_that_nobody_polls_are_dropped():
    job = worker.Job(1, "live", None)
    for k in range(1000):
        job.deliver(Message({"event": "news", "news": {"time": k}}, {"poses": np.zeros(3)}))
    assert job._arrived.empty() and len(job._latest) == 1
    assert not job.poll() and job.news.header == {"time": 999}


def test_what_cannot_be_turned_ends_the_run_with_its_name(client):
    job = start(client, pendulum())
    job.tell({"forces": {"roof": {"stiffness": 1.0}}})
    with pytest.raises(worker.WorkerError, match="roof"):
        job.wait(300)


def test_a_live_run_is_cancelled_and_the_next_job_runs(client):
    job = start(client, pendulum())
    job.cancel()
    with pytest.raises(CancelledError):
        job.wait(1)
    job.tell({"gravity": [0, 0, 0]})  # nobody hears it
    assert client.submit("ping").wait(300).header["pid"] == client.hello["pid"]


def test_a_death_is_told_and_the_next_run_starts_anew(client):
    job = start(client, pendulum())
    os.kill(client.hello["pid"], signal.SIGKILL)
    with pytest.raises(worker.WorkerError):
        job.wait(300)
    assert job.state == "failed" and job.error.kind == "WorkerDied"
    job = start(client, pendulum())
    job.tell({"stop": None})
    job.wait(300)
