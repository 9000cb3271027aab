"""Operators that start and stop a live run, record it, and keep its slider values."""

from typing import Any

from bpy.types import Context, Event, Operator

from ...blender import redraw, session
from ...data.live import settings
from ...data.property_options import Change, allowed, counted, need_object_mode
from ...jobs.operator import JobOperator
from ...live import drag, knobs, run_mode
from ...making import chains
from ...reading import missing_joints
from ..asked import flag, number

#: averaging time [s] of a rate that may be reported as too slow, reached about 1 s after the start of a run
SETTLED = 0.43


class Live(Change, JobOperator, Operator):
    """Simulate the scene in real time: change torques, excitations, gravity and ground with sliders, and drag bodies
    with the mouse. Changes nothing unless recorded"""

    bl_idname = "condyle.live"
    bl_label = "Live"
    title = "Live"
    tick = 1.0 / 60.0
    endless = True

    duration: number(
        "Duration",
        "Seconds of motion until the run ends; 0: until it is stopped",
        min=0.0,
        options={"SKIP_SAVE", "HIDDEN"},
    )
    record: flag("Record", "Record from the start", options={"SKIP_SAVE", "HIDDEN"})
    play: flag(
        "Play",
        "Begin again after the scene's last frame, as playback does, unless the animation repeats itself",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        if not any(missing_joints.has_work(item) for item in context.scene.objects):
            return "Nothing to simulate: add a joint, or make a body Simulated"
        return ""

    def execute(self, context: Context) -> set[str]:
        if not self.duration:
            self.report({"ERROR"}, "Without a window the run needs a Duration in seconds")
            return {"CANCELLED"}
        return super().execute(context)

    def steps(self, context: Context) -> Any:
        return run_mode.live(context.scene, self.duration or None, self.record, self.play)

    def modal(self, context: Context, event: Event) -> set[str]:
        try:
            if session.live is not None and self._drags(context, event):
                return {"RUNNING_MODAL"}
        except Exception as error:
            self._request.cancel()
            self._break_off(context, error)
            raise
        before = session.live and session.live.figures
        answer: set[str] = super().modal(context, event)
        if session.live is not None and session.live.figures is not before:
            redraw.views()  # poses, and the panel's figures
        return answer

    def _drags(self, context: Context, event: Event) -> bool:
        """Handle mouse events that grab, drag or release a body; returns whether this was one."""
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            return drag.take(context, event)
        if session.live.grip is None:
            return False
        if event.type == "MOUSEMOVE":
            drag.move(context, event)
            return True
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            session.live.let_go()
            return True
        return False

    def told(self, outcome: "run_mode.LiveReport") -> str:
        if outcome.baked is None:
            tuned = len(knobs.tuned())
            kept = f"; tuned links: {tuned} (Reset takes that back)" if tuned else ""
            return f"Live run of {outcome.seconds:.1f} s ended; the scene is as before{kept}"
        first, last = outcome.frames[0], outcome.frames[-1]
        end = outcome.playback_end
        beyond = f"; the scene plays to frame {end}" if last > end else ""
        return f"Baked frames {first:g} to {last:g} of the run{beyond}"

    def _finish(self, outcome: "run_mode.LiveReport") -> set[str]:
        super()._finish(outcome)
        # without a record nothing has changed, so there is no undo step
        return {"CANCELLED"} if outcome.baked is None else {"FINISHED"}


class StopLive(Operator):
    """End the live run. A recording becomes a bake; without one the scene is unchanged"""

    bl_idname = "condyle.live_stop"
    bl_label = "Stop"

    @classmethod
    def poll(cls, _context: Context) -> bool:
        return allowed(cls, "No live run is active" if session.live is None else "")

    def execute(self, _context: Context) -> set[str]:
        session.live.stop()
        return {"FINISHED"}


class RecordLive(Operator):
    """Start recording the live run; press again to end the recording, and again to replace it by a new one. When the
    run stops, the recording becomes a bake"""

    bl_idname = "condyle.live_record"
    bl_label = "Record"

    @classmethod
    def poll(cls, context: Context) -> bool:
        unsaved = session.live is not None and session.live.has_soft and not context.blend_data.filepath
        why_not = "Save the file first: soft bodies are recorded in a file beside it" if unsaved else ""
        return allowed(cls, why_not) if why_not else StopLive.poll(context)

    def execute(self, _context: Context) -> set[str]:
        first, last = session.live.recorded
        if first is None or last is not None:
            session.live.start_recording()
        else:
            session.live.stop_recording()
        return {"FINISHED"}


class KeepLive(Change, Operator):
    """Copy the slider values of the last live run to the scene: torques, excitations, gravity, ground"""

    bl_idname = "condyle.live_keep"
    bl_label = "Keep Values"

    @classmethod
    def why_not(cls, context: Context) -> str:
        if not knobs.touched(settings(), context.scene):
            why_not = knobs.of_another(settings(), context.scene)
            return why_not or "No slider of the last live run differs from the scene"
        return ""

    def execute(self, context: Context) -> set[str]:
        changed = knobs.keep(settings(), context.scene)
        session.tell(f"{counted(changed, 'value')} of the live run kept", "CHECKMARK")
        return {"FINISHED"}


class ResetChains(Change, Operator):
    """Give the links of chains the frequency, damping, gravity and drag that they had when the live run began"""

    bl_idname = "condyle.live_reset"
    bl_label = "Reset"
    needs = need_object_mode

    @classmethod
    def why_not(cls, context: Context) -> str:
        if session.read_only:
            return "This file was saved by a newer Condyle: its settings can be seen but not changed"
        return "" if knobs.tuned() else "No link of a chain was tuned since the live run began"

    def execute(self, context: Context) -> set[str]:
        found = knobs.tuned()
        for spring, now in found:
            chains.copy(spring.settings, now)
        self.report({"INFO"}, f"{counted(len(found), 'link')} reset")
        return {"FINISHED"}


def speed_text(figures: dict[str, float], wanted: float) -> tuple[str, bool]:
    """Text about the speed, and whether it is slower than `wanted`."""
    rate = figures.get("rate", 0.0)
    slow = rate < 0.9 * wanted and figures.get("averaged", 0.0) > SETTLED
    if abs(rate - 1.0) <= 0.05:
        return "Real time", slow
    return f"{rate:.2f} × real time", slow
