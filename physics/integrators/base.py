"""Input of every integrator, and its samples, cancellation and failure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..errors import CancelledError, DivergedError, ModelError
from ..forces import ForceField, Wrench
from ..forces.feedback import pack_feedback
from ..kernels import layout
from ..kernels.constraints.layout import EQUALITY, SEGMENTS
from ..model.coordinates import rotation_coordinates
from ..model.diagnosis import Finding
from ..model.model import Model
from ..model.observation import observe
from ..model.result import Result
from ..motions.motion import MotionArrays
from .control import Control

REASONS = {
    layout.OUT_OF_RANGE: "its joint left its range",
    layout.SINGULAR: "a coordinate moves no inertia",
    layout.NOT_FINITE: "a coordinate is no longer finite",
    layout.NOT_CONVERGED: "Newton's iteration did not converge: take a smaller step",
    layout.TOO_MANY_CONTACTS: "it has more simultaneous contacts than the workspace holds",
    layout.CONTRADICTION: "constraints cannot be satisfied",
    layout.ENERGY_LEAP: "its energy jumps by more than the work done on it",
}

#: places and rates of all nodes as kernels order them, each (3 n,); None without soft bodies
Nodes: TypeAlias = "tuple[FloatArray, FloatArray] | None"
#: called before every batch of a fixed-step method with the steps done, q, q', nodes and the run's ``Result.info``;
#: returns the number of steps to take, 0 to end, and whether a change altered the energy
Steer = Callable[[int, FloatArray, FloatArray, Nodes, Mapping[str, Any]], tuple[int, bool]]


@dataclass(frozen=True, eq=False)
class Problem:
    """A checked simulation: see `simulation.simulate` for the attributes; `steer` is that of `live`, `findings` are
    about the start, `origin` is the time [s] of its time 0, and `latest` whether samples are of the last steps only.
    own: the model without the targets that motions lead, of which the result is. whole: as gradients need it, no step
    is taken in parts for the energy that it gains, and beside constraints stages are kept. feedback: of
    `pack_feedback`, where the run changes its numbers.
    """

    model: Model
    start: float
    duration: float
    dt: float
    samples: FloatArray
    tau: tuple[FloatArray, FloatArray]
    motions: MotionArrays
    control: Control | None
    progress: Callable[[float], bool | None] | None
    rtol: float
    atol: float
    integrator: str = ""
    steer: Steer | None = None
    findings: tuple[Finding, ...] = ()
    origin: float = 0.0
    latest: bool = False
    own: Model | None = None
    whole: bool = False
    feedback: tuple[Any, ...] = ()

    def tables(self) -> tuple[Any, ...]:
        """Of forces and inputs for the kernels, with a memory of its own for the model's feedback laws."""
        return (*self.tau, *(self.feedback or pack_feedback(self.model)))


Stages: TypeAlias = "tuple[tuple[float, float], ...]"
EULER: Stages = ((0.0, 1.0),)


def scheme(number: int, stages: Stages = EULER) -> FloatArray:
    """An explicit method for the kernels (see `layout`), from its number and stages (see `Method`)."""
    whole = sum(weight for _, weight in stages)
    return np.array([number, len(stages), whole, *np.ravel(stages)], dtype=np.float64)


@dataclass(frozen=True)
class Method:
    """An integration method.

    Attributes:
        name: in files and menus. order: of convergence in dt; None where the method chooses it.
        description: of what it is and what it is for.
        run: it, from a problem, itself and a state. number: the kernels' own; -1 where steps are not dt long.
        stages: of an explicit method, the time of each as a share of the step, and its weight; each starts along the
            slopes of the one before.
        stable: step times rate up to which it is stable, for eigenvalues anywhere in the left half-plane.
        refusals: each raises ModelError where a model has what the method of a name cannot give.
        at_cusps: it has the impulses at cusps of joints.
    """

    name: str
    order: int | None
    description: str
    run: Callable[[Problem, Method, State], Result]
    number: int = -1
    stages: Stages = EULER
    stable: float = 0.0
    refusals: tuple[Callable[[Model, str], None], ...] = ()
    at_cusps: bool = False

    @property
    def scheme(self) -> FloatArray:
        """Number and stages of an explicit method for the kernels (see `layout`)."""
        return scheme(self.number, self.stages)

    def check(self, model: Model) -> None:
        """ModelError if the method does not support the model."""
        for refuse in self.refusals:
            refuse(model, self.name)
        if model.feedback_laws and self.number < 0:
            raise ModelError(
                f"the integrator {self.name!r} does not support the feedback {model.feedback_laws[0].name!r}: use a "
                "method with a fixed step"
            )
        self.check_cusps(model)

    def check_cusps(self, model: Model) -> None:
        """ModelError if the model's joints have cusps and the method no impulses there."""
        if model.cusped and not self.at_cusps:
            raise ModelError(
                f"the integrator {self.name!r} does not support the impulses at cusps of the joint of body "
                f"{model.cusped!r}: use event_driven"
            )


def refuse_impulses(model: Model, name: str) -> None:
    """ModelError if a model needs impulses, which adaptive methods do not have."""
    take = "use event_driven, or a method with a fixed step"
    if model.has_hard_limits:
        raise ModelError(
            f"the integrator {name!r} does not support the impulses of hard limits (limit_restitution): {take}, "
            "or compliant limits"
        )
    for touching in model.contact_names[:1]:
        raise ModelError(f"method {name!r} does not support contacts ({touching!r}): {take}")
    for name_, constraint in model.constraints.items():
        if constraint.packed(model).sense != EQUALITY:
            raise ModelError(f"method {name!r} does not support the one-sided constraint {name_!r}: {take}")
    refuse_corners(model, name)


def refuse_corners(model: Model, name: str) -> None:
    """ModelError for a bilateral constraint to segments: at their corners the velocity jumps."""
    for name_, constraint in model.constraints.items():
        packed = constraint.packed(model)
        if packed.kind == SEGMENTS and packed.sense == EQUALITY and packed.data[0] > 1.0:
            raise ModelError(
                f"the integrator {name!r} does not support the impulses at the corners of constraint {name_!r}: use a "
                "method with a fixed step"
            )


def carry(model: Model, state: State, tau: FloatArray) -> None:
    """Write the muscle states where kernels read them, after forces and inputs in tau."""
    carried = model.carried(state.muscle_states)
    first = model.num_coordinates + model.num_inputs
    tau[first : first + len(carried)] = carried


def watch_closely(
    problem: Problem, state: State, spaces: Any, *, damps: bool = False, behind: float = 0.0
) -> None:
    """Compare each step's energy with the initial energy and the work of forces (see ``step_checks``).

    Only if all energy has a known source: not with motions prescribed within joints, wrenches that do not store their
    work, springs whose energy depends on the chart, or muscles whose mass neglects terms of its energy. The work of a
    muscle's pull is not known: its instability counts as work.

    A gain ends the run only if no motion is prescribed and nobody changes parameters; otherwise it is only recorded.
    spaces: workspaces of the run, which keep the record. damps: whether the method can only dissipate. behind: by how
    many steps the inputs that remain in tau after a step lag its end.
    """
    checks = kernels.stepping.step_checks
    model = problem.model
    row = energy_row(model, spaces[0])
    row[checks.KINETIC] = row[checks.LEAST] = np.inf  # the first check only records the energy
    row[checks.BEYOND] = checks.BEYOND_DAMPING if damps else checks.BEYOND_ALL
    # bodies at rest on ground may vibrate at the speed that gravity adds in two steps
    fall = 2.0 * problem.dt * math.hypot(*model.gravity)
    row[checks.LIVELIEST] = 0.5 * float(model.arrays[1][:, layout.MASS].sum()) * fall**2
    unknown = (
        model.prescribed.any()
        or springs_leap(model)
        or any(isinstance(force, Wrench | ForceField) and not force.stores_all for force in model.forces)
        or any(muscle.mass and not muscle.rounding for muscle in model.muscles)
        or any(muscle.has_inertia and not muscle.velocity_terms for muscle in model.muscles)
    )
    if unknown:
        return
    row[checks.BOOKED], row[checks.CONTROLLED] = 1.0, float(bool(model.controllers) or problem.whole)
    row[checks.BEHIND] = behind
    if problem.steer is None and not len(problem.motions[0]):
        kinetic, _, total = observe(model, state.q[None], state.qd[None], anywhere=True, spaces=spaces)[1][0]
        row[checks.CLOSED], row[checks.FIRST] = 1.0, total
        row[checks.MOST] = max(kinetic, row[checks.LIVELIEST])


def energy_row(model: Model, work: FloatArray) -> FloatArray:
    """The row of the bodies' workspace with the record of energy."""
    row: FloatArray = work[model.num_bodies + layout.SURFACE_ROWS]
    return row


def note_energy(problem: Problem, work: FloatArray, recording: Recording) -> None:
    """Write the numerical energy gain of a fixed-step run to ``Result.info``, if it is known and finite.

    An infinite gain ends the run with an error of its own.
    """
    checks = kernels.stepping.step_checks
    row = energy_row(problem.model, work)
    gained, kinetic, done = (float(row[at]) for at in (checks.GAINED, checks.LIVELIEST, checks.DONE))
    if row[checks.BOOKED] and math.isfinite(gained + kinetic + done):
        recording.info["energy"] = {"gained": gained, "most_kinetic": kinetic, "work": done}


def forget_energy(problem: Problem, work: FloatArray) -> None:
    """Restart the record of energy; gains so far are kept.

    Jumps of prescribed motions and parameters changed by a user are not work of a step. The next steps are all checked,
    as at the start, because the record may restart again soon.
    """
    checks = kernels.stepping.step_checks
    row = energy_row(problem.model, work)
    row[checks.LEAST], row[checks.TURN] = np.inf, 0.0


def springs_leap(model: Model) -> bool:
    """Whether a joint spring's stretch and energy change when a rotation vector changes its chart."""
    vectors = rotation_coordinates(model)
    turned = model.arrays[4][vectors]
    return bool(len(vectors)) and bool(
        turned[:, [layout.STIFFNESS, layout.LIMIT_STIFFNESS, layout.LAW]].any()
    )


def refuse_muscle_states(model: Model, name: str) -> None:
    """ModelError if muscles have states, which the method does not advance."""
    if model.num_muscle_states:
        raise ModelError(
            f"the integrator {name!r} does not advance {model.muscle_state_names[0]!r}, a state of a muscle: "
            "use a method with a fixed step"
        )


class Recording:
    """The samples of a run, written as they are computed; the first is the initial state."""

    def __init__(
        self,
        problem: Problem,
        q: FloatArray,
        qd: FloatArray,
        info: dict[str, Any],
        muscle_states: FloatArray | None = None,
    ) -> None:
        count = len(problem.samples)
        self.problem = problem
        # coordinates followed by muscle states: the kernels write both
        self.rows = np.zeros((count, len(q) + (0 if muscle_states is None else len(muscle_states))))
        self.q = self.rows[:, : len(q)]
        self.muscle_states = None if muscle_states is None else self.rows[:, len(q) :]
        if self.muscle_states is not None:
            self.muscle_states[0] = muscle_states
        self.qd = np.zeros((count, len(q)))
        self.q[0], self.qd[0] = q, qd
        self.info = info
        self.forces: FloatArray | None = None
        self.efforts: FloatArray | None = None
        self.stages: FloatArray | None = None
        self.settle: Callable[[int], None] | None = None  # completes the first samples, given their number
        self.soft: FloatArray | None = None  # places and rates of soft bodies' nodes, as kernels order them
        self.dropped = 0

    def result(self, written: int) -> Result:
        """The first `written` samples."""
        if self.settle is not None:
            self.settle(written)
        return Result(
            self.problem.model,
            self.problem.samples[:written].copy(),
            self.q[:written].copy(),
            self.qd[:written].copy(),
            self.info,
            None if self.forces is None else self.forces[:written].copy(),
            None if self.efforts is None else self.efforts[:written].copy(),
            None if self.muscle_states is None else self.muscle_states[:written].copy(),
            None
            if self.soft is None
            else self.problem.model.soft_mesh.outward(self.soft[:, :written].swapaxes(0, 1)),
            None if self.stages is None else self.stages[:written],
        )

    def drop(self, count: int) -> None:
        """Drop the first samples to make room for as many later ones, one for each step."""
        samples, end = self.problem.samples, len(self.problem.samples) - count
        soft = () if self.soft is None else self.soft
        for kept in (samples, self.rows, self.qd, self.forces, self.efforts, *soft):
            if kept is not None:
                kept[:end] = kept[count:].copy()
        self.dropped += count
        later = self.dropped + np.arange(end, len(samples))
        samples[end:] = self.problem.start + later * self.problem.dt

    def report(self, fraction: float, written: int) -> None:
        """Report the completed fraction; CancelledError if the caller cancels."""
        if self.problem.progress is None:
            return
        answer = self.problem.progress(min(fraction, 1.0))
        # a finished run is not cancelled
        if isinstance(answer, bool | np.bool_) and not answer and fraction < 1.0:
            raise CancelledError(f"cancelled at {fraction:.0%}", self.result(written))

    def ask(self, t: float, dt: float, q: FloatArray, qd: FloatArray, reached: float, written: int) -> None:
        """Call a controller for a step from t on, or for the instant if dt is 0.

        Raises:
            DivergedError: at the time reached, if it returns no valid forces; a ModelError at the start.
        """
        control = self.problem.control
        if control is None:
            return
        try:
            control.prepare(t, dt, q, qd)
        except ModelError as error:
            if t == self.problem.start:
                raise
            body = control.body_at_fault()
            raise DivergedError(reached, body, str(error), self.result(written)) from error

    def check(self, flags: Any, time: float, written: int) -> None:
        """DivergedError if a kernel raised a flag."""
        status = int(flags[layout.STATUS])
        if status == layout.OK:
            return
        model, culprit = self.problem.model, int(flags[layout.CULPRIT])
        if status == layout.LOST_STATE:
            state = model.muscle_state_names[culprit]
            muscle = next(muscle for muscle in model.muscles if state in muscle.state_names)
            body = next(point.body for point in muscle.points if point.body is not None)
            reason = f"the state {state!r} of a muscle on it is no longer finite"
            raise DivergedError(time, body, reason, self.result(written))
        raise DivergedError(time, model.body_names[culprit], REASONS[status], self.result(written))
