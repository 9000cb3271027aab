"""Compiling ahead, in named stages, beside the jobs: a fit does not wait until the dynamics are compiled.

One thread compiles; a job that needs a stage waits for it, says so, and can be cancelled meanwhile. Where the
kernels run unjitted there is nothing to wait for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

import numpy as np

from .. import dynamics, joints
from ..builder import ModelBuilder
from ..errors import CancelledError, FormatError
from ..inverse_kinematics import inverse_kinematics
from ..kernels import _jit
from ..kinematic_targets import Target
from ..model import Model
from ..projection import project
from ..simulation import simulate

LOOK_INTERVAL = 0.05  # seconds between two looks whether a waiting job is still wanted
LOADING_TIME = 1.5  # seconds within which kernels come out of the cache; what takes longer is being compiled


class Report(Protocol):
    """What a job tells while it runs (``server.Report``)."""

    def message(self, text: str) -> None:
        """Say what goes on; raises CancelledError where the job is no longer wanted."""

    def progress(self, fraction: float, text: str = "") -> bool:
        """Say how much is done, and what goes on if that is new; False asks to stop."""

    def news(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Send what is seen now of a job that goes on; CancelledError where it is no longer wanted."""

    def told(self) -> list[dict[str, Any]]:
        """What the parent has said to this job since the last call."""


def prepare(stages: Iterable[str], report: Report) -> None:
    """Wait until stages are compiled, or loaded from the cache; compiles what nobody has asked for yet.

    Raises:
        FormatError: there is no such stage.
        CancelledError: the job is no longer wanted; compiling goes on.
    """
    names = list(stages)
    for name in names:
        if name not in STAGES:
            raise FormatError(f"unknown stage {name!r} to compile; known are {', '.join(STAGES)}")
    if not _jit.JITTED:
        return
    for name, future in [(name, _submit(name)) for name in names]:
        began = time.monotonic()
        text = f"preparing {name}"
        while not wait([future], LOOK_INTERVAL).done:
            if time.monotonic() - began > LOADING_TIME:
                text = f"compiling {name}"
            if not report.progress(0.0, text):
                raise CancelledError()
        future.result()


def _submit(name: str) -> Future[None]:
    with _lock:
        if name not in _futures:
            _futures[name] = _executor.submit(STAGES[name])
        return _futures[name]


def _small_model() -> Model:
    builder = ModelBuilder()
    joint = joints.Hinge((1.0, 0.0, 0.0))
    builder.add_body("pendulum", joint=joint, mass=1.0, com=(0.0, 0.0, -1.0), inertia=np.eye(3))
    return builder.build()


def _compile_observation() -> None:
    model = _small_model()
    dynamics.energy(model, model.state())


def _compile_joint_geometry() -> None:
    joints.Hinge().evaluate(0.0)


def _compile_forward_dynamics() -> None:
    model = _small_model()
    simulate(model, model.state(), duration=1e-3, dt=1e-3)


def _compile_projection() -> None:
    project(joints.Hinge(), np.eye(4))


def _compile_inverse_kinematics() -> None:
    inverse_kinematics(_small_model(), Target("pendulum", position=(0.0, 0.0, 1.0)), starts=1)


#: what is compiled before its first use, by the name that the user reads; quick ones first
STAGES: dict[str, Callable[[], None]] = {
    "poses and energy": _compile_observation,
    "joint geometry": _compile_joint_geometry,
    "forward dynamics": _compile_forward_dynamics,
    "projection": _compile_projection,
    "inverse kinematics": _compile_inverse_kinematics,
}
_executor = ThreadPoolExecutor(1, "compile")
_futures: dict[str, Future[None]] = {}
_lock = threading.Lock()
