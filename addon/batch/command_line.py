"""The add-on's command line: .blend in, .blend out, inside Blender or with the bpy wheel.

The input file is never changed. The output is written to a temporary file and renamed when it is complete.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..blender import linked_files, physics_access, session
from ..data import findings, frame_times, references
from ..jobs import bake as tasks
from ..jobs import shot_files
from ..reading import missing_joints
from . import command, files, job_file, report, saved_shots, settings_overrides, shots
from .console import FROM_OUTSIDE, silenced

if TYPE_CHECKING:
    from bpy.types import Scene

_SWITCH = {"action": "store_true"}
BAKE_CODES = (
    "Exit codes: 0 done, 1 a scene failed, 2 usage, 3 a simulation diverged, 4 done, but --fail-on-diagnosis found "
    "something, 130 interrupted."
)
BATCH_CODES = (
    "Exit codes: 0 every shot is done or has nothing to simulate, 1 some are not, or none has anything to simulate, or "
    "the report cannot be written, 2 wrong usage or job file (nothing was started), 4 every shot is done, but "
    "--fail-on-diagnosis found something, 130 interrupted (repeat the command to continue)."
)


Option = tuple[str, str, dict[str, Any]]
#: name, help and what else `add_argument` takes, of the options of all commands, and of each of them
SHARED: tuple[Option, ...] = (
    ("--scene", "only this scene; default: all with something to simulate", {"metavar": "NAME"}),
    (
        "--frames",
        "frames to bake; default: the file's",
        {"nargs": 2, "type": int, "metavar": ("FIRST", "LAST")},
    ),
    (
        "--set",
        "change a setting, as in simulation.time_step=0.0005 or joints.Knee.coordinates.1.damping=0.2; repeatable",
        {"action": "append", "default": [], "metavar": "ADDRESS=VALUE"},
    ),
    (
        "--fail-on-diagnosis",
        "exit with 4 if anything makes a simulated motion doubtful; it is written all the same",
        _SWITCH,
    ),
    ("--log-json", "print one JSON object per line", _SWITCH),
    ("--quiet", "print only errors", _SWITCH),
)
INPUT = "file to read, or the folder of a shot, which needs no Blender; it is not changed"
BAKE: tuple[Option, ...] = (
    ("input", INPUT, {"metavar": "SCENE.blend|SHOT"}),
    ("--apply", "the result of a shot of the scene, in place of a simulation", {"metavar": "RESULT.npz"}),
)
TARGET: tuple[Option, ...] = (
    ("--out", "file to write; of a shot its result", {"metavar": "OUT.blend|RESULT.npz"}),
    ("--check", "only open the file and check settings and scenes", _SWITCH),
)
SHOT: tuple[Option, ...] = (
    ("input", "file to read; it is not changed", {"metavar": "SCENE.blend"}),
    ("--out", "folder to write", {"metavar": "FOLDER", "required": True}),
)
BATCH: tuple[Option, ...] = (
    ("source", "job file, or folder of .blend files", {"type": Path, "metavar": "JOBS.toml|FOLDER"}),
    ("--out", "folder of the outputs; default: the job file's", {"type": Path, "metavar": "FOLDER"}),
    ("--recursive", "include sub-folders of FOLDER", _SWITCH),
    ("--at-once", "processes at a time; default: one per core", {"type": int, "metavar": "N"}),
    ("--dask", "let the workers of a Dask cluster bake, which share the folders", {"metavar": "ADDRESS"}),
    ("--split", "only each M-th shot, beginning with the N-th: for the tasks of a farm", {"metavar": "N/M"}),
    ("--timeout", "stop a shot that takes longer", {"type": float, "metavar": "SECONDS"}),
    ("--overwrite", "bake all again, and replace any outputs", _SWITCH),
    ("--dry-run", "open and check every shot, and list those to bake", _SWITCH),
    ("--report", "write the outcome of each shot", {"type": Path, "metavar": "FILE.json"}),
)
#: help, epilog and options of each command
COMMANDS = {
    "bake": ("fit the joints set to Fit before Baking, simulate, and bake to new actions", BAKE_CODES, BAKE),
    "shot": (
        "write all that the bake of a scene would simulate to a folder, for `bake` or a report of a fault",
        BAKE_CODES,
        SHOT,
    ),
    "batch": ("bake many files, several at once; finished shots are kept", BATCH_CODES, BATCH),
}


def parser(program: str = "python -m addon") -> argparse.ArgumentParser:
    """The parser of the command line; program: its name in the usage text."""
    result = argparse.ArgumentParser(prog=program, description="Condyle for .blend files, without a window.")
    commands = result.add_subparsers(dest="command", required=True, metavar="{bake,shot,batch}")
    commands.add_parser("shots")  # for the children of a batch
    for name, (told, codes, options) in COMMANDS.items():
        command_parser = commands.add_parser(name, help=told, epilog=codes)
        _add(command_parser, (*SHARED, *options))
        command_parser.set_defaults(apply=None)
        if name == "bake":
            _add(command_parser.add_mutually_exclusive_group(required=True), TARGET)
    return result


def _add(taker: Any, options: Iterable[Option]) -> None:
    for name, told, more in options:
        taker.add_argument(name, help=told, **more)


def main(
    arguments: Sequence[str], program: str = "python -m addon", register: Callable[[], None] = lambda: None
) -> int:
    """Run a command line; returns the exit code. `bake` needs the registered add-on, `batch` can register it."""
    try:
        options = parser(program).parse_args(list(arguments))
    except SystemExit as end:
        return int(end.code or 0)
    if options.command == "shots":
        return _bake_shots()
    _take_interrupts(options.command)
    if options.command == "batch":
        return command.run_batch(options, register)
    if os.path.isdir(options.input):
        return saved_shots.run_bake(options)
    return run_bake(options)


def _take_interrupts(name: str) -> None:
    """Let Ctrl-C raise KeyboardInterrupt: Blender in the background would treat it as Esc.

    A batch treats SIGTERM and a closed terminal the same way, so that it still prints its outcomes.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in sorted(FROM_OUTSIDE) if name == "batch" else (signal.SIGINT,):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, signal.default_int_handler)


def _bake_shots() -> int:
    """The command ``shots``: bakes what the standard input asks for, and exits with that."""
    reporting = physics_access.part("reporting")
    for arguments in shots.asked():
        try:
            code = run_bake(parser().parse_args(arguments))
        except SystemExit:
            code = int(reporting.EXIT_USAGE)
        reporting.Reporter(log_json=True).event("ended", code=code)
    return int(reporting.EXIT_DONE)


def run_bake(options: argparse.Namespace) -> int:
    reporting = physics_access.part("reporting")
    reporter = reporting.Reporter(quiet=options.quiet, log_json=options.log_json)
    source, target = Path(options.input), Path(options.out) if options.out else None
    problem = _usage_problem(source, target, options.command)
    options.settings = {}
    try:
        for text in options.set:
            options.settings = settings_overrides.merged(options.settings, job_file.parse_setting(text))
        settings_overrides.check(options.settings)
        settings_overrides.check_frames(options.frames or ())
    except physics_access.physics().FormatError as error:
        problem = problem or str(error)
    if problem:
        reporter.error(problem)
        return int(reporting.EXIT_USAGE)
    options.source, options.target = job_file.real(source), target and job_file.real(target)
    options.result = options.apply and job_file.real(Path(options.apply))
    try:
        return int(_bake_file(options, reporter))
    except KeyboardInterrupt:
        reporter.error("interrupted; nothing was written")
        return int(reporting.EXIT_INTERRUPTED)
    except Exception as error:  # a bug: reported like any failure, with its traceback
        traceback.print_exc()
        reporter.error(error)
        return int(reporting.EXIT_FAILED)


def _usage_problem(source: Path, target: Path | None, name: str) -> str:
    if not os.path.isfile(source):
        return f"{source} is not a regular file" if os.path.exists(source) else f"no such file: {source}"
    if target is None:
        return ""
    if name == "shot":
        return "" if os.path.isdir(target.parent) else f"no such folder: {target.parent}"
    if target.suffix.lower() != ".blend":
        return f"the output must be a .blend file, got {target}"
    if os.path.exists(target) and target.samefile(source):
        return f"the output must not be the input file: {source}"
    if not os.path.isdir(target.parent):
        return f"no such folder: {target.parent}"
    return ""


def _bake_file(options: argparse.Namespace, reporter: physics_access.Reporter) -> int:
    import bpy

    reporting = physics_access.part("reporting")
    names, saves = _open(options, reporter), options.command == "shot"
    if isinstance(names, int):
        return names
    if options.target is None:
        return max(_check_scene(bpy.data.scenes[name], reporter) for name in names)
    if len(names) > 1 and (saves or options.result is not None):
        listed = ", ".join(names)
        reporter.error(f"{options.source} has several scenes; name one of them by --scene: {listed}")
        return int(reporting.EXIT_USAGE)
    if saves:
        _make_ready(bpy.data.scenes[names[0]])
        return saved_shots.save(bpy.data.scenes[names[0]], options.target, reporter)
    codes: list[str] = []
    for name in names:
        code = _bake_scene(bpy.data.scenes[name], options.result, reporter)
        if code != reporting.EXIT_DONE:
            return code
        codes += [each.code for each in session.findings]
    for item in bpy.data.objects:
        for group in (item.condyle.joint, item.condyle.connection):
            for reference in references.stored_in(group) if group.enabled else ():
                references.relink(reference)
    code = files.save(options.target, reporter)
    fails = code == reporting.EXIT_DONE and options.fail_on_diagnosis and report.doubtful(codes)
    return int(reporting.EXIT_DOUBTFUL) if fails else code


def _open(options: argparse.Namespace, reporter: physics_access.Reporter) -> list[str] | int:
    """Open a file and apply the task's settings; returns the scenes to bake by name, or an exit code after an error."""
    import bpy

    reporting = physics_access.part("reporting")
    source = options.source
    if waits := linked_files.no_plain_files(source):
        paths = ", ".join(map(str, waits))
        reporter.error(f"{source} links to {paths}, not a regular file, on which Blender would wait")
        return int(reporting.EXIT_FAILED)
    try:
        with silenced():
            bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        reporter.error(f"{source} cannot be read: {_reason(error, source)}")
        return int(reporting.EXIT_FAILED)
    if session.read_only:
        reporter.error(f"{source} was saved by a newer Condyle and cannot be baked by this one")
        return int(reporting.EXIT_FAILED)
    libraries = sorted(set(map(files.path_of, bpy.data.libraries)))
    reporter.event("opened", blender=bpy.app.version_string, libraries=libraries)
    _warn(reporter, files.missing(libraries))
    names = [each.name for each in bpy.data.scenes if any(map(missing_joints.has_work, each.objects))]
    if options.scene is not None:
        if options.scene not in bpy.data.scenes:
            there = ", ".join(bpy.data.scenes.keys())
            reporter.error(f"{source} has no scene {options.scene!r}; it has {there}")
            return int(reporting.EXIT_USAGE)
        names = [name for name in names if name == options.scene]
    if not names:
        where = source if options.scene is None else f"{source}, scene {options.scene!r}"
        reporter.error(f"{where} has nothing to simulate: no joints and no free bodies", empty=True)
        return int(reporting.EXIT_FAILED)
    scenes = [bpy.data.scenes[name] for name in names]
    try:
        bpy.context.window.scene = scenes[0]
        settings_overrides.apply(scenes, options.settings)
        for scene in scenes:
            if options.frames is not None:
                settings_overrides.set_frames(scene, options.frames)
            frame_times.frame_range(scene)
    except physics_access.physics().CondyleError as error:
        reporter.error(f"{source}: {error}")
        return int(reporting.EXIT_USAGE)
    return names


def _reason(error: Exception, source: Path) -> str:
    """Blender's message for a file that it cannot read, without the file's name that it repeats."""
    message = str(error).strip().replace(f' "{source}"', "").replace(f" '{source}'", "")
    return message.removeprefix("Error: ").removeprefix("Loading failed: ")


def _check_scene(scene: Scene, reporter: physics_access.Reporter) -> int:
    """Report the errors that would stop a bake of a scene before its simulation, and warnings."""
    reporting = physics_access.part("reporting")
    reporter.start(f"check {scene.name}")
    session.findings = []
    try:
        _make_ready(scene)
        warnings = tasks.check_now(scene, reporter.progress)
    except physics_access.physics().CondyleError as error:
        for message in [finding.text for finding in session.findings if finding.is_error] or [error]:
            reporter.error(message, scene=scene.name)
        return int(reporting.EXIT_FAILED)
    _warn(reporter, warnings)
    reporter.message(f"{scene.name} can be baked")
    return int(reporting.EXIT_DONE)


def _warn(reporter: Any, found: Iterable[findings.Finding]) -> None:
    for each in found:
        reporter.warning(each.text, code=each.code)


def _make_ready(scene: Scene) -> None:
    """Activate a scene, and free an earlier bake if a fit needs the keys that the bake replaced."""
    import bpy

    bpy.context.window.scene = scene
    if any(item.condyle.joint.fit.requested for item in scene.objects):
        tasks.free_bake(scene)


def _bake_scene(scene: Scene, result: Path | None, reporter: physics_access.Reporter) -> int:
    reporting = physics_access.part("reporting")
    reporter.start(f"bake {scene.name}")
    try:
        _make_ready(scene)
        if result is None:
            outcome = tasks.bake_now(scene, reporter.progress)
        else:
            outcome = tasks.apply_now(scene, shot_files.load_result(result), reporter.progress)
    except (physics_access.physics().CondyleError, OSError) as error:
        diverged = getattr(error, "kind", type(error).__name__) == "DivergedError"
        reporter.error(error, scene=scene.name)
        return int(reporting.EXIT_DIVERGED if diverged else reporting.EXIT_FAILED)
    _warn(reporter, outcome.warnings)
    if outcome.note:
        reporter.message(outcome.note)
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
