"""The kinds of job of the compute process, one function each.

A function takes the job's header and arrays and a ``Report``, and returns the answer's header and arrays. It first
compiles its kernels in named stages, so that the parent can display why the first use takes long.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .. import fitting, joints
from ..analysis.muscle_drawing import muscle_curves
from ..bodies.state import State
from ..errors import DivergedError, FormatError, ModelError
from ..io.model_file import model_from_document, plain, state_from_dict
from ..io.result_file import divergence_to_dict, result_arrays
from ..kernels.compiler import jit
from ..kinematics.projection import project
from ..model.model import Model
from ..model.result import Result
from ..motions.excitation import excite
from ..motions.motion import Motion
from ..motions.pull import Pull, Pulls
from ..motions.repeating import Repeating
from ..motions.table import Table
from ..muscles import Proportional
from ..optimize.nearest_motion import nearest_motion
from ..optimize.objectives import Effort
from ..registry import check_keys
from ..simulation.between_samples import simulate_between
from ..simulation.live import LiveRun, between
from ..simulation.loop import simulate_loop
from ..simulation.simulate import simulate
from ..validation import finite_array, near_names
from . import goals as goal_search
from .report import Report
from .settling import settled
from .stage_names import BUILDING, GRADIENTS, OBSERVATION, USUAL, WITH_MUSCLES
from .stages import prepare, rehearse, stages_of

# keys of a simulation
SIMULATION = {"model", "state", "options", "motions", "assemble", "pulls", "controllers"}
#: what the answer to a fit of a curve has in its header, and in its arrays
CURVE = (
    ("iterations", "converged", "hessian_integral", "length_scale", "pinned", "missing", "tried"),
    ("weights", "metric"),
)
MESHES = ("first_vertices", "first_triangles", "second_vertices", "second_triangles", "pose")
LAST = 100  # samples of a live run that are checked where none are asked for

Header = dict[str, Any]
Arrays = dict[str, np.ndarray[Any, Any]]


def run(kind: str, job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Run one job; FormatError for an unknown kind, else any error of the physics."""
    if kind not in JOBS:
        raise FormatError(f"unknown kind of job {kind!r}; known are {', '.join(JOBS)}")
    return JOBS[kind](job, arrays, report)


def describe_divergence(error: DivergedError) -> tuple[Header, Header | None, Arrays]:
    """Description of a diverged simulation, and header and arrays of the motion so far."""
    if not isinstance(error.result, Result):
        return divergence_to_dict(error), None, {}
    return divergence_to_dict(error), *_result_answer(error.result)


def warm_up(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Compile kernels for other jobs: the stages named in ``stages`` in order, or the usual ones."""
    check_keys(job, {"stages"}, (), "a job")
    began = time.perf_counter()
    stages = list(job.get("stages", USUAL))
    for number, stage in enumerate(stages):
        prepare((stage,), report, number / len(stages), ahead=True)
    return {"jit": jit.JITTED, "seconds": time.perf_counter() - began}, {}


def fit_curve(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Fit a spline curve; keywords of ``fit_curve`` are in the header, or in the arrays if they are arrays."""
    return _fit(fitting.fit_curve, *CURVE, {**job, **arrays}, report)


def fit_surface(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Fit a spline surface; input as for ``fit_curve``."""
    names = ("iterations", "converged", "hessian_integral", "smoothing", "coverage", "length_scale")
    return _fit(fitting.fit_surface, names, (), {**job, **arrays}, report)


def fit_meshes(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Fit a spline curve to two meshes in contact: vertices and triangles of both and the pose in the arrays, keywords
    of ``fit_joint_to_meshes`` in the header.
    """
    for name in MESHES:
        _check_array(name, arrays)
    a, b, c, d, pose = (arrays[name] for name in MESHES)
    found = fitting.fit_joint_to_meshes((a, b), (c, d), pose, progress=report.progress, **job)
    header, results = _fitted(found.fit, *CURVE)
    measured = {name: value for name, value in vars(found).items() if isinstance(value, np.ndarray)}
    return {"fit": header, "gap": found.gap, "fitted": list(results)}, results | measured


def _fit(
    make: Callable[..., Any], names: tuple[str, ...], given: tuple[str, ...], wishes: Header, report: Report
) -> tuple[Header, Arrays]:
    """A fit: joint and what the names say in the header; q, steps, residuals and what is given in the arrays."""
    _check_array("poses", wishes)
    report.message("fitting")
    fit = make(progress=report.progress, **wishes)
    return _fitted(fit, names, given)


def _fitted(fit: Any, names: tuple[str, ...], given: tuple[str, ...]) -> tuple[Header, Arrays]:
    header = {"joint": fit.joint.to_dict(), **{name: getattr(fit, name) for name in names}}
    results = {"q": fit.q, "steps": np.array(fit.steps, dtype=np.float64), **vars(fit.residuals)}
    results |= {name: value for name in given if (value := getattr(fit, name)) is not None}
    return plain(header), results


def project_poses(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Project ``poses`` (N, 4, 4) onto a ``joint``; keywords of ``project`` are in the header or the arrays."""
    check_keys(job, {"joint", "length_scale", "continuous"}, ("joint",), "a job")
    _check_array("poses", arrays)
    prepare(("projection",), report)
    report.message("projecting")
    options = {name: value for name, value in job.items() if name != "joint"}
    options |= {name: arrays[name] for name in ("bounds", "metric") if name in arrays}
    found = project(joints.from_dict(job["joint"]), arrays["poses"], **options)
    return {}, dict(vars(found))


def run_simulation(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Simulate a ``model`` from a ``state`` with keywords of ``simulate`` in ``options``; tau or its table in arrays.

    ``motions``, ``pulls`` and ``controllers`` (of muscles) are descriptions. ``assemble``: first move the state onto
    the constraints. ``loop``: further keywords of `simulate_loop`. ``between``: unless it is a loop, also answer with
    the arrays of `Between`, prefixed with "between_".
    """
    check_keys(job, SIMULATION | {"loop", "between"}, ("model",), "a job")
    model, state, options = _read_simulation(job, arrays, report)
    if job.get("pulls"):
        options["tau"] = Pulls(model, _pulls(job), options.get("tau"), options.get("dt", 1e-3))
    if job.get("controllers"):
        options["tau"] = excite(model, _controllers(job), options.get("tau"))
    report.message("simulating")
    if job.get("loop"):
        options |= job["loop"]
        return _result_answer(simulate_loop(model, state, progress=report.progress, **options))
    if not job.get("between"):
        return _result_answer(simulate(model, state, progress=report.progress, **options))
    if options.get("record_interval") is None:
        raise FormatError("a job with 'between' needs a 'record_interval' in its options")
    result, seen = simulate_between(model, state, progress=report.progress, **options)
    header, answered = _result_answer(result)
    return header, {**answered, **{f"between_{name}": array for name, array in vars(seen).items()}}


def settle(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Coordinates ``q`` at which bodies of these ``names`` rest (`settling.settled`); else as for a simulation."""
    check_keys(
        job, {"model", "state", "options", "motions", "assemble", "names"}, ("model", "names"), "a job"
    )
    _check_array("tau", arrays)
    model, state, options = _read_simulation(job, arrays, report)
    for name in job["names"]:
        if name not in model.body_names:
            raise ModelError(f"no body is named {name!r}{near_names(name, model.body_names)}")
    tau = finite_array(arrays["tau"], (model.num_coordinates + model.num_inputs,), "tau")
    report.message("settling")
    held = options.get("motions", {})
    return {}, {"q": settled(model, state, set(job["names"]), tau, held, report.progress)}


def run_live(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Run in real time (`live.LiveRun`); input as for a simulation, but without duration and tolerances.

    The message ``stop`` ends it: "", or {"from": time, "to": time} for the part of the motion to return. Also takes
    ``factor``, and ``repeating``: keywords of `Repeating`.
    """
    check_keys(job, SIMULATION | {"factor", "repeating"}, ("model",), "a job")
    model, state, options = _read_simulation(job, arrays, report)
    options |= {"controllers": _controllers(job), "pulls": _pulls(job)}
    if job.get("repeating"):
        options = Repeating(**job["repeating"]).applied(model, options)
    kept: Header = {}

    def listen() -> list[Header]:
        messages = report.told()
        for message in messages:
            kept.update(message.get("stop") or {})
        return messages

    def show(figures: dict[str, float], *seen: Any) -> None:
        report.news(figures, dict(zip(("poses", "nodes"), seen)))

    report.message("preparing soft bodies" if model.soft_bodies else "running")  # the first step compiles
    run = LiveRun(model, state, listen=listen, show=show, factor=job.get("factor", 1.0), **options)
    motion = run.motion()
    if not kept:  # what ended it is at its end
        run.checked(motion.part(slice(-LAST, None)))
        return {}, {}
    return _result_answer(run.checked(between(motion, kept["from"], kept["to"])))


#: what a search for torques refuses: there is no gradient through it
WITHOUT_GRADIENT = {
    "pulls": "is pulled to its animation, where no torques can be found: set its Animation Influence to 0",
    "controllers": "has a spring or a controller to its animation, where no torques can be found: turn it off",
}


def solve_goals(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Torques that bring bodies to ``goals`` (`goals.solve`), of the coordinates in ``torques`` at the times in the
    array ``knots``; other input as for a simulation.
    """
    check_keys(
        job, SIMULATION | {"goals", "torques", "effort", "most"}, ("model", "goals", "torques"), "a job"
    )
    _check_array("knots", arrays)
    model, state, options = _read_search(job, arrays, report)
    report.message("solving goals")
    wanted = [goal_search.Goal.from_dict(each) for each in job["goals"]]
    given = list(job["torques"]), arrays["knots"], job.get("effort", 1e-7), job.get("most", 24)
    found = goal_search.solve(model, state, options, wanted, *given, report)
    header = {"misses": found.misses, "gradients": found.gradients, "names": list(found.torques)}
    return header, {"times": found.times, "torques": np.array(list(found.torques.values()))}


def make_physical(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Torques of the coordinates in ``torques``, at the times in the array ``knots``, whose motion is nearest to the
    coordinates in the array ``wanted`` at ``times`` (`nearest_motion`); other input as for a simulation.
    """
    keys = {"torques", "followed", "strength", "budgets"}
    check_keys(job, SIMULATION | keys, ("model", "torques"), "a job")
    for name in ("knots", "times", "wanted"):
        _check_array(name, arrays)
    model, state, options = _read_search(job, arrays, report)
    report.message("searching for torques")
    table = Table(
        arrays["knots"], goal_search.at_knots(model, options.get("tau"), job["torques"], arrays["knots"])
    )
    found = nearest_motion(
        model,
        arrays["times"],
        arrays["wanted"],
        options["dt"],
        integrator=options["integrator"],
        inputs=table,
        torques=job["torques"],
        followed=job.get("followed"),
        strength=job.get("strength", 1.0),
        budgets=job.get("budgets"),
        state=state,
        motions=options.get("motions"),
        progress=lambda _gradients, part: report.progress(part),
    )
    header = {"budgets": found.budgets, "distance": found.distance, "gradients": found.gradients}
    columns = Effort(list(found.budgets)).columns(model)
    torques = np.asarray(found.inputs.values).T[columns]
    return header, {"times": arrays["knots"], "torques": torques, "apart": found.apart}


def _read_search(job: Header, arrays: Arrays, report: Report) -> tuple[Model, State, dict[str, Any]]:
    """As `_read_simulation`, after compiling gradients, too; ModelError where a job has what has no gradient."""
    for what in WITHOUT_GRADIENT:
        for name in job.get(what) or {}:
            raise ModelError(f"{name!r} {WITHOUT_GRADIENT[what]}")
    model, state, options = _read_simulation(job, arrays, report)
    prepare((GRADIENTS,), report)
    rehearse(GRADIENTS, partial(goal_search.rehearse, model, state, options), report)
    return model, state, options


def _read_simulation(job: Header, arrays: Arrays, report: Report) -> tuple[Model, State, dict[str, Any]]:
    """Model, state and keywords of a simulation, after compiling its kernels."""
    prepare(BUILDING, report)
    model = model_from_document(job["model"])
    integrator = job.get("options", {}).get("integrator", "symplectic_euler")
    prepare(stages_of(model, integrator, bool(job.get("motions"))), report)
    state = state_from_dict(model, job.get("state", {}))
    options = dict(job.get("options", {}))
    if "tau_times" in arrays:
        options["tau"] = Table(arrays["tau_times"], arrays.get("tau_values"))
    elif "tau" in arrays:
        options["tau"] = arrays["tau"]
    if job.get("motions"):
        options["motions"] = {name: _motion(name, entry) for name, entry in job["motions"].items()}
    return model, state, {**options, "assemble": bool(job.get("assemble", False))}


def _controllers(job: Header) -> dict[str, Proportional]:
    return {name: Proportional.from_dict(entry) for name, entry in (job.get("controllers") or {}).items()}


def _pulls(job: Header) -> dict[str, Pull]:
    return {name: Pull(**entry) for name, entry in (job.get("pulls") or {}).items()}


def _motion(name: str, entry: Any) -> Motion:
    try:
        return Motion(**entry)
    except TypeError as error:
        raise FormatError(f"motion of {name!r}: {error}") from error


def muscle_paths(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Points (T, muscles, ``count``, 3) of the muscle paths of a ``model`` at q (T, nv), and lengths (T, muscles)."""
    check_keys(job, {"model", "count"}, ("model",), "a job")
    _check_array("q", arrays)
    prepare((*BUILDING, OBSERVATION + WITH_MUSCLES), report)
    report.message("muscles")
    model = model_from_document(job["model"])
    points, lengths = muscle_curves(model, arrays["q"], job.get("count", 48), report.progress)
    return {}, {"points": points, "lengths": lengths}


def _result_answer(result: Result) -> tuple[Header, Arrays]:
    header = {"rotations": list(result.rotations), "info": plain(result.info)}
    return header, dict(result_arrays(result))


def _check_array(name: str, arrays: Mapping[str, Any]) -> None:
    if name not in arrays:
        raise FormatError(f"a job needs the array {name!r}")


#: every kind of job except ``ping``, which the server answers without the physics
JOBS: dict[str, Callable[[Header, Arrays, Report], tuple[Header, Arrays]]] = {
    "warm_up": warm_up,
    "fit_curve": fit_curve,
    "fit_surface": fit_surface,
    "fit_meshes": fit_meshes,
    "project": project_poses,
    "simulate": run_simulation,
    "settle": settle,
    "live": run_live,
    "solve_goals": solve_goals,
    "make_physical": make_physical,
    "muscle_paths": muscle_paths,
}
