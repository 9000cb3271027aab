"""The command ``batch``: reads and checks the jobs, runs them, and reports the outcomes."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..blender import physics_access
from . import console, job_file, settings_overrides
from . import run as batch
from .remote import connect
from .report import GOOD, INTERRUPTED, SKIPPED, Outcome, doubtful, report, table


def run_batch(options: argparse.Namespace, register: Callable[[], None]) -> int:
    """Run a batch; returns the exit code. Imports and registers Blender only if there are settings to check."""
    reporting = physics_access.part("reporting")
    reporter = reporting.Reporter(quiet=options.quiet, log_json=options.log_json)
    try:
        shots = _shots(options, register)
    except physics_access.physics().FormatError as error:
        reporter.error(error)
        return int(reporting.EXIT_USAGE)
    try:
        return _run(shots, options, reporter)
    except physics_access.physics().FormatError as error:
        reporter.error(error)
        return int(reporting.EXIT_FAILED)
    except KeyboardInterrupt:  # a second interrupt during the clean-up of the first
        reporter.error("interrupted; repeat the command to continue")
        return int(reporting.EXIT_INTERRUPTED)


def _shots(options: argparse.Namespace, register: Callable[[], None]) -> list[job_file.Shot]:
    """The shots to bake, checked as far as possible without opening a file."""
    if options.at_once is not None and options.at_once < 1:
        raise _wrong(f"--at-once {options.at_once}: must be 1 or more processes")
    if options.report is not None:
        folder = job_file.real(options.report).parent
        if not os.path.isdir(folder):
            raise _wrong(f"--report {options.report}: no such folder: {folder}")
        if os.path.isdir(options.report) or not os.access(folder, os.W_OK):
            raise _wrong(f"--report {options.report}: this file cannot be written")
    first, step = _split(options.split)
    given: dict[str, Any] = {}
    for text in options.set:
        setting = job_file.parse_setting(text)
        known = ", ".join(settings_overrides.SECTIONS)
        for key in setting.keys() - settings_overrides.SECTIONS.keys():
            raise _wrong(f"--set {text}: unknown key {key!r}; use one of {known}")
        given = settings_overrides.merged(given, setting)
    for key in ("scene", "frames", "timeout"):
        if getattr(options, key) is not None:
            given[key] = getattr(options, key)
    if not os.path.exists(options.source):
        raise _wrong(f"no such file or folder: {options.source}")
    shots = job_file.read(options.source, given, options.out, options.recursive)[first::step]
    for shot in shots:
        if shot.settings:
            _with_blender(register)
            try:
                settings_overrides.check(shot.settings)
            except physics_access.physics().FormatError as error:
                raise _wrong(f"{shot.name}: {error}") from None
    return shots


def _split(text: str | None) -> tuple[int, int]:
    """Index of the first shot and distance to the next of ``N/M``; all shots for None."""
    if text is None:
        return 0, 1
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise _wrong(f"--split {text}: must be N/M with 1 <= N <= M, as 2/5")
    return int(found[1]) - 1, int(found[2])


def _with_blender(register: Callable[[], None]) -> None:
    """Register the add-on in Blender, whose property definitions are needed to check settings."""
    if "bpy" not in sys.modules:
        with console.silenced():
            register()


def _run(shots: list[job_file.Shot], options: argparse.Namespace, reporter: physics_access.Reporter) -> int:
    reporting = physics_access.part("reporting")
    client = connect(options.dask) if options.dask else None
    threads = sum(client.nthreads().values()) if client else physics_access.part("processors").available()
    reporter.start(f"batch of {len(shots)}")
    part = options.split.replace("/", "-of-") if options.split else ""
    how = batch.Options(options.at_once or threads, options.overwrite, options.dry_run, part, client)
    run = batch.Run(shots, how, reporter)

    def write(so_far: list[Outcome]) -> str:
        return _write_report(options.report, report(so_far)) if options.report is not None else ""

    outcomes = run.bake(write)  # writes a report after each shot, so that it survives a kill
    counts, problem = report(outcomes)["counts"], write(outcomes)
    if problem:
        reporter.error(problem)
    reporter.done(**{state.replace(" ", "_"): count for state, count in counts.items()})
    if not options.quiet and not options.log_json:
        reporting.write(f"{table(outcomes)}\n", sys.stdout)
    states = {each.state for each in outcomes}
    if states == {SKIPPED} and options.split is None:  # probably the wrong folder
        reporter.error(f"{options.source}: none of its .blend files has anything to simulate")
        return int(reporting.EXIT_FAILED)
    if INTERRUPTED in states:
        return int(reporting.EXIT_INTERRUPTED)
    if not states.issubset(GOOD):
        return int(reporting.EXIT_FAILED)
    if options.fail_on_diagnosis and any(doubtful(each.codes) for each in outcomes):
        return int(reporting.EXIT_DOUBTFUL)
    return int(reporting.EXIT_FAILED if problem else reporting.EXIT_DONE)


def _write_report(path: Path, content: dict[str, Any]) -> str:
    """Write the report; returns an error message, or an empty text."""
    files = physics_access.part("io.files")
    try:
        with files.write_atomically(path) as temporary:
            temporary.write_text(files.format_json(content) + "\n", "utf-8")
    except OSError as error:
        return f"{path} cannot be written: {error.strerror or error}"
    return ""


def _wrong(message: str) -> Exception:
    return physics_access.physics().FormatError(message)
