"""What a live run tells of itself: how fast it goes, and that its steps are too long."""

from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from tests.addon.live.test_run import Hand


@pytest.mark.small
def test_what_is_told_of_the_speed_takes_as_many_lines_whatever_it_is(part):
    panels = part("ui.live.panels")
    counts = []
    for rate, begun, total in ((1.0, None, 0.0), (1.0, 0.5, 2.0), (0.3, None, 2.0), (1.0, None, 2.0)):
        layout, run = MagicMock(), MagicMock(time=2.0, total=total, recorded=(begun, None), grown=[])
        run.figures = {"rate": rate, "averaged": 0.5, "headroom": rate}
        panels.draw_figures(layout, run, MagicMock(factor=1.0))
        labels = layout.box().column().label
        counts.append(labels.call_count)
        assert ("Too slow" in labels.call_args.kwargs["text"]) == (rate < 0.9)
    assert counts == [2, 2, 2, 2]  # starting, recording, slow, quick
    run.figures = {"rate": 0.3, "averaged": 0.5, "headroom": 390.0}  # the model would be quick enough
    panels.draw_figures(layout, run, MagicMock(factor=1.0))
    assert labels.call_args.kwargs["text"] == "Machine busy: at most 390× real time"


@pytest.mark.small
def test_too_slow_is_told_a_second_after_the_begin_however_slow(part):
    """At 0.04 of real time the first second of motion is over after 25 s."""
    speed_text = part("ui.live.operators").speed_text
    assert speed_text({"rate": 0.04, "time": 0.04, "averaged": 0.44}, 1.0) == ("0.04 × real time", True)
    assert not speed_text({"rate": 0.04, "time": 0.02, "averaged": 0.2}, 1.0)[1]  # it has only begun
    assert not speed_text({}, 1.0)[1]


def test_energy_from_nowhere_is_told_while_it_runs_and_afterwards(part, scene, make):
    """A box on soft ground that is far too stiff for the step, which no explosion ends: the panel's line, then a
    warning. With short steps neither.
    """
    stone = make.box("Stone", (0.0, 0.0, 0.5), (0.2, 0.2, 0.2))
    stone.condyle.body.enabled, stone.condyle.body.motion = True, "FREE"
    body = part("data.references").Body(stone)
    found = part("making.connections").add_connection(scene, None, body, "ground", np.eye(4), None)
    ground = found.condyle.connection.ground
    ground.contact, ground.stiffness, ground.damping = "SOFT", 1e6, 0.0
    scene.frame_start, scene.frame_end = 1, 49
    for step, grown in ((4e-3, True), (1e-4, False)):
        scene.condyle.simulation.time_step = step
        seen = []

        def look(run, seen=seen):
            layout = MagicMock()
            part("ui.live.panels").draw_figures(layout, run, MagicMock(factor=1.0))
            seen += [each.kwargs["text"] for each in layout.box().column().label.call_args_list]

        Hand(part, scene, [(0.8, look)], duration=1.0).walk()
        assert ("Steps too long: energy grows" in seen) == grown and len(seen) == 2
        told = [each.source for each in part("blender.session").findings if each.code == "energy-gained"]
        assert told == (["Live"] if grown else [])


def test_what_an_undo_takes_from_a_run_is_told_while_it_can_come_back(part, scene, make):
    """The run goes on without it, and nothing of it could be kept: it was told when the run was over."""
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="nothing")
        make.box("Ball", (0, 0, 1.0)).condyle.body.enabled = True
        bpy.data.objects["Ball"].condyle.body.motion = "FREE"
        scene.frame_start, scene.frame_end = 1, 25
        make.update()
        bpy.ops.ed.undo_push(message="Ball")
        told = []
        script = [
            (0.1, lambda _: bpy.ops.ed.undo()),
            (0.2, lambda run: told.append(run.message)),
            (0.3, lambda _: bpy.ops.ed.redo()),
            (0.4, lambda run: told.append(run.message)),
        ]
        Hand(part, bpy.context.scene, script, duration=0.6).walk()
    assert told[0] == "undo took Ball away: Ctrl+Shift+Z, or nothing is kept" and "real time" in told[1]


def test_a_record_tells_what_was_changed_while_it_was_made(part, scene, make, authoring):
    """It was made of what the scene was at its beginning: its rate of frames, and masses."""
    rod = make.box("Rod", (0, 0, 0.5))
    top = np.eye(4)
    top[:3, 3] = (0.0, 0.0, 0.75)
    authoring.add_joint(scene, None, part("data.references").Body(rod), kind="hinge", matrix=top)
    rod.condyle.body.density = 1000.0

    def turn(_run):
        rod.condyle.body.density, scene.render.fps = 2000.0, 60

    Hand(part, scene, [(0.2, turn)], record=True, duration=0.5).walk()
    told = " ".join(each.values["what"] for each in part("handlers.staleness").changes(scene))
    assert "density" in told and "frame rate" in told
    part("jobs.bake").free_bake(scene)
