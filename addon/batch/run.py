"""Bakes many shots in a few processes; finished shots are kept however the run ends.

Children only write hidden files beside the outputs; only this process moves them into place, each with its record. So
a kill of any of these processes, at any moment, leaves every output complete or absent.
"""

from __future__ import annotations

import secrets
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..blender import physics_access
from . import records, report
from .child import Child, Told
from .console import FROM_OUTSIDE
from .job_file import Shot, on_a_line
from .records import locked
from .remote import Remote

#: shots that a process bakes before a new one replaces it, which frees the memory that Blender leaks
MOST_SHOTS = 50
#: time [s] to wait for this process's own signal after a signal has ended a child
TOGETHER = 1.0


@dataclass(frozen=True)
class Options:
    """Options of a batch.

    Attributes:
        at_once: children at a time.
        overwrite: bake finished shots again, and replace outputs that no batch made.
        dry_run: only open and check each shot, and list those to bake.
        part: of the shots of several batches that write into the same folders, as "2-of-5"; empty: all.
        client: of the Dask cluster whose workers bake; None: this machine does.
    """

    at_once: int
    overwrite: bool = False
    dry_run: bool = False
    part: str = ""
    client: Any = None


class _Ended(Exception):
    """A shot ended without its output in place: state and note."""

    def __init__(self, state: str, note: str, told: Told | None = None) -> None:
        super().__init__(note)
        self.state, self.note, self.told = state, note, told or Told()


class Run:
    def __init__(self, shots: list[Shot], options: Options, reporter: physics_access.Reporter) -> None:
        self._shots, self._options, self._reporter = shots, options, reporter
        self._stopping = threading.Event()
        self._outcomes: dict[int, report.Outcome] = {}
        self._children: set[Child | Remote] = set()
        self._own = threading.local()  # each thread's child
        self._guard = threading.Lock()
        self._begun = 0
        self._fractions: dict[int, float] = {}  # done of each shot that is baked now

    def bake(self, told: Callable[[list[report.Outcome]], object] = lambda _: None) -> list[report.Outcome]:
        """Bake every shot that is not done; returns the outcomes in the order of the shots.

        Args:
            told: called with all outcomes, also of unfinished shots, at the start and after each shot.

        Raises:
            FormatError: an output folder cannot be written to, or another batch has locked it.
        """
        with ExitStack() as locks:
            if not self._options.dry_run:
                for folder in sorted({shot.target.parent for shot in self._shots}):
                    locks.enter_context(locked(folder, self._options.part))
            return self._bake(told)

    def _bake(self, told: Callable[[list[report.Outcome]], object]) -> list[report.Outcome]:
        pool = ThreadPoolExecutor(self._options.at_once)
        waiting: dict[Future[report.Outcome], int] = {}
        try:
            told(self._so_far())
            waiting |= {pool.submit(self._outcome, number): number for number in range(len(self._shots))}
            while waiting:
                # shows progress in between; on Windows a wait without a timeout cannot be interrupted
                for each in wait(waiting, 0.2, FIRST_COMPLETED).done:
                    number = waiting.pop(each)
                    self._outcomes[number] = each.result()
                    self._fractions.pop(number, None)
                    self._tell(self._outcomes[number])
                    told(self._so_far())
                self._show()
        except KeyboardInterrupt:
            with suppress(KeyboardInterrupt):  # a second one stops waiting
                self._stop()
                pool.shutdown(cancel_futures=True)
            ended = {number: each for each, number in waiting.items() if each.done() and not each.cancelled()}
            self._outcomes |= {number: each.result() for number, each in ended.items()}
        return self._so_far()

    def _so_far(self) -> list[report.Outcome]:
        return [
            self._outcomes.get(number, report.Outcome(shot, report.INTERRUPTED, "not finished"))
            for number, shot in enumerate(self._shots)
        ]

    def _show(self) -> None:
        running = dict(sorted(self._fractions.items()))
        share = (len(self._outcomes) + sum(running.values())) / len(self._shots)
        names = ", ".join(self._shots[number].name for number in running)
        self._reporter.progress(share, f"{len(self._outcomes)} of {len(self._shots)} {names}".rstrip())

    def _tell(self, outcome: report.Outcome) -> None:
        self._reporter.event("shot", **report.summary(outcome))
        if outcome.state not in report.GOOD:
            self._reporter.error(f"{outcome.shot.name}: {outcome.state}: {on_a_line(outcome.note)}")
        for warning, code in zip(outcome.warnings, outcome.codes):
            self._reporter.warning(f"{outcome.shot.name}: {warning}", code=code)

    def _stop(self) -> None:
        with self._guard:
            self._stopping.set()
            for child in self._children:
                child.end()

    def _outcome(self, number: int) -> report.Outcome:
        """Bake one shot if it is not done."""
        shot, began = self._shots[number], time.monotonic()
        with self._guard:
            self._begun += 1
        try:
            state, note, told = self._try(number, shot)
        except _Ended as end:
            state, note, told = end.state, end.note, end.told
        except (OSError, physics_access.physics().CondyleError) as error:
            state, note, told = report.FAILED, str(error), Told()
        except Exception as error:  # a bug: reported like any failure; other shots continue
            traceback.print_exc()
            state, note, told = report.FAILED, f"{type(error).__name__}: {error}", Told()
        if -told.code in FROM_OUTSIDE:  # the signal may reach this process after the child
            self._stopping.wait(TOGETHER)
        if self._stopping.is_set() and state not in report.GOOD:
            state, note = report.INTERRUPTED, "not finished"
        if self._begun == len(self._shots):  # no shot is left for this thread
            self._dismiss()
        seconds = round(time.monotonic() - began, 3)
        return report.Outcome(shot, state, note, seconds, told.scenes, told.warnings, told.codes)

    def _try(self, number: int, shot: Shot) -> tuple[str, str, Told]:
        if not self._options.dry_run:
            records.sweep(shot.target)  # also for finished shots: a killed --overwrite leaves files, too
        source_digest = records.digest(shot.source)
        record = records.load(shot.target)
        reason = records.reason_to_bake(shot, source_digest, record)
        if not reason and not self._options.overwrite:
            return report.KEPT, "done before", Told(codes=list((record or {}).get("codes", [])))
        if not self._options.overwrite and not records.is_ours(shot.target, record):
            raise _Ended(
                report.FAILED,
                f"{shot.target} was not written by a batch, or was changed since; move it away, or give --overwrite",
            )
        if self._options.dry_run:
            told = self._follow(number, shot, None)
            return report.WOULD, reason or "--overwrite", told
        part = records.part_path(shot.target, secrets.token_hex(4))
        try:
            told = self._follow(number, shot, part)
            records.publish(part, shot, self._facts(shot, source_digest, told))
        finally:
            records.sweep(shot.target)
        return report.BAKED, reason, told

    def _child(self) -> Child | Remote:
        """This thread's process; a new one where it has none that lives, or that has baked MOST_SHOTS."""
        child: Child | Remote | None = getattr(self._own, "child", None)
        if child is not None and (not child.lives or child.baked >= MOST_SHOTS):
            self._dismiss()
            child = None
        with self._guard:
            if self._stopping.is_set():
                raise _Ended(report.INTERRUPTED, "not started")
            if child is None:
                client = self._options.client
                self._own.child = child = Child() if client is None else Remote(client)
                self._children.add(child)
        return child

    def _dismiss(self) -> None:
        """Let this thread's process go, if it has one."""
        child: Child | Remote | None = getattr(self._own, "child", None)
        if child is not None:
            self._own.child = None
            child.close()
            with self._guard:
                self._children.discard(child)

    def _follow(self, number: int, shot: Shot, part: Path | None) -> Told:
        """Let a process bake a shot; _Ended if that fails."""
        child, late = self._child(), threading.Event()
        used = child.baked > 0
        clock = threading.Timer(shot.timeout or 0.0, lambda: (late.set(), child.end()))
        if shot.timeout is not None:
            clock.start()
        try:
            told = child.bake(shot, part, lambda fraction: self._fractions.update({number: fraction}))
        finally:
            clock.cancel()
        if late.is_set():
            opening = "" if told.blender else ": the file or one of its libraries was still being opened"
            raise _Ended(report.TIMED_OUT, f"not done in {shot.timeout:g} s{opening}", told)
        if used and not told.ended and not self._stopping.is_set():
            return self._follow(number, shot, part)  # it may have been another shot's fault: in a new process
        if told.empty and shot.may_be_empty:
            raise _Ended(report.SKIPPED, "nothing to simulate", told)
        _judge(told, part)
        return told

    def _facts(self, shot: Shot, source_digest: str, told: Told) -> dict[str, Any]:
        """Entries of a record besides settings and output."""
        return {
            "blender": told.blender,
            "input": {"path": str(shot.source), "sha256": source_digest},
            "libraries": told.libraries,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "scenes": told.scenes,
            "warnings": told.warnings,
            "codes": told.codes,
        }


def _judge(told: Told, part: Path | None) -> None:
    """_Ended if a child failed."""
    reporting = physics_access.part("reporting")
    last = " | ".join(told.lines)
    note = "; ".join(told.errors) or last
    if told.code == reporting.EXIT_DIVERGED:
        raise _Ended(report.DIVERGED, note, told)
    if told.code != reporting.EXIT_DONE:
        if told.errors and told.code > 0:
            raise _Ended(report.FAILED, note, told)
        code = f"signal {-told.code}" if told.code < 0 else f"exit code {told.code}"
        raise _Ended(report.CRASHED, f"{code}{': ' if last else ''}{last}", told)
    if part is not None and not part.is_file():
        raise _Ended(report.CRASHED, f"ended without an output{': ' if last else ''}{last}", told)
