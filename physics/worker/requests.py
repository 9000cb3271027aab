"""The parent's typed face of the jobs: what physics takes and gives, instead of headers and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import joints
from .._typing import FloatArray
from ..errors import FormatError
from ..io.model_file import plain, state_to_dict
from ..io.result_file import result_from_arrays
from ..joints import Joint
from ..model import Model, State
from ..result import Result
from ..simulation import Table
from .client import Answer, Job, WorkerClient


@dataclass(frozen=True)
class FittedCurve:
    """What ``fitting.fit_curve`` found, as the compute process tells it.

    Attributes:
        joint: the fitted joint.
        q: parameters of the poses (N,).
        rotation, translation, distance: residuals of the poses (N,) [rad, m, in the metric of the fit].
        iterations, converged, hessian_integral: how the fit went.
        report: residuals in millimetres and degrees and the like, JSON-able.
    """

    joint: Joint
    q: FloatArray
    rotation: FloatArray
    translation: FloatArray
    distance: FloatArray
    iterations: int
    converged: bool
    hessian_integral: float
    report: dict[str, Any]


def warm_up(client: WorkerClient, stages: Sequence[str] | None = None) -> Job:
    """Compile in the background what simulations need; ``job.message`` says what goes on."""
    return client.submit("warm_up", {} if stages is None else {"stages": list(stages)})


def fit_curve(client: WorkerClient, poses: Any, **keywords: Any) -> Job:
    """Fit a curve joint to poses (N, 4, 4); keywords as ``fitting.fit_curve`` but for progress."""
    arrays = {"poses": np.asarray(poses, dtype=np.float64)}
    header: dict[str, Any] = {}
    for name, value in keywords.items():
        if isinstance(value, (np.ndarray, list, tuple)):
            arrays[name] = np.asarray(value, dtype=np.float64)
        else:
            header[name] = plain(value)
    return client.submit("fit_curve", header, arrays)


def fit_curve_answer(answer: Answer) -> FittedCurve:
    """The fitted curve of a finished job (``job.result``)."""
    header, arrays = answer.header, answer.arrays
    return FittedCurve(
        joint=joints.from_dict(header["joint"]),
        q=arrays["q"],
        rotation=arrays["rotation"],
        translation=arrays["translation"],
        distance=arrays["distance"],
        iterations=header["iterations"],
        converged=header["converged"],
        hessian_integral=header["hessian_integral"],
        report=header["report"],
    )


def simulate(client: WorkerClient, model: Model, state: State, **keywords: Any) -> Job:
    """Simulate; keywords as ``simulation.simulate`` but for progress (duration is one of them)."""
    options = dict(keywords)
    tau = options.pop("tau", None)
    arrays: dict[str, FloatArray] = {}
    if isinstance(tau, Table):
        arrays["tau_times"], arrays["tau_values"] = tau.checked(model.num_coordinates)
    elif tau is not None:
        arrays["tau"] = np.asarray(tau, dtype=np.float64)
    header = {"model": model.to_dict(), "state": state_to_dict(state), "options": plain(options)}
    return client.submit("simulate", header, arrays)


def simulate_answer(answer: Answer, model: Model) -> Result:
    """The motion, with poses, of a finished job (``job.result``) or a diverged one (``error.partial``)."""
    return result_from_arrays(model, answer.arrays, answer.header["rotations"], answer.header["info"])


def evaluate_joint(client: WorkerClient, joint: Joint, q: Any, derivatives: bool = False) -> Job:
    """Evaluate a joint at coordinates (N, n)."""
    q = np.asarray(q, dtype=np.float64)
    if q.ndim != 2:
        raise FormatError(f"coordinates to evaluate must have shape (N, n), got {q.shape}")
    return client.submit("evaluate_joint", {"joint": joint.to_dict(), "derivatives": derivatives}, {"q": q})


def evaluate_joint_answer(answer: Answer) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """Poses (N, 4, 4), and where they were asked for S (N, 6, n) and dS (N, 6, n, n)."""
    return answer.arrays["transforms"], answer.arrays.get("S"), answer.arrays.get("dS")
