"""Modal work ends whatever happens in it: the add-on must not wait for ever for a job that is no more."""

import time
from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import pytest


@pytest.fixture
def window(part, scene, monkeypatch):
    """A context that stands for a window's; what its timers are, and how often progress was shown."""
    window = SimpleNamespace(removed=[], shown=[])
    monkeypatch.setattr(part("jobs.operator"), "show_progress", lambda: window.shown.append(True))
    manager = SimpleNamespace(
        event_timer_add=lambda *_, **__: "timer",
        event_timer_remove=window.removed.append,
        modal_handler_add=lambda *_: None,
        windows=[],
    )
    window.context = SimpleNamespace(scene=scene, window_manager=manager, window=None, mode="OBJECT")
    return window


@pytest.mark.small
@pytest.mark.parametrize("looked", [True, False])
def test_a_defect_in_a_job_does_not_block_the_addon(part, window, looked):
    jobs, session = part("jobs.operator"), part("blender.session")
    broken = RuntimeError("linked and not editable")
    closed = []

    def poll():
        if looked:  # a live run shows poses there
            raise broken
        return True

    request = SimpleNamespace(poll=poll, wait=lambda: None, result=None, state="done", error=None)

    class Broken(jobs.JobOperator):
        title = "Bake"

        def steps(self, context):
            try:
                yield request
                raise broken
            finally:
                closed.append(True)

        def report(self, kind, text):
            raise AssertionError("a defect is raised, not reported as if it were the user's")

    operator = Broken()
    assert operator.start(window.context) == {"RUNNING_MODAL"}
    with pytest.raises(RuntimeError, match="not editable"):
        operator.modal(window.context, SimpleNamespace(type="TIMER", value="NOTHING"))
    assert session.job is None and window.removed == ["timer"] and closed == [True]
    assert "not editable" in session.message


@pytest.mark.small
def test_progress_is_shown_at_most_a_few_times_a_second(part, window, monkeypatch):
    """Each time draws the sidebar anew, in which Blender does nothing else; what came last is shown in the end."""
    jobs, session = part("jobs.operator"), part("blender.session")
    now = [100.0]
    monkeypatch.setattr(jobs.time, "monotonic", lambda: now[0])
    request = SimpleNamespace(poll=lambda: False, progress=0.0, message="simulating")

    class Long(jobs.JobOperator):
        title = "Bake"

        def steps(self, context):
            yield request

    operator = Long()
    operator.start(window.context)
    for look in range(1, 41):  # two seconds of looks, each of which finds something new
        now[0], request.progress = 100.0 + look * jobs.TICK, look / 80
        operator.modal(window.context, SimpleNamespace(type="TIMER", value="NOTHING"))
    assert session.job.progress == 0.5
    assert 1 + 2.0 / jobs.SHOWN - 1 <= len(window.shown) <= 1 + 2.0 / jobs.SHOWN
    shown = len(window.shown)
    for _ in range(10):  # nothing new
        now[0] += jobs.TICK
        operator.modal(window.context, SimpleNamespace(type="TIMER", value="NOTHING"))
    assert len(window.shown) <= shown + 1
    operator._end(window.context)


@pytest.mark.small
def test_switching_the_addon_off_ends_a_job_whole(part, window, monkeypatch):
    """Blender drops the operator without a word: its timer ran on, its line stayed in the status bar, and a live run
    stood as if it went on when the add-on was switched on again.
    """
    jobs, session, closed = part("jobs.operator"), part("blender.session"), []
    monkeypatch.setattr(jobs, "bpy", SimpleNamespace(context=window.context))

    class Job(jobs.JobOperator):
        title = "Bake"

        def steps(self, context):
            try:
                yield SimpleNamespace(poll=lambda: False, progress=0.0, message="simulating")
            finally:
                closed.append(True)

    operator = Job()
    operator.start(window.context)
    shown = len(window.shown)
    jobs.end()
    assert session.job is None and closed == [True]
    assert window.removed == ["timer"] and len(window.shown) == shown + 1
    operator.cancel(window.context)  # Blender may call it yet
    jobs.end()
    assert window.removed == ["timer"]


@pytest.mark.small
@pytest.mark.parametrize("endless", [False, True])
def test_a_job_waits_for_the_end_of_an_edit_mode_and_of_a_render(part, window, monkeypatch, endless):
    """Its step of undo would hold the mesh that is edited, and an undo leave what it changed; poses are not evaluated
    there. A render reads the scene that a step would take to other frames. A live run that has begun evaluates nothing.
    """
    jobs, session = part("jobs.operator"), part("blender.session")
    request = SimpleNamespace(poll=lambda: True, wait=lambda: None, result=None, state="done", error=None)
    written = []

    class Job(jobs.JobOperator):
        title = "Bake"

        def steps(self, context):
            yield request
            written.append(True)

        def report(self, kind, text):
            pass

    Job.endless = endless
    operator, timer = Job(), SimpleNamespace(type="TIMER", value="NOTHING")
    operator.start(window.context)
    window.context.mode = "EDIT_MESH"
    assert operator.modal(window.context, timer) == {"PASS_THROUGH"} and not written
    assert "edit mode" in session.job.line
    for job in ("RENDER", "OBJECT_BAKE"):
        busy = SimpleNamespace(app=SimpleNamespace(is_job_running=job.__eq__))
        with monkeypatch.context() as during:
            during.setattr(jobs, "bpy", busy)
            assert operator.modal(window.context, timer) == {"PASS_THROUGH"} and not written
        assert "rendered" in session.job.line
    if endless:
        monkeypatch.setattr(session, "live", object())
    else:
        window.context.mode = "POSE"
    assert operator.modal(window.context, timer) == {"FINISHED"} and written == [True]


@pytest.mark.small
@pytest.mark.parametrize(
    ("looks", "done"),
    [
        ([0.05, 0.10, 0.15], 0.15),  # nothing is drawn that takes long
        ([k / 64 for k in range(1, 40)], 0.125),  # other timers' events come, too
        ([0.05, 0.30, 0.55, 0.60, 0.65, 0.70], 0.65),  # two slow redraws
        ([0.25 * k for k in range(1, 20)], 2.25),  # a view that is never done
    ],
)
def test_computing_begins_when_the_views_are_drawn(part, monkeypatch, looks, done):
    """Else both would be at the processor at once, and each redraw would take longer."""
    client = part("blender.compute_process")
    drawn, now = client.Drawn(), [100.0]
    monkeypatch.setattr(client.time, "monotonic", lambda: now[0])
    for look in looks:
        now[0] = 100.0 + look
        if drawn.poll():
            break
    assert now[0] == pytest.approx(100.0 + done, abs=1e-9)


def test_what_takes_blender_long_is_said_before(part, scene, make, monkeypatch):
    """The line stood at 100 % simulating, as if it hung; a small bake is not held up."""
    stone = make.box("Stone", (0.0, 0.0, 1.0))
    stone.condyle.body.enabled, stone.condyle.body.motion = True, "FREE"
    scene.frame_start, scene.frame_end = 1, 12
    client = part("blender.compute_process")
    for most, said in ((part("jobs.bake").MANY_KEYS, []), (11, ["writing keys"])):
        monkeypatch.setattr(part("jobs.bake"), "MANY_KEYS", most)
        steps, heard = part("jobs.bake").bake(scene), []
        try:
            job = next(steps)
            while True:
                heard += [job.message] * isinstance(job, client.Said)
                while not job.poll():
                    time.sleep(0.02)
                job = client.advance(steps, job)
        except StopIteration:
            assert heard == said and part("baked.temporarily").is_baked(stone)


@pytest.mark.small
def test_the_end_of_the_compute_process_is_told_in_a_line(part, scene, ph, capsys):
    """With the trace of an abort it filled the panel and the window; the console has all of it."""
    worker_error = part("blender.physics_access").part("worker.client").WorkerError
    trace = ["Assertion `entry == NULL' failed.", *(f"  frame {number}" for number in range(40))]
    words = "\n".join(trace)
    error = worker_error(
        "WorkerDied", f"the compute process ended unexpectedly (signal 6):\n{words}", {"stderr": words}
    )
    told = part("jobs.operator")._last_word(error)
    assert (
        told.startswith("the compute process ended unexpectedly (signal 6): Assertion") and "\n" not in told
    )
    assert "frame 39" in capsys.readouterr().err


@pytest.mark.small
def test_escape_stops_what_is_played_before_it_stops_a_job(part, window):
    """It took a bake of minutes with it, and the animation played on."""
    jobs, session = part("jobs.operator"), part("blender.session")
    request = MagicMock(progress=0.5, message="", error=None)
    request.poll.return_value = False

    class Long(jobs.JobOperator):
        title = "Bake"

        def steps(self, context):
            yield request

        def report(self, kind, text):
            """What Blender's own does."""

    operator, escape = Long(), SimpleNamespace(type="ESC", value="PRESS")
    assert operator.start(window.context) == {"RUNNING_MODAL"}
    screen = SimpleNamespace(is_animation_playing=True)
    window.context.window_manager.windows = [SimpleNamespace(screen=screen)]
    assert operator.modal(window.context, escape) == {"PASS_THROUGH"} and session.job is not None
    screen.is_animation_playing = False
    assert operator.modal(window.context, escape) == {"CANCELLED"} and session.job is None


@pytest.mark.small
def test_a_job_that_ends_with_its_file_is_told_in_the_next(part, scene):
    """Nothing said that the bake which was under way is no more."""
    session = part("blender.session")
    session.job = SimpleNamespace(title="Bake")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert session.job is None and session.message == "Bake was cancelled, because a file was opened"
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert session.message == ""
