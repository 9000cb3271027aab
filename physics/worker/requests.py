"""The parent's typed interface to the jobs: objects of the physics instead of headers and arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import joints
from .._typing import FloatArray
from ..bodies.state import State
from ..errors import FormatError
from ..fitting import CurveFit, MeshJointFit, Residuals, SurfaceFit
from ..io.model_file import plain, state_to_dict
from ..io.result_file import result_from_arrays
from ..joints import Joint
from ..kinematics.projection import Projection
from ..model.model import Model
from ..model.result import Result
from ..motions.table import Table
from ..simulation.between_samples import Between
from .client import Answer, Job, WorkerClient
from .goals import Goal, Physical, Solution

#: keywords of fits with one value per pose, sent as arrays; the others are sent in the header
POSE_ARRAYS = ("q", "weights")


def warm_up(client: WorkerClient, stages: Sequence[str] | None = None) -> Job:
    """Compile kernels for simulations in the background; ``job.message`` is the current activity."""
    return client.submit("warm_up", {} if stages is None else {"stages": list(stages)})


def fit_curve(client: WorkerClient, poses: Any, **keywords: Any) -> Job:
    """Fit a curve joint to poses (N, 4, 4); keywords as ``fit_curve``, except progress."""
    return _fit(client, "fit_curve", poses, keywords)


def fit_surface(client: WorkerClient, poses: Any, **keywords: Any) -> Job:
    """Fit a surface joint to poses (N, 4, 4); keywords as ``fit_surface``, except progress."""
    return _fit(client, "fit_surface", poses, keywords)


def fit_meshes(client: WorkerClient, first: Any, second: Any, pose: Any, **keywords: Any) -> Job:
    """Fit a curve joint to two meshes in contact; arguments as of ``fit_joint_to_meshes``, except progress."""
    meshes = zip(("first", "second"), (first, second))
    arrays = {
        f"{name}_{part}": value
        for name, mesh in meshes
        for part, value in zip(("vertices", "triangles"), mesh)
    }
    return client.submit("fit_meshes", plain(keywords), arrays | {"pose": np.asarray(pose, dtype=np.float64)})


def fit_meshes_answer(answer: Answer) -> MeshJointFit:
    """The fit of a finished job (``job.result``)."""
    names = answer.header["fitted"]
    fit = fit_curve_answer(Answer(answer.header["fit"], {name: answer.arrays[name] for name in names}))
    measured = {name: value for name, value in answer.arrays.items() if name not in names}
    return MeshJointFit(fit=fit, gap=answer.header["gap"], **measured)


def _fit(client: WorkerClient, kind: str, poses: Any, keywords: dict[str, Any]) -> Job:
    arrays = {"poses": np.asarray(poses, dtype=np.float64)}
    header: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in POSE_ARRAYS and value is not None:
            arrays[name] = np.asarray(value, dtype=np.float64)
        else:
            header[name] = plain(value)
    return client.submit(kind, header, arrays)


def fit_curve_answer(answer: Answer) -> CurveFit:
    """The fit of a finished job (``job.result``)."""
    header, arrays = answer.header, answer.arrays
    more: dict[str, Any] = {name: arrays.get(name) for name in ("weights", "metric")}
    more |= {"pinned": tuple(header["pinned"]), "tried": tuple(map(tuple, header["tried"]))}
    return CurveFit(**_fitted(answer, joints.SplineCurve) | more)


def fit_surface_answer(answer: Answer) -> SurfaceFit:
    """The fit of a finished job (``job.result``)."""
    return SurfaceFit(**_fitted(answer, joints.SplineSurface))


def _fitted(answer: Answer, kind: type[Joint]) -> dict[str, Any]:
    """What all fits have; FormatError if the joint is of another kind."""
    arrays, joint = answer.arrays, joints.from_dict(answer.header["joint"])
    if not isinstance(joint, kind):
        raise FormatError(f"the answer to a fit has a {joint.type} joint, not a {kind.type}")
    residuals = Residuals(arrays["rotation"], arrays["translation"], arrays["distance"])
    steps = tuple(arrays["steps"].tolist())
    return {**answer.header, "joint": joint, "q": arrays["q"], "residuals": residuals, "steps": steps}


def project(client: WorkerClient, joint: Joint, poses: Any, **keywords: Any) -> Job:
    """Project poses (N, 4, 4) onto a joint; keywords as ``project``, the metric as a matrix."""
    arrays = {"poses": np.asarray(poses, dtype=np.float64)}
    for name in ("bounds", "metric"):
        if keywords.get(name) is not None:
            arrays[name] = np.asarray(keywords.pop(name), dtype=np.float64)
    return client.submit("project", {"joint": joint.to_dict(), **plain(keywords)}, arrays)


def project_answer(answer: Answer) -> Projection:
    """The coordinates from a finished job (``job.result``)."""
    return Projection(**answer.arrays)


def simulate(client: WorkerClient, model: Model, state: State, **keywords: Any) -> Job:
    """Simulate; keywords as ``simulation.simulate`` (duration among them), except progress.

    ``assemble`` starts from the nearby state that satisfies the constraints. ``loop``: further keywords of
    ``simulate_loop``, or None. ``pulls``: {body: `Pull`}. ``controllers``: {muscle: `Proportional`} that excite muscles
    in addition to tau. ``between`` adds the poses that `between_answer` reads, unless it is a loop.
    """
    return client.submit("simulate", *simulation({"model": model, "state": state, **keywords}))


def settle(client: WorkerClient, names: Sequence[str], **keywords: Any) -> Job:
    """Find coordinates at which bodies of these names rest, others held by motions; keywords as of ``simulate`` here,
    tau (nv + inputs,) among them. The array "q" of the answer has the coordinates.
    """
    header, arrays = simulation(keywords)
    return client.submit("settle", header | {"names": list(names)}, arrays)


def live(
    client: WorkerClient,
    model: Model,
    state: State,
    factor: float = 1.0,
    repeating: Mapping[str, Any] | None = None,
    **keywords: Any,
) -> Job:
    """Run in real time until stopped; keywords as ``simulate`` here, without duration and tolerances.

    repeating: keywords of `Repeating` for inputs that repeat after a period. ``job.news`` has figures, "poses"
    (nb, 4, 4) and of soft bodies "nodes" (n, 3). ``job.tell`` takes the messages of ``live.LiveRun``, and {"stop":
    {"from": time, "to": time}} or {"stop": None}. ``simulate_answer`` reads the part of the motion requested by "stop".
    """
    header, arrays = simulation({"model": model, "state": state, **keywords})
    return client.submit("live", {**header, "factor": factor, "repeating": plain(repeating or {})}, arrays)


def solve_goals(client: WorkerClient, goals: Sequence[Goal], knots: Any, **keywords: Any) -> Job:
    """Search for torques or excitations that meet goals; keywords ``torques``, ``effort``, ``most`` as of
    `goals.solve`, others as of ``simulate`` here, with the model and the state.
    """
    own = {name: keywords.pop(name) for name in ("torques", "effort", "most") if name in keywords}
    header, arrays = simulation(keywords)
    wanted = [plain(vars(each)) for each in goals]
    header |= {"goals": wanted, **plain(own)}
    return client.submit("solve_goals", header, arrays | {"knots": np.asarray(knots, dtype=np.float64)})


def solve_goals_answer(answer: Answer) -> Solution:
    """The torques or excitations from a finished job (``job.result``)."""
    header, arrays = answer.header, answer.arrays
    torques = dict(zip(header["names"], arrays["torques"]))
    return Solution(arrays["times"], torques, list(header["misses"]), int(header["gradients"]))


def make_physical(client: WorkerClient, times: Any, wanted: Any, knots: Any, **keywords: Any) -> Job:
    """Search for torques whose motion is nearest to coordinates ``wanted`` (T, nv) at times (T,) [s]; keywords
    ``torques``, ``followed``, ``strength``, ``budgets`` as of `nearest_motion`, others as of ``simulate`` here, with
    the model and the state.
    """
    own = {
        name: keywords.pop(name)
        for name in ("torques", "followed", "strength", "budgets")
        if name in keywords
    }
    header, arrays = simulation(keywords)
    given = {"times": times, "wanted": wanted, "knots": knots}
    arrays |= {name: np.asarray(array, dtype=np.float64) for name, array in given.items()}
    return client.submit("make_physical", header | plain(own), arrays)


def make_physical_answer(answer: Answer) -> Physical:
    """The torques from a finished job (``job.result``)."""
    header, arrays = answer.header, answer.arrays
    torques = dict(zip(header["budgets"], arrays["torques"]))
    return Physical(arrays["times"], torques, arrays["apart"], **header)


def simulation(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Header and arrays of the job of a simulation with these arguments, as of `simulate`."""
    options = dict(arguments)
    model, state = options.pop("model"), options.pop("state")
    motions = {name: motion.to_dict() for name, motion in (options.pop("motions", None) or {}).items()}
    together = {"assemble": bool(options.pop("assemble", False)), "motions": motions}
    together |= {"loop": plain(loop)} if (loop := options.pop("loop", None)) else {}
    together |= {"between": True} if options.pop("between", False) else {}
    pulls = {name: pull.to_dict() for name, pull in (options.pop("pulls", None) or {}).items()}
    together |= {"pulls": pulls} if pulls else {}
    controllers = {name: each.to_dict() for name, each in (options.pop("controllers", None) or {}).items()}
    together |= {"controllers": controllers} if controllers else {}
    tau = options.pop("tau", None)
    arrays: dict[str, FloatArray] = {}
    if isinstance(tau, Table):
        arrays["tau_times"], arrays["tau_values"] = tau.checked(model)
    elif tau is not None:
        arrays["tau"] = (
            model.with_inputs(tau) if isinstance(tau, Mapping) else np.asarray(tau, dtype=np.float64)
        )
    header = {"model": model.to_dict(), "state": state_to_dict(state), "options": plain(options)}
    return {**header, **together}, arrays


def simulate_answer(answer: Answer, model: Model) -> Result:
    """The motion, with poses, of a finished job (``job.result``) or a diverged one (``error.partial``)."""
    return result_from_arrays(model, answer.arrays, answer.header["rotations"], answer.header["info"])


def between_answer(answer: Answer) -> Between | None:
    """The motion between samples; None if it was not requested."""
    arrays = answer.arrays
    if "between_rows" not in arrays:
        return None
    return Between(arrays["between_rows"], arrays["between_poses"], arrays["between_missed"])


def muscle_paths(client: WorkerClient, model: Model, q: Any, count: int = 48) -> Job:
    """Paths of a model's muscles at coordinates (T, nv), with `count` points each."""
    return client.submit(
        "muscle_paths", {"model": model.to_dict(), "count": count}, {"q": np.asarray(q, dtype=np.float64)}
    )


def muscle_paths_answer(answer: Answer) -> tuple[FloatArray, FloatArray]:
    """World points (T, muscles, count, 3) and lengths (T, muscles) [m]."""
    return answer.arrays["points"], answer.arrays["lengths"]
