"""Shots on the command line: `shot` writes one, `bake` simulates one without Blender."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..blender import physics_access
from ..jobs import bake, shot_files

if TYPE_CHECKING:
    from bpy.types import Scene


def save(scene: Scene, folder: Path, reporter: physics_access.Reporter) -> int:
    """Write the shot of a scene; returns the exit code."""
    reporting = physics_access.part("reporting")
    reporter.start(f"shot {scene.name}")
    try:
        bake.save_shot_now(scene, folder, reporter.progress)
    except physics_access.physics().CondyleError as error:
        reporter.error(error, scene=scene.name)
        return int(reporting.EXIT_FAILED)
    reporter.message(f"written: {folder}")
    return int(reporting.EXIT_DONE)


def run_bake(options: argparse.Namespace) -> int:
    """The command ``bake`` of a shot; Blender is not imported."""
    reporting = physics_access.part("reporting")
    reporter = reporting.Reporter(quiet=options.quiet, log_json=options.log_json)
    target = None if options.out is None else Path(options.out)
    problem = _usage_problem(options, target)
    if problem:
        reporter.error(problem)
        return int(reporting.EXIT_USAGE)
    reporter.start(f"bake {options.input}")
    try:
        shot = shot_files.load(options.input)
        if target is not None:
            shot_files.simulate(shot, target, reporter.progress)
        for finding in shot_files.check(shot) if target is None else ():
            reporter.message(finding.text)
    except KeyboardInterrupt:
        reporter.error("interrupted; nothing was written")
        return int(reporting.EXIT_INTERRUPTED)
    except (physics_access.physics().CondyleError, OSError) as error:
        reporter.error(error)
        diverged = getattr(error, "kind", "") == "DivergedError"
        return int(reporting.EXIT_DIVERGED if diverged else reporting.EXIT_FAILED)
    reporter.message(f"{options.input} is a shot" if target is None else f"written: {target}")
    return int(reporting.EXIT_DONE)


def _usage_problem(options: argparse.Namespace, target: Path | None) -> str:
    for name in ("scene", "frames", "set", "apply"):
        if getattr(options, name):
            return f"--{name} is for .blend files, and {options.input} is the folder of a shot"
    if target is not None and target.suffix.lower() != ".npz":
        return f"the result of a shot must be an .npz file, got {target}"
    if target is not None and not os.path.isdir(target.parent):
        return f"no such folder: {target.parent}"
    return ""
