"""Long work in the window: a modal operator walks a task while the compute process computes and Blender lives on."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.types import Context, Event

from ..baking import solver_statistics
from ..blender import compute_process, mixins, physics_access, redraw, session
from . import bake, precompile

TICK = 0.05  # seconds between two looks at the job
LONGEST_WORD = 160  # letters of what the compute process said at its end
SHOWN = 0.25  # seconds at least between two times that progress is shown: each one draws the sidebar anew


@dataclass
class Job:
    """The work under way, for the panel and the status bar."""

    title: str
    began: float
    progress: float = 0.0
    message: str = ""
    cancel_wanted: bool = False
    #: it has no end of its own, so that no progress says how far it is
    endless: bool = False
    #: its generator, and the window's timer that walks it
    task: Any = None
    timer: Any = None

    @property
    def heading(self) -> str:
        """Title, and how far it is, except while it compiles: that has no share."""
        compiles = self.message.startswith("compiling") and not self.progress
        return self.title if self.endless or compiles else f"{self.title} {self.progress:.0%}"

    @property
    def line(self) -> str:
        """Heading, activity, and how it ends."""
        return (
            f"{self.heading}: {self.activity}   (Esc: {'end it, keep nothing' if self.endless else 'cancel'})"
        )

    @property
    def activity(self) -> str:
        """What goes on."""
        what = self.message or "waiting for the compute process"
        if not what.startswith("compiling"):
            return what
        return f"{what}: {time.monotonic() - self.began:.0f} s (first use only)"


class JobOperator(mixins.Operator):
    """Base of operators whose work is a task of the compute process; they change data only when it is all done.

    Called from a script or in the background it waits; from the window it is modal: everything else goes on,
    Esc cancels.
    """

    title = ""
    #: where it waits: for so long; None: until it is done
    seconds: float | None = None
    #: seconds between two looks at the job
    tick = TICK
    endless = False

    def steps(self, context: Context) -> Any:
        """The task, a generator (see `jobs.bake`)."""
        raise TypeError(f"{type(self).__name__} has no task")

    def told(self, outcome: bake.BakeReport | None) -> str:
        """The line that says what was done."""
        return f"{self.title} done"

    def shown(self, outcome: Any) -> str:
        """What the panel's line says of it: not what the list of warnings has."""
        return self.told(outcome)

    def execute(self, context: Context) -> set[str]:
        self._scene = context.scene.session_uid
        try:
            outcome = compute_process.run(self.steps(context), seconds=self.seconds)
        except physics_access.physics().CondyleError as error:
            return self._fail(error)
        return self._finish(outcome)

    def invoke(self, context: Context, _event: Event) -> set[str]:
        return self.execute(context) if bpy.app.background else self.start(context)

    def start(self, context: Context) -> set[str]:
        """Begin, and be modal from now on."""
        precompile.give_way()
        self._scene, self._task = context.scene.session_uid, self.steps(context)
        try:
            self._request = compute_process.advance(self._task, None)
        except StopIteration as end:
            return self._finish(end.value)
        except physics_access.physics().CondyleError as error:
            return self._fail(error)
        manager = context.window_manager
        self._timer = manager.event_timer_add(self.tick, window=context.window)
        session.job = Job(self.title, time.monotonic(), 0.0, "reading the scene", endless=self.endless)
        session.job.task, session.job.timer = self._task, self._timer
        self._shown, self._line = session.job.began, session.job.line
        session.tell("", scene_uid=self._scene)
        manager.modal_handler_add(self)
        show_progress()
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        job = session.job
        escaped = event.type == "ESC" and event.value == "PRESS" and not _plays(context)
        if job is None or job.cancel_wanted or escaped:
            return self._stop(context)
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            if not self._request.poll():
                job.progress, job.message = self._request.progress, self._request.message
                self._show(context, job)
                return {"PASS_THROUGH"}
            if obstacle := _obstacle(context):
                job.message = f"waiting until {obstacle}"
                self._show(context, job)
                return {"PASS_THROUGH"}
            self._request = compute_process.advance(self._task, self._request)
        except StopIteration as end:
            self._end(context)
            return self._finish(end.value)
        except physics_access.physics().CondyleError as error:
            self._end(context)
            return self._fail(error)
        except Exception as error:
            self._break_off(context, error)
            raise
        return {"PASS_THROUGH"}

    def _show(self, context: Context, job: Job) -> None:
        """Show what is new, if the last time is long enough ago."""
        now = time.monotonic()
        if now - self._shown >= SHOWN and job.line != self._line:
            self._shown, self._line = now, job.line
            show_progress()

    def _break_off(self, context: Context, error: Exception) -> None:
        """After a defect, which is told in full: it must not leave the add-on waiting for ever."""
        self._task.close()
        self._end(context)
        session.tell(f"{self.title} failed: {error}", "ERROR", self._scene)

    def cancel(self, context: Context) -> None:
        """Blender ends the operator, because a file is loaded or the window closes."""
        if session.job is not None:  # else `end` was before it
            self._stop(context)

    def _stop(self, context: Context) -> set[str]:
        self._request.cancel()
        self._task.close()
        self._end(context)
        session.tell(f"{self.title} cancelled", "CANCEL", self._scene)
        self.report({"INFO"}, f"{self.title} cancelled: nothing was changed")
        return {"CANCELLED"}

    def _end(self, context: Context) -> None:
        session.job = None
        context.window_manager.event_timer_remove(self._timer)
        show_progress()

    def _finish(self, outcome: Any) -> set[str]:
        session.tell(self.shown(outcome), "CHECKMARK", self._scene)
        self.report({"INFO"}, self.told(outcome))
        return {"FINISHED"}

    def _fail(self, error: Any) -> set[str]:
        scene = next((each for each in bpy.data.scenes if each.session_uid == self._scene), None)
        text = str(error) if scene is None else solver_statistics.failure(scene, error).text
        if getattr(error, "kind", "") == "WorkerDied":
            text = f"{_last_word(error)}. Nothing was changed; the next press starts it again"
        session.tell(text, "ERROR", self._scene)
        self.report({"ERROR"}, text)
        return {"CANCELLED"}


def _last_word(error: physics_access.WorkerError) -> str:
    """How the compute process ended, and the line that says most of what it wrote; all of it goes to the console, as it
    may be a page.
    """
    text = str(error).partition(":\n")[0]
    lines = [line.strip() for line in str(error.details.get("stderr", "")).splitlines() if line.strip()]
    if not lines:
        return text
    print(physics_access.part("errors").shown(f"Condyle: {error}", 2**16), file=sys.stderr)
    telling = next((line for line in lines if "error" in line.lower() or "assert" in line.lower()), lines[-1])
    return f"{text}: {telling[:LONGEST_WORD]} (more in the system console)"


def _obstacle(context: Context) -> str:
    """What must happen before the scene may be taken to other frames or be changed; empty: nothing."""
    if bpy.app.is_job_running("RENDER") or bpy.app.is_job_running("OBJECT_BAKE"):
        return "Blender has rendered"
    is_evaluated = session.live is not None or context.mode in session.MODES_UNDONE_WHOLE
    return "" if is_evaluated else "you leave the edit mode (Tab)"


def _plays(context: Context) -> bool:
    """Whether the animation is played in any window: Esc is the key that stops that, and comes by here first."""
    return any(window.screen.is_animation_playing for window in context.window_manager.windows)


def end() -> None:
    """End the job under way without its operator, to which no event comes any more: the add-on is switched off."""
    job, session.job = session.job, None
    if job is None or job.timer is None:
        return
    job.task.close()
    bpy.context.window_manager.event_timer_remove(job.timer)
    show_progress()


def show_progress() -> None:
    """Status bar and sidebars show what goes on, or that nothing does."""
    job = session.job
    text = None if job is None else job.line
    for workspace in bpy.data.workspaces:
        workspace.status_text_set(text)
    redraw.sidebars()
