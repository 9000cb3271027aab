"""What the compute process can do: one function a kind of job.

Each takes the job's header and arrays and a ``Report``, and gives the answer's header and arrays. Kernels
that a job needs are compiled in named stages beforehand, so that the parent can say what the first use waits
for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from .. import dynamics, joints
from ..errors import DivergedError, FormatError
from ..io.model_file import model_from_document, plain, state_from_dict
from ..io.result_file import divergence_to_dict, result_arrays
from ..kernels import _jit
from ..model import Model, ModelBuilder
from ..result import Result
from ..simulation import Table, simulate

Header = dict[str, Any]
Arrays = dict[str, np.ndarray[Any, Any]]


class Report(Protocol):
    """What a job tells while it runs (``server.Report``)."""

    def message(self, text: str) -> None:
        """Say what goes on; raises CancelledError where the job is no longer wanted."""

    def progress(self, fraction: float) -> bool:
        """Say how much is done; False asks to stop."""


def run(kind: str, job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Do one job; FormatError where its kind is unknown, else whatever the physics raises."""
    if kind not in JOBS:
        raise FormatError(f"unknown kind of job {kind!r}; known are {', '.join(JOBS)}")
    return JOBS[kind](job, arrays, report)


def describe_divergence(error: DivergedError) -> tuple[Header, Header | None, Arrays]:
    """Facts of a diverged simulation, and header and arrays of what was computed until then."""
    if not isinstance(error.result, Result):
        return divergence_to_dict(error), None, {}
    return divergence_to_dict(error), *_result_answer(error.result)


def warm_up(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Compile what the other jobs need: the stages named in ``stages``, or all of them."""
    _check_keys(job, {"stages"}, ())
    stages = job.get("stages", list(STAGES))
    seconds = {}
    for number, stage in enumerate(stages):
        if stage not in STAGES:
            raise FormatError(f"unknown stage {stage!r} to warm up; known are {', '.join(STAGES)}")
        report.progress(number / len(stages))
        began = time.perf_counter()
        _prepare([stage], report)
        seconds[stage] = time.perf_counter() - began
    return {"jit": _jit.JITTED, "seconds": seconds}, {}


def fit_curve(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Fit a spline curve: ``fit_curve``'s keywords in the header, or where they are arrays, there."""
    keywords = {**job, **arrays}
    if "poses" not in keywords:
        raise FormatError("a job fit_curve needs the array 'poses'")
    from ..fitting import fit_curve as fit_poses

    report.message("fitting")
    try:
        fit = fit_poses(progress=report.progress, **keywords)
    except TypeError as error:  # a keyword that fit_curve does not know
        raise FormatError(f"job fit_curve: {error}") from error
    header = {
        "joint": fit.joint.to_dict(),
        "iterations": int(fit.iterations),
        "converged": bool(fit.converged),
        "hessian_integral": float(fit.hessian_integral),
        "report": plain(fit.report()),
    }
    residuals = fit.residuals
    return header, {
        "q": fit.q,
        "rotation": residuals.rotation,
        "translation": residuals.translation,
        "distance": residuals.distance,
    }


def run_simulation(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Simulate: ``model``, ``state`` and keywords of ``simulate`` as ``options``; tau as arrays."""
    _check_keys(job, {"model", "state", "options"}, ("model",))
    model = model_from_document(job["model"])
    state = state_from_dict(model, job.get("state", {}))
    options = dict(job.get("options", {}))
    if "tau_times" in arrays:
        options["tau"] = Table(arrays["tau_times"], arrays.get("tau_values"))
    elif "tau" in arrays:
        options["tau"] = arrays["tau"]
    _prepare(("forward dynamics", "poses and energy"), report)
    report.message("simulating")
    try:
        result = simulate(model, state, progress=report.progress, **options)
    except TypeError as error:  # a keyword that simulate does not know
        raise FormatError(f"job simulate: {error}") from error
    return _result_answer(result)


def evaluate_joint(job: Header, arrays: Arrays, report: Report) -> tuple[Header, Arrays]:
    """Poses (N, 4, 4) of a ``joint`` at q (N, n); with ``derivatives`` also S (N, 6, n), dS (N, 6, n, n)."""
    _check_keys(job, {"joint", "derivatives"}, ("joint",))
    joint = joints.from_dict(job["joint"])
    if "q" not in arrays:
        raise FormatError("a job evaluate_joint needs the array 'q'")
    q = arrays["q"]
    if not job.get("derivatives", False):
        _prepare(("poses and energy",), report)
        return {}, {"transforms": joint.transform(q)}
    _prepare(("joint geometry",), report)
    n = joint.num_coordinates
    transforms, subspaces, hessians = (
        np.empty((len(q), 4, 4)),
        np.empty((len(q), 6, n)),
        np.empty((len(q), 6, n, n)),
    )
    for k, coordinates in enumerate(q):
        transforms[k], subspaces[k], hessians[k] = joint.evaluate(coordinates)
    return {}, {"transforms": transforms, "S": subspaces, "dS": hessians}


def _result_answer(result: Result) -> tuple[Header, Arrays]:
    header = {"rotations": list(result.rotations), "info": plain(result.info)}
    return header, dict(result_arrays(result))


def _check_keys(job: Mapping[str, Any], known: Iterable[str], required: Iterable[str]) -> None:
    for key in job:
        if key not in known:
            raise FormatError(f"unknown key {key!r} in a job; known are {', '.join(sorted(known))}")
    for key in required:
        if key not in job:
            raise FormatError(f"the key {key!r} is missing in a job")


def _small_model() -> Model:
    builder = ModelBuilder()
    builder.add_body(
        "pendulum", joint=joints.Hinge((1.0, 0.0, 0.0)), mass=1.0, com=(0.0, 0.0, -1.0), inertia=np.eye(3)
    )
    return builder.build()


def _compile_forward_dynamics() -> None:
    model = _small_model()
    simulate(model, model.state(), duration=1e-3, dt=1e-3)


def _compile_observation() -> None:
    model = _small_model()
    dynamics.energy(model, model.state())


def _compile_joint_geometry() -> None:
    joints.Hinge().evaluate(0.0)


#: what is compiled before its first use, by the name that the user reads
STAGES: dict[str, Callable[[], None]] = {
    "forward dynamics": _compile_forward_dynamics,
    "poses and energy": _compile_observation,
    "joint geometry": _compile_joint_geometry,
}
_compiled: set[str] = set()


def _prepare(stages: Iterable[str], report: Report) -> None:
    """Compile the stages that this process has not compiled or loaded yet, and say so."""
    for stage in stages:
        if _jit.JITTED and stage not in _compiled:
            report.message(f"compiling {stage}")
            STAGES[stage]()
            _compiled.add(stage)


#: every kind of job but ``ping``, which the server answers without the physics
JOBS: dict[str, Callable[[Header, Arrays, Report], tuple[Header, Arrays]]] = {
    "warm_up": warm_up,
    "fit_curve": fit_curve,
    "simulate": run_simulation,
    "evaluate_joint": evaluate_joint,
}
