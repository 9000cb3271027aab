"""Compiling ahead: what a scene needs comes first, and nothing begins without a window."""

from __future__ import annotations

import pytest

from tests.addon.test_forcing import pendulum

bpy = pytest.importorskip("bpy")


@pytest.mark.small
def test_what_the_scene_needs_comes_first(part, scene, make):
    wanted = part("warming").wanted
    joint = pendulum(part, scene, make)
    assert wanted(scene)[:2] == ["poses and energy", "forward dynamics"]
    joint.condyle.joint.hard_limits = True
    assert wanted(scene)[:2] == ["poses and energy", "constraints and contacts"]
    scene.condyle.simulation.integrator = "bdf1"
    assert wanted(scene)[1] == "implicit steps with constraints"
    joint.condyle.joint.hard_limits = False
    item = part("connections").add_connection(
        scene, None, part("references").Body(bpy.data.objects["Rod"]), "ground", name="Floor"
    )
    assert wanted(scene)[1] == "implicit steps with constraints"
    item.condyle.connection.ground.contact = "SOFT"
    assert wanted(scene)[1] == "implicit steps"
    assert len(set(wanted(scene))) == len(wanted(scene))


@pytest.mark.small
def test_in_the_background_nothing_begins(part, scene, make):
    warming = part("warming")
    warming.note()
    assert not bpy.app.timers.is_registered(warming._tick) and warming.line() == ""


def test_it_is_walked_to_its_end_and_asks_again_when_the_scene_needs_more(part, scene, make, monkeypatch):
    warming = part("warming")
    joint = pendulum(part, scene, make)
    asked = []

    class Job:
        state, progress, message = "running", 0.5, "compiling forward dynamics"

        def poll(self):
            return self.state == "done"

    job = Job()

    def warm_up(_client, stages):
        asked.append(stages)
        job.state = "running"
        return job

    monkeypatch.setattr(part("core").part("worker.requests"), "warm_up", warm_up)
    warming._asked.clear()
    assert warming._tick()
    warming._loading.join()
    assert warming._tick() and len(asked) == 1
    assert warming.line() == "Preparing: forward dynamics (50%)"
    job.state = "done"
    warming._tick()
    assert warming.line() == "" and len(asked) == 1
    joint.condyle.joint.hard_limits = True
    warming._tick()
    assert asked[1] == ["constraints and contacts"]
    job.state = "failed"
    monkeypatch.setattr(Job, "poll", lambda self: True)
    assert warming._tick() is None and warming.line() == ""
    warming._over = False
    warming._asked.clear()
