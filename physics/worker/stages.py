"""Compiles kernels ahead in named stages, beside the jobs: a fit does not wait for the dynamics to compile.

One thread compiles what a job waits for, another what nobody waits for yet. A job waits for the stages it needs,
reports that, and can be cancelled meanwhile. Unjitted kernels need no stage.
"""

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import numpy as np

from .. import contacts, dynamics, joints
from ..analysis.muscle_drawing import muscle_curves
from ..constraints import DistanceConstraint
from ..dynamics.constrained import assemble, constrained_dynamics
from ..dynamics.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from ..dynamics.jacobian import body_jacobian
from ..dynamics.maximal import maximal_coordinates
from ..dynamics.samples import inverse_dynamics_of_samples
from ..dynamics.workspace import one_sided
from ..dynamics.wrenches import force_wrenches
from ..errors import CancelledError, FormatError
from ..kernels.compiler import jit
from ..kinematics.projection import project
from ..kinematics.solve import inverse_kinematics
from ..kinematics.targets import Target
from ..model.builder import ModelBuilder
from ..model.model import Model
from ..muscles import PathPoint, Tension
from ..optimize.objectives import Effort, Reach, Rest
from ..optimize.optimum import FROM_POSES, optimize
from ..optimize.parameters import Parameter
from ..simulation.simulate import simulate
from .report import Report
from .stage_names import (
    COLLIDERS,
    EQUALITIES,
    GRADIENTS,
    OBSERVATION,
    ONE_SIDED,
    TREE,
    WITH_MUSCLES,
    dynamics_stage,
    needed,
)

LOOK_INTERVAL = 0.05  # seconds between two checks whether a waiting job was cancelled
LOADING_TIME = 1.5  # seconds that loading from the cache may take; a longer stage is being compiled


def prepare(stages: Iterable[str], report: Report, done: float = 0.0, ahead: bool = False) -> None:
    """Wait until stages are compiled or loaded from the cache; submits those that nobody has requested yet.

    done: the fraction to report meanwhile. ahead: nobody waits for it.

    Raises:
        FormatError: an unknown stage.
        CancelledError: the job was cancelled; compilation continues.
    """
    names = list(stages)
    for name in names:
        if name not in STAGES:
            raise FormatError(f"unknown stage {name!r} to compile; known are {', '.join(STAGES)}")
    if not jit.JITTED:
        return
    for name, future in [(name, _submit(name, ahead)) for name in names]:
        _wait(name, future, report, done)


def rehearse(name: str, function: Callable[[], object], report: Report) -> None:
    """Run a function that compiles what no stage has, and wait for it as `prepare` does."""
    if jit.JITTED:
        _wait(name, _executors[False].submit(function), report, 0.0)


def _wait(name: str, future: Future[object], report: Report, done: float) -> None:
    began = time.monotonic()
    text = f"preparing {name}"
    while not wait([future], LOOK_INTERVAL).done:
        if time.monotonic() - began > LOADING_TIME:
            text = f"compiling {name}"
        if not report.progress(done, text):
            raise CancelledError()
    future.result()


def _submit(name: str, ahead: bool) -> Future[object]:
    with _lock:
        if name not in _futures:
            _futures[name] = _executors[ahead].submit(STAGES[name])
        return _futures[name]


def stages_of(model: Model, integrator: str, has_motions: bool) -> list[str]:
    """Names of the stages that a simulation needs; steps of soft bodies without impulses are compiled when they run."""
    kind = ONE_SIDED if one_sided(model) else EQUALITIES if model.constraints or has_motions else TREE
    names = needed(integrator, kind, bool(model.muscles))
    if model.soft_bodies and kind != ONE_SIDED and not model.constraints:
        names = names[:1]
    return [*names, COLLIDERS] if model.colliders else names


def _small_builder(kind: int = TREE) -> ModelBuilder:
    builder = ModelBuilder()
    hard: dict[str, Any] = {"limits": [[-1.0, 1.0]], "limit_restitution": 0.0} if kind == ONE_SIDED else {}
    joint = joints.Hinge((1.0, 0.0, 0.0))
    builder.add_body("pendulum", joint=joint, mass=1.0, com=(0.0, 0.0, -1.0), inertia=np.eye(3), **hard)
    if kind != TREE:
        builder.add_constraint(
            "point", DistanceConstraint("pendulum", None, (0, 0, -1), (0, 1, -1), length=1.0)
        )
    return builder


def _small_model(kind: int = TREE, muscled: bool = False) -> Model:
    builder = _small_builder(kind)
    if muscled:
        path = [PathPoint(None, (0.0, 0.2, 0.0)), PathPoint("pendulum", (0.0, 0.1, -0.5))]
        builder.add_muscle("muscle", path, law=Tension(1.0))
    return builder.build()


def _compile_observation(muscled: bool = False) -> None:
    model = _small_model(muscled=muscled)
    dynamics.energy(model, model.state())
    if muscled:
        muscle_curves(model, np.zeros((1, 1)), 2)


def _compile_dynamics(integrator: str, kind: int, muscled: bool) -> None:
    model = _small_model(kind, muscled)
    simulate(model, assemble(model, model.state()), duration=1e-3, dt=1e-3, integrator=integrator)


def _dynamics_stages() -> dict[str, Callable[[], None]]:
    """A stage for each family of methods, without and with muscles, whose kernels are compiled separately."""
    return {
        dynamics_stage(integrator, kind) + (WITH_MUSCLES if muscled else ""): partial(
            _compile_dynamics, integrator, kind, muscled
        )
        for muscled in (False, True)
        for integrator in ("symplectic_euler", "linearly_implicit_euler")
        for kind in (TREE, EQUALITIES, ONE_SIDED)
    }


def _compile_variable_steps() -> None:
    for model, integrator in (
        (_small_model(), "RK45"),
        (_small_model(EQUALITIES), "RK45"),
        (_small_model(ONE_SIDED), "event_driven"),
    ):
        simulate(model, assemble(model, model.state()), duration=1e-3, dt=1e-3, integrator=integrator)


def _compile_colliders() -> None:
    builder = _small_builder()
    beside = np.eye(4)
    beside[2, 3] = 1.0
    builder.add_collider("bob", "pendulum", contacts.Sphere(0.1), pose=beside)
    builder.add_collider("floor", None, contacts.Plane())
    model = builder.build()
    simulate(model, model.state(), duration=1e-3, dt=1e-3)


def _compile_gradients() -> None:
    model = _small_model()
    inverse_dynamics_of_samples(model, np.arange(4.0), np.zeros((4, 1)), degree=3)
    wanted = Reach("pendulum", (0.0, 1.0, 0.0)) + Rest() + 1e-3 * Effort()
    parameters = [Parameter("torque", model.coordinate_names[0])]
    options: dict[str, Any] = {"objective": wanted, "parameters": parameters, "method": "least squares"}
    optimize(
        model, model.state(), 2e-3, 1e-3, integrator="sdirk2", starts=FROM_POSES, most_gradients=1, **options
    )


def _compile_functions() -> None:
    model = _small_model()
    at = model.state()
    for function in (dynamics.inverse_dynamics, dynamics.mass_matrix, force_wrenches):
        function(model, at)
    body_jacobian(model, at, "pendulum")
    inverse_dynamics_derivatives(model, at, [0.0])
    forward_dynamics_derivatives(model, at)
    _ = maximal_coordinates(model, at).jacobian
    held = _small_model(ONE_SIDED)
    constrained_dynamics(held, held.state())


#: functions that compile each stage, by the name shown to the user
STAGES: dict[str, Callable[[], object]] = {
    OBSERVATION: _compile_observation,
    "joint geometry": lambda: joints.Hinge().evaluate(0.0),
    **_dynamics_stages(),
    OBSERVATION + WITH_MUSCLES: partial(_compile_observation, True),
    "projection": lambda: project(joints.Hinge(), np.tile(np.eye(4), (2, 1, 1)), continuous=True),
    "inverse kinematics": lambda: inverse_kinematics(
        _small_model(), Target("pendulum", (0.0, 0.0, 1.0)), starts=1
    ),
    COLLIDERS: _compile_colliders,
    GRADIENTS: _compile_gradients,
    "steps of variable length": _compile_variable_steps,
    "mass matrices and derivatives": _compile_functions,
}
_executors = {
    False: ThreadPoolExecutor(1, "compile"),
    True: ThreadPoolExecutor(1, "compile ahead"),
}
_futures: dict[str, Future[object]] = {}
_lock = threading.Lock()
