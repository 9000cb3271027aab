"""Compiling ahead: what a scene needs comes first, and nothing begins without a window."""

import bpy
import pytest

from tests.addon.animation.test_inputs import pendulum


@pytest.mark.small
def test_what_the_scene_needs_comes_first(part, scene, make, body):
    wanted = part("jobs.precompile").wanted
    joint = pendulum(part, scene, make)
    assert wanted(scene)[:2] == ["poses and energy", "forward dynamics"]
    joint.condyle.joint.hard_limits = True
    assert wanted(scene)[:2] == ["poses and energy", "constraints and contacts"]
    scene.condyle.simulation.integrator = "bdf1"
    assert wanted(scene)[1] == "implicit steps with contacts"
    joint.condyle.joint.hard_limits = False
    joint.condyle.joint.prescribed = True
    assert wanted(scene)[1] == "implicit steps with constraints"
    joint.condyle.joint.prescribed = False
    item = part("making.connections").add_connection(
        scene, None, body(bpy.data.objects["Rod"]), "ground", name="Floor"
    )
    assert wanted(scene)[1] == "implicit steps with contacts"
    item.condyle.connection.ground.contact = "SOFT"
    assert wanted(scene)[1] == "implicit steps"
    part("making.goals").add(scene, body(bpy.data.objects["Rod"]), "REST", 10, None)
    scene.condyle.simulation.integrator = "symplectic_euler"
    assert wanted(scene)[1:4] == ["forward dynamics", "implicit steps", "gradients"]
    assert len(set(wanted(scene))) == len(wanted(scene))


@pytest.mark.small
def test_in_the_background_nothing_begins(part, scene, make):
    warming = part("jobs.precompile")
    warming.note()
    assert not bpy.app.timers.is_registered(warming._tick) and warming.line() == ""


class Job:
    """A job of the compute process that the test moves on."""

    progress, message = 0.0, "compiling forward dynamics"

    def __init__(self):
        self.state = "running"

    def poll(self):
        return self.state != "running"


@pytest.fixture
def asked(part, monkeypatch):
    """The jobs that were asked for: [(names of stages, `Job`)]; all is loaded."""
    warming, found = part("jobs.precompile"), []

    def warm_up(_client, stages):
        found.append((stages, Job()))
        return found[-1][1]

    monkeypatch.setattr(part("blender.physics_access").part("worker.requests"), "warm_up", warm_up)
    warming._asked.clear()
    assert warming._tick()
    warming._loading.join()
    yield found
    warming._job, warming._over = None, False
    warming._asked.clear()


def test_one_stage_is_asked_for_at_a_time_and_more_when_the_scene_needs_more(part, scene, make, asked):
    warming = part("jobs.precompile")
    joint = pendulum(part, scene, make)
    for _ in range(3):
        assert warming._tick()
    assert [stages for stages, _ in asked] == [["poses and energy"]]
    assert warming.line() == "Preparing: forward dynamics (0%)"
    asked[-1][1].state = "done"
    warming._tick()
    assert asked[-1][0] == ["forward dynamics"] and warming.line().endswith("(20%)")
    while len(asked) < len(warming.wanted(scene)):
        asked[-1][1].state = "done"
        warming._tick()
    asked[-1][1].state = "done"
    warming._tick()
    assert warming.line() == "" and {stages[0] for stages, _ in asked} == set(warming.wanted(scene))
    joint.condyle.joint.hard_limits = True
    warming._tick()
    assert asked[-1][0] == ["constraints and contacts"]
    asked[-1][1].state = "failed"
    assert warming._tick() is None and warming.line() == ""


def test_between_two_stages_it_gives_way_to_what_the_user_does(part, scene, make, asked, monkeypatch):
    warming = part("jobs.precompile")
    pendulum(part, scene, make)
    warming._tick()
    monkeypatch.setattr(part("blender.session"), "job", object())
    asked[-1][1].state = "done"
    assert warming._tick() and warming._tick() and len(asked) == 1
    monkeypatch.setattr(part("blender.session"), "job", None)
    warming._tick()
    assert asked[-1][0] == ["forward dynamics"]


def test_what_the_scene_needs_no_longer_is_given_up(part, scene, make, asked, monkeypatch):
    warming, closed = part("jobs.precompile"), []
    joint = pendulum(part, scene, make)
    joint.condyle.joint.hard_limits = True
    warming._tick()
    asked[-1][1].state = "done"
    warming._tick()
    assert asked[-1][0] == ["constraints and contacts"]
    monkeypatch.setattr(part("blender.compute_process"), "close", lambda timeout: closed.append(True))
    monkeypatch.setattr(part("blender.session"), "job", object())
    joint.condyle.joint.hard_limits = False
    warming._tick()
    assert not closed  # a job that waits for the process would fail with it
    monkeypatch.setattr(part("blender.session"), "job", None)
    warming._tick()
    assert closed == [True] and warming.line() == ""
    warming._tick()
    warming._job.state = "done"
    warming._tick()
    assert [stages for stages, _ in asked[2:]] == [["poses and energy"], ["forward dynamics"]]


def test_a_job_does_not_wait_for_what_its_scene_does_not_need(part, scene, make, asked, monkeypatch):
    """A first bake waited up to ten seconds for the stage of inverse kinematics, which came before it."""
    warming, closed = part("jobs.precompile"), []
    pendulum(part, scene, make)
    monkeypatch.setattr(part("blender.compute_process"), "close", lambda timeout: closed.append(True))
    warming._tick()
    for stage in warming.wanted(scene)[:3]:
        assert asked[-1][0] == [stage]
        warming.give_way()
        assert bool(closed) == (stage not in warming.needed(scene))
        if not closed:
            asked[-1][1].state = "done"
            warming.give_way()
            warming._tick()
    assert closed == [True] and warming._job is None
    warming._tick()
    assert asked[-1][0] == ["poses and energy"]  # again, out of the cache
