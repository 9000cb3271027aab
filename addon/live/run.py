"""A live run under way, as the add-on holds it: what is heard from the compute process, said to it, shown and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from bpy.types import Scene

from ..animation import inputs as forcing
from ..baking import solver_statistics
from ..blender import physics_access, units
from ..data import findings, live, references
from ..data.references import Handle
from ..jobs.shot import Plan
from . import knobs, playback
from .display import Display
from .frames import Playhead

TOLD_INTERVAL = 0.25  # s of motion between two words about the speed
LETTING_GO = 0.5  # of the critical damping of the body alone: how the mouse's spring is damped
BEND = 100.0  # 1/s^2: stiffness of the mouse's spring for each kilogram of all bodies that move


class Run:
    """A job as `compute_process` knows jobs, that lives as long as the live run.

    Attributes:
        figures: latest of the run (see physics' ``live``); empty until the first picture.
        has_soft: whether soft bodies run.
        recorded: times [s] from and to which it is recorded: (None, None), (from, None) or (from, to).
    """

    def __init__(
        self,
        job: physics_access.Job,
        scene: Scene,
        ready: Plan,
        seconds: float | None = None,
        playhead: Playhead | None = None,
    ) -> None:
        """A job that has been submitted; seconds: of motion after which it ends by itself. playhead: of `Display`."""
        self.job = job
        self.figures: dict[str, float] = {}
        self.recorded: tuple[float | None, float | None] = (None, None)
        self.poses: np.ndarray | None = None
        self.grip: tuple[int, np.ndarray, np.ndarray] | None = None  # body, point in it, target [m]
        self.message = ""
        self.progress = 0.0
        self.error: Any = None
        self._model, self._muscles = ready.read.model, ready.read.muscles
        self._soft, self.has_soft = ready.read.soft, bool(ready.read.soft)
        self._handles = {entry.handle: entry.index for entry in ready.read.bodies}
        self._reader = knobs.Reader(live.settings(), ready.read)
        self.playhead = playhead
        self._display = Display(scene, ready.read, ready.frames, playhead)
        self._seen: Any = None
        self._seconds = seconds
        self._least = 2.0 / units.frames_per_second(
            scene
        )  # of a record: it holds two samples wherever it begins
        self._told = -TOLD_INTERVAL
        self._gone = ""  # what an undo took away of it, in words
        self._names = {entry.handle: entry.name for entry in ready.read.bodies}
        self._round: tuple[float, Callable[[], physics_access.Job]] | None = None
        self._rounds = 0.0  # seconds of motion of the rounds before this one
        self._stopping = self._closed = False
        self._turned: list[tuple[float, dict[str, float]]] = []  # times and inputs that the sliders said

    @property
    def state(self) -> str:
        """As of a job."""
        return "failed" if self.error is not None else str(self.job.state)

    @property
    def result(self) -> physics_access.Answer:
        """As of a job."""
        return self.job.result

    @property
    def time(self) -> float:
        """Seconds of motion so far, of this round."""
        return self.figures.get("time", 0.0)

    @property
    def total(self) -> float:
        """Seconds of motion so far, of all rounds."""
        return self._rounds + self.time

    @property
    def grown(self) -> list[findings.Finding]:
        """A finding where energy has come from nowhere."""
        return solver_statistics.from_nowhere(self.figures)

    def poll(self) -> bool:
        """Hear, show, and say what was turned; True where the run is over."""
        if self.error is not None:
            return True
        over = bool(self.job.poll())
        if self.job.state == "failed":
            self.error = self.job.error
        if over:
            return True
        try:
            self._follow()
        except physics_access.physics().CondyleError as error:  # it cannot be shown: it ends
            self.job.cancel()
            self.error = error
            return True
        return False

    def _follow(self) -> None:
        if self.job.news is not None and self.job.news is not self._seen:
            first = self._seen is None
            self._seen = self.job.news
            self.figures, self.poses = self._seen.header, self._seen.arrays["poses"]
            if first:  # while kernels were compiled, what is keyed was played
                playback.stop()
            if self._round is None or self.time <= self._round[0]:  # else the next round begins
                self._display.show(self.poses, self.time, self._seen.arrays.get("nodes"))
            self._speak()
        if not self.total:  # of soft bodies the first step compiles
            self.message, self.progress = self.job.message, self.job.progress
        self.hear()
        if self._seconds is not None and self.total >= self._seconds:
            self.stop()
        elif self._round is not None and self.time >= self._round[0]:
            self._begin_again()

    def play_rounds(self, seconds: float, submit: Callable[[], physics_access.Job]) -> None:
        """Begin again, by another job, after each so many seconds of motion, until something is recorded."""
        self._round = seconds, submit

    def _begin_again(self) -> None:
        """The next round: of the same model, with what sliders say; a record ends with its round."""
        if self._round is None or self._stopping:
            return
        if self.recorded[0] is not None:
            self.stop()
            return
        self.job.cancel()
        self._rounds += self.time
        self.figures, self._told, self._turned = self.figures | {"time": 0.0}, -TOLD_INTERVAL, []
        self.job, self._seen = self._round[1](), self.job.news
        self._reader.forget()

    def hear(self) -> None:
        """Say what sliders say that was not said yet: where one is turned, not at the next look only."""
        changes = self._reader.changes(live.settings())
        if changes and not (self._stopping or self._closed):
            self.job.tell(changes)
            self._turned.append((self.time, changes.get("inputs", {})))

    def _speak(self) -> None:
        if self.total and self.time - self._told >= TOLD_INTERVAL:
            self._told = self.time
            self.message = self._gone or f"{self.figures['rate']:.2f} × real time"

    def look(self) -> None:
        """Whether an undo has taken away what the run moves: it is said while it can come back."""
        gone = [name for handle, name in self._names.items() if handle.find_in(bpy.data) is None]
        muscles = ((each.name, references.object_by_session_uid(each.session_uid)) for each in self._muscles)
        gone += [name for name, item in muscles if item is None or not item.condyle.muscle.enabled]
        soft = ((each.name, references.object_by_session_uid(each.session_uid)) for each in self._soft)
        gone += [name for name, item in soft if item is None or not item.condyle.soft.enabled]
        self._gone = f"undo took {', '.join(gone)} away: Ctrl+Shift+Z, or nothing is kept" if gone else ""
        self._told = -TOLD_INTERVAL

    def inputs(
        self, given: physics_access.Table | None, times: np.ndarray, excited: np.ndarray
    ) -> tuple[Any, np.ndarray]:
        """The `Table` of forces and inputs that drove the run at times (T,) [s], and how the muscles were excited
        (T, muscles): what was given (a `Table` or None) and what controllers said, and from the picture on at which a
        slider was turned what that says.
        """
        model = self._model
        values = forcing.sampled(model, given, times)
        names = [*model.coordinate_names, *model.input_names]
        columns = {k: names.index(each.excitation) for k, each in enumerate(self._muscles) if each.excitation}
        for k in (k for k, each in enumerate(self._muscles) if each.controlled is not None):
            values[:, columns[k]] = excited[:, k]
        for since, said in self._turned:
            for name, value in said.items():
                values[times >= since, names.index(name)] = value
        driven = excited.copy()
        for k, column in columns.items():
            driven[:, k] = values[:, column]
        return physics_access.physics().Table(times, values), driven

    def start_recording(self) -> None:
        """Keep what comes from now on."""
        self.recorded = (self.time, None)

    def stop_recording(self) -> None:
        """Keep what came until now."""
        if self.recorded[0] is not None and self.recorded[1] is None:
            self.recorded = (self.recorded[0], self.time)

    def stop(self) -> None:
        """End the run; what is recorded comes back, but for less than two frames."""
        if self._stopping:
            return
        self._stopping = True
        self.stop_recording()
        first, last = self.recorded
        kept = first is not None and last is not None and last - first >= self._least
        self.job.tell({"stop": {"from": first, "to": last} if kept else None})

    def cancel(self) -> None:
        """End the run at once; nothing is kept."""
        self.job.cancel()

    def number_of(self, handle: Handle) -> int | None:
        """Number in the model of a body; None where it is held."""
        return self._handles.get(handle)

    def take(self, body: int, point: np.ndarray) -> None:
        """The mouse takes a body of the model at a point (3,) in its frame [m]."""
        self.grip = (body, point, self.world_point(body, point))

    def world_point(self, body: int, point: np.ndarray) -> np.ndarray:
        """Where a point (3,) of a body is in the world now [m]."""
        pose = self.poses[body] if self.poses is not None else np.eye(4)
        return pose[:3, :3] @ point + pose[:3, 3]

    def pull_to(self, target: np.ndarray) -> None:
        """The mouse is at a point (3,) of the world [m]."""
        if self.grip is None:
            return
        body, point, _ = self.grip
        self.grip = (body, point, target)
        own = self._model.bodies[body].mass
        all_of_them = sum(each.mass for each in self._model.bodies)
        stiffness = live.settings().pull * BEND * all_of_them
        grip = {
            "body": self._model.body_names[body],
            "point": point.tolist(),
            "target": target.tolist(),
            "stiffness": stiffness,
            "damping": 2.0 * LETTING_GO * float(np.sqrt(stiffness * own)),
        }
        self.job.tell({"grip": grip})

    def let_go(self) -> None:
        if self.grip is not None:
            self.grip = None
            self.job.tell({"grip": None})

    def close(self) -> None:
        """The scene as it was. Once: where the add-on is switched off meanwhile, what was put back knows it no more."""
        if not self._closed:
            self._closed = True
            self._display.put_back()
