"""The Blender side's command line: .blend in, .blend out, outside Blender on the bpy wheel or inside it.

Exit codes: 0 done, 1 a scene failed, 2 usage, 3 a simulation diverged, 130 interrupted. The input file is never
touched; the output is written beside its place and renamed when it is whole.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def parser() -> argparse.ArgumentParser:
    """What the command line understands."""
    result = argparse.ArgumentParser(
        prog="python -m addon", description="Condyle for .blend files, without a window."
    )
    commands = result.add_subparsers(dest="command", required=True)
    bake = commands.add_parser(
        "bake",
        help="fit what asks to be fitted, simulate, and bake to new actions",
        epilog="Exit codes: 0 done, 1 a scene failed, 2 usage, 3 a simulation diverged, 130 interrupted.",
    )
    bake.add_argument("input", metavar="SCENE.blend", help="file to read; it is not changed")
    bake.add_argument("--out", required=True, metavar="OUT.blend", help="file to write")
    bake.add_argument(
        "--scene", metavar="NAME", help="only this scene; else every scene with joints or free bodies"
    )
    bake.add_argument("--log-json", action="store_true", help="one JSON object a line on standard output")
    bake.add_argument("--quiet", action="store_true", help="tell only errors")
    return result


def main(arguments: Sequence[str]) -> int:
    """Run a command line; returns the exit code. Blender (bpy) must be imported, the add-on registered."""
    try:
        options = parser().parse_args(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    return run_bake(options)


def run_bake(options: argparse.Namespace) -> int:
    """The command ``bake``."""
    from . import core

    reporting = core.part("reporting")
    reporter = reporting.Reporter(quiet=options.quiet, log_json=options.log_json)
    source, target = Path(options.input), Path(options.out)
    problem = _usage_problem(source, target)
    if problem:
        reporter.error(problem)
        return int(reporting.EXIT_USAGE)
    try:
        return int(_bake_file(source.resolve(), target.resolve(), options.scene, reporter))
    except KeyboardInterrupt:
        reporter.error("interrupted; nothing was written")
        return int(reporting.EXIT_INTERRUPTED)


def _usage_problem(source: Path, target: Path) -> str:
    if not source.is_file():
        return f"no such file: {source}"
    if target.suffix.lower() != ".blend":
        return f"the output must be a .blend file, got {target}"
    if target.exists() and target.samefile(source):
        return f"the output must not be the input file: {source}"
    if not target.parent.is_dir():
        return f"no such folder: {target.parent}"
    return ""


def _bake_file(source: Path, target: Path, scene_name: str | None, reporter: Any) -> int:
    import bpy

    from . import core, references, session
    from .features.simulation.operators import has_work

    reporting = core.part("reporting")
    try:
        with silenced():
            bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        reporter.error(f"{source} cannot be read: {str(error).strip()}")
        return int(reporting.EXIT_FAILED)
    if session.read_only:
        reporter.error(f"{source} was saved by a newer Condyle and cannot be baked by this one")
        return int(reporting.EXIT_FAILED)
    names = [scene.name for scene in bpy.data.scenes if any(has_work(item) for item in scene.objects)]
    if scene_name is not None:
        if scene_name not in bpy.data.scenes:
            reporter.error(
                f"{source} has no scene {scene_name!r}; it has {', '.join(bpy.data.scenes.keys())}"
            )
            return int(reporting.EXIT_USAGE)
        names = [scene_name]
    if not names:
        reporter.error(f"{source} has nothing to simulate: no joints and no free bodies")
        return int(reporting.EXIT_FAILED)
    for name in names:
        code = _bake_scene(bpy.data.scenes[name], reporter)
        if code != reporting.EXIT_DONE:
            return code
    for item in bpy.data.objects:
        if item.condyle.joint.enabled:
            references.relink(item.condyle.joint.parent)
            references.relink(item.condyle.joint.child)
        if item.condyle.connection.enabled:
            references.relink(item.condyle.connection.body)
            references.relink(item.condyle.connection.other)
    return _save(target, reporter)


def _bake_scene(scene: Any, reporter: Any) -> int:
    import bpy

    from . import core, tasks

    reporting = core.part("reporting")
    reporter.start(f"bake {scene.name}")
    bpy.context.window.scene = scene
    try:
        # an earlier bake hides the keys that a fit wants
        if any(item.condyle.joint.fit.requested for item in scene.objects):
            tasks.free_bake(scene)
        outcome = tasks.bake_now(scene, reporter.progress)
    except core.physics().CondyleError as error:
        diverged = getattr(error, "kind", type(error).__name__) == "DivergedError"
        reporter.error(error, scene=scene.name)
        return int(reporting.EXIT_DIVERGED if diverged else reporting.EXIT_FAILED)
    for warning in outcome.warnings:
        reporter.message(f"warning: {warning}")
    for fit in outcome.fits:
        reporter.message(
            f"fit {fit.joint_name}: {fit.num_poses} poses, "
            f"worst {fit.worst_distance_mm:.4g} mm, {fit.worst_angle_deg:.4g} deg"
        )
    reporter.done(
        scene=scene.name,
        frames=len(outcome.frames),
        bodies=len(outcome.bodies),
        **{f"{stage}_s": round(seconds, 3) for stage, seconds in outcome.seconds.items()},
    )
    return int(reporting.EXIT_DONE)


def _save(target: Path, reporter: Any) -> int:
    """Write the open file beside the target, then put it in its place."""
    import bpy

    from . import core

    reporting = core.part("reporting")
    try:
        with core.part("io.files").write_atomically(target) as temporary, silenced():
            bpy.ops.wm.save_as_mainfile(
                filepath=str(temporary), copy=True, check_existing=False, relative_remap=True
            )
    except (RuntimeError, OSError) as error:
        reporter.error(f"{target} cannot be written: {str(error).strip()}")
        return int(reporting.EXIT_FAILED)
    reporter.message(f"written: {target}")
    return int(reporting.EXIT_DONE)


class silenced:
    """Around Blender's own work: its lines stay out of ours, an interrupt waits until it is done.

    The lines come from C, so the descriptor is turned away. An interrupt that arrived inside would be lost in
    Blender, or crash it while it is imported.
    """

    def __enter__(self) -> None:
        sys.stdout.flush()
        self._kept = os.dup(1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
        self._interrupts: list[int] = []
        self._handler: Any = None
        # a job in the background of a shell, or under nohup, ignores interrupts: so it stays
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        if threading.current_thread() is threading.main_thread() and not ignored:
            self._handler = signal.signal(signal.SIGINT, lambda number, _: self._interrupts.append(number))

    def __exit__(self, *_: Any) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        sys.stdout.flush()
        os.dup2(self._kept, 1)
        os.close(self._kept)
        if self._interrupts:
            raise KeyboardInterrupt
