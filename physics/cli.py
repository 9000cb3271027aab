"""The command line without Blender: ``python -m physics simulate MODEL.json --out RESULT.npz``.

Exit codes: 0 success, 1 failure, 2 wrong usage or a bad input file, 3 diverged (the motion so far is saved and
flagged), 4 done, but ``--fail-on-diagnosis`` found something, 130 interrupted (no partial files remain).
"""

import argparse
import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from . import reporting
from .analysis.plots import plot_result
from .errors import CancelledError, CondyleError, DivergedError, FormatError, ModelError, on_a_line
from .integrators import INTEGRATORS
from .io import ModelFile, load_model, load_result, read_opensim, save_model, save_result
from .io.schema import load_schema
from .reporting import Reporter
from .simulation.simulate import make_problem, run_problem
from .worker import main as worker
from .worker import source

EXIT_TERMINATED = 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (SystemExit(2) for wrong usage, as in argparse)."""
    options = _parser().parse_args(arguments)
    reporter = Reporter(quiet=options.quiet, log_json=options.log_json)
    signal.signal(signal.SIGTERM, _terminate)  # so that partial files are removed on exit
    try:
        code: int = options.run(options, reporter)
    except KeyboardInterrupt:
        reporter.error(CancelledError("interrupted"), exit_code=reporting.EXIT_INTERRUPTED)
        return reporting.EXIT_INTERRUPTED
    except (FormatError, ModelError) as error:
        return _fail(reporter, error, reporting.EXIT_USAGE)
    except (CondyleError, OSError) as error:
        return _fail(reporter, error, reporting.EXIT_FAILED)
    except Exception as error:  # a defect: reported like any failure, with its traceback
        traceback.print_exc()
        return _fail(reporter, error, reporting.EXIT_FAILED)
    return code


def _parser() -> argparse.ArgumentParser:
    output = argparse.ArgumentParser(add_help=False)
    output.add_argument("--quiet", action="store_true", help="print errors only")
    output.add_argument("--log-json", action="store_true", help="print events as JSON lines on stdout")
    parser = argparse.ArgumentParser(
        prog="python -m physics", description="Condyle's physics without Blender."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Callable[..., int], what: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = commands.add_parser(name, parents=[output], help=what)
        made.set_defaults(run=run)
        return made

    simulate = command("simulate", _simulate, "simulate a model file into a result file")
    simulate.add_argument("model", type=Path, metavar="MODEL.json")
    simulate.add_argument("--out", type=Path, required=True, metavar="RESULT.npz")
    simulate.add_argument("--duration", type=float, help="seconds; default: that of the model file")
    simulate.add_argument("--dt", type=float, help="step in seconds")
    simulate.add_argument("--integrator", help="one of " + ", ".join(INTEGRATORS))
    simulate.add_argument(
        "--record-interval", type=float, metavar="SECONDS", help="time between samples; default: dt"
    )
    simulate.add_argument(
        "--fail-on-diagnosis",
        action="store_true",
        help="exit with 4 if anything makes the motion doubtful; it is written all the same",
    )

    info = command("info", _info, "describe a model file")
    info.add_argument("model", type=Path, metavar="MODEL.json")

    convert = command("convert", _convert, "convert an OpenSim model to a model file")
    convert.add_argument("model", type=Path, metavar="MODEL.osim")
    convert.add_argument("--out", type=Path, required=True, metavar="MODEL.json")
    convert.add_argument(
        "--no-limits", action="store_true", help="do not limit clamped coordinates to their ranges"
    )
    convert.add_argument(
        "--allow-welds", action="store_true", help="read joints of unknown kinds as welds, with a warning"
    )

    compiling = command("compile", _compile, "compile all kernels ahead, so that no first use waits")
    compiling.add_argument("--processes", type=int, metavar="N", help="default: processors, at most 4")
    compiling.add_argument(
        "--no-muscles", action="store_true", help="without kernels for models with muscles"
    )

    schema = command("schema", _schema, "print the JSON Schema of a kind of file")
    schema.add_argument("kind", choices=("model", "result"))

    command("worker", _serve, "compute for a Blender on another machine, on stdin and stdout")

    plot = command("plot", _plot, "draw a result file (needs matplotlib)")
    plot.add_argument("result", type=Path, metavar="RESULT.npz")
    plot.add_argument("--out", type=Path, required=True, metavar="PLOT.png")
    return parser


def _serve(_options: argparse.Namespace, _reporter: Reporter) -> int:
    """Serve under the name that a compute process has, whose compiled kernels are then of use."""
    worker.load_package(str(source.PACKAGE))
    importlib.import_module(f"{worker.PACKAGE_NAME}.worker.server").serve(source.digest())
    return 0


def _simulate(options: argparse.Namespace, reporter: Reporter) -> int:
    reporter.start(f"simulate {options.model.stem}")
    file = _open(load_model, options.model)
    keywords = _simulation_keywords(options, file)
    if "duration" not in keywords:
        raise FormatError(f"{options.model}: has no simulation.duration; give one with --duration")
    if os.path.isdir(options.out):
        raise FormatError(f"--out {options.out} is a folder: name the file to write")
    if not os.path.isdir(options.out.parent):
        raise FormatError(f"--out {options.out}: folder {options.out.parent} does not exist")
    reporter.progress(0.0, "preparing (the first time kernels are compiled)")
    try:
        progress = partial(reporter.progress, message="simulating")
        result = run_problem(*make_problem(file.model, file.state, progress=progress, **keywords))
    except DivergedError as error:
        kept = None
        if error.result is not None:
            save_result(error.result, options.out, diverged=error, extras=file.extras)
            kept = str(options.out)
        reporter.error(error, exit_code=reporting.EXIT_DIVERGED, time=error.time, body=error.body, kept=kept)
        return reporting.EXIT_DIVERGED
    save_result(result, options.out, extras=file.extras)
    total = result.energy[:, 2]
    for found in result.diagnosis:
        reporter.warning(found.text, code=found.code, values=dict(found.values))
    reporter.done(
        out=str(options.out),
        samples=len(result.t),
        simulated_seconds=float(result.t[-1] - result.t[0]),
        energy_change=float(total[-1] - total[0]),
    )
    return reporting.EXIT_DOUBTFUL if options.fail_on_diagnosis and result.diagnosis else reporting.EXIT_DONE


def _simulation_keywords(options: argparse.Namespace, file: ModelFile) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in ("duration", "dt", "integrator", "record_interval")}
    return {**file.simulation, **{name: value for name, value in given.items() if value is not None}}


def _info(options: argparse.Namespace, reporter: Reporter) -> int:
    file = _open(load_model, options.model)
    model = file.model
    _print(f"{options.model}: {model.num_bodies} bodies, {model.num_coordinates} coordinates")
    _print(f"  gravity {model.gravity.tolist()} m/s^2")
    width = max(len(name) for name in model.body_names)
    for body in model.bodies:
        parent = model.body_names[body.parent] if body.parent >= 0 else "world"
        joint = body.joint
        named = zip(joint.coordinate_names, joint.coordinate_units)
        coordinates = ", ".join(f"{name} [{unit}]" for name, unit in named) or "no coordinate"
        _print(f"  {body.name:<{width}}  {body.mass:10.4g} kg  {joint.type} on {parent}: {coordinates}")
    for name, value in zip(model.coordinate_names, file.state.q):
        _print(f"  initial {name} = {value:g}")
    for name, value in file.simulation.items():
        _print(f"  simulation {name} = {value}")
    if file.extras:
        _print(f"  extras: {', '.join(file.extras)}")
    return reporting.EXIT_DONE


def _convert(options: argparse.Namespace, reporter: Reporter) -> int:
    reporter.start(f"convert {options.model.stem}")
    reading = partial(read_opensim, limits=not options.no_limits, allow_welds=options.allow_welds)
    read = _open(reading, options.model)
    for warning in (*read.warnings, *read.notes):
        reporter.warning(warning)
    if not os.path.isdir(options.out.parent):
        raise FormatError(f"--out {options.out}: folder {options.out.parent} does not exist")
    model = read.build()
    names = {name: coordinate.coordinate for name, coordinate in read.coordinates.items()}
    kept = {"name": read.name, "coordinates": names, "not_read": [*read.warnings, *read.notes]}
    save_model(model, options.out, read.state(model), extras={"opensim": kept})
    reporter.done(out=str(options.out), bodies=model.num_bodies, coordinates=model.num_coordinates)
    return reporting.EXIT_DONE


def _compile(options: argparse.Namespace, reporter: Reporter) -> int:
    from .compiling import compile_ahead

    reporter.start("compile")
    seconds = compile_ahead(options.processes, not options.no_muscles, reporter.progress)
    reporter.done(compiling=f"{seconds:.1f} s")
    return reporting.EXIT_DONE


def _schema(options: argparse.Namespace, reporter: Reporter) -> int:
    print(json.dumps(load_schema(options.kind), indent=2))
    return reporting.EXIT_DONE


def _plot(options: argparse.Namespace, reporter: Reporter) -> int:
    reporter.start(f"plot {options.result.stem}")
    plot_result(_open(load_result, options.result), options.out)
    reporter.done(out=str(options.out))
    return reporting.EXIT_DONE


def _open(load: Any, path: Path) -> Any:
    try:
        return load(path)
    except OSError as error:  # an unreadable input is wrong usage, not a failure of ours
        raise FormatError(f"{path}: {error.strerror or error}") from error


def _print(text: str) -> None:
    print(on_a_line(text))


def _fail(reporter: Reporter, error: Exception, code: int) -> int:
    reporter.error(error, exit_code=code)
    return code


def _terminate(number: int, frame: Any) -> NoReturn:
    sys.exit(EXIT_TERMINATED)
