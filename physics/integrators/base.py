"""What every integrator is given, and what it does with samples, cancellation and failure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..errors import CancelledError, DivergedError, ModelError
from ..forces.wrench import Wrench
from ..kernels import layout
from ..kernels.constraints.layout import EQUALITY, SEGMENTS
from ..model.coordinates import rotation_coordinates
from ..model.model import Model
from ..model.observation import observe
from ..model.result import Result
from ..motions.motion import MotionArrays
from .control import Control

REASONS = {
    layout.OUT_OF_RANGE: "its joint left its range",
    layout.SINGULAR: "a coordinate moves no inertia",
    layout.NOT_FINITE: "a coordinate is no longer finite",
    layout.NOT_CONVERGED: "Newton's iteration found no end of the step: take a smaller one",
    layout.TOO_MANY_CONTACTS: "it touches more things at once than there is room for",
    layout.CONTRADICTION: "constraints cannot be met",
    layout.ENERGY_LEAP: "its energy leaps beyond the work that is done on it",
}

#: asked before every stretch of a fixed-step method with the steps done, q, q' and the run's ``Result.info``: how many
#: to take now, 0 to end, and whether something was turned that changes what energy there is
Steer = Callable[[int, FloatArray, FloatArray, Mapping[str, Any]], tuple[int, bool]]


#: methods of SciPy that choose their own steps
ADAPTIVE = ("RK45", "DOP853", "LSODA", "Radau", "BDF")


@dataclass(frozen=True, eq=False)
class Problem:
    """A checked simulation: see `simulation.simulate` for the meanings; `steer` is that of `live`."""

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
    steer: Steer | None = None


def refuse_impulses(model: Model, name: str) -> None:
    """ModelError where a model has what stops motion by impulses, which adaptive methods do not give."""
    take = "take event_driven, or a method with a fixed step"
    if model.has_hard_limits:
        raise ModelError(
            f"the integrator {name!r} cannot give the impulses of hard limits (limit_restitution): {take}, "
            "or limits that give way"
        )
    if model.contacts:
        raise ModelError(f"the integrator {name!r} cannot have contacts ({model.contacts[0].name!r}): {take}")
    for name_, constraint in model.constraints.items():
        if constraint.packed(model).sense != EQUALITY:
            raise ModelError(
                f"the integrator {name!r} cannot have constraint {name_!r}, which pushes in one sense only: {take}"
            )
    refuse_corners(model, name)


def refuse_corners(model: Model, name: str) -> None:
    """ModelError where a point keeps to segments in both senses: at their corners it loses velocity at once."""
    for name_, constraint in model.constraints.items():
        packed = constraint.packed(model)
        if packed.kind == SEGMENTS and packed.sense == EQUALITY and packed.data[0] > 1.0:
            raise ModelError(
                f"the integrator {name!r} cannot give the impulses at the corners of constraint {name_!r}: take a "
                "method with a fixed step"
            )


def carry(model: Model, state: State, tau: FloatArray) -> None:
    """Put the states of a model's muscles where kernels take them, behind forces and inputs in tau."""
    carried = model.carried(state.muscle_states)
    first = model.num_coordinates + model.num_inputs
    tau[first : first + len(carried)] = carried


def watch_closely(
    problem: Problem, state: State, spaces: Any, *, damps: bool = False, behind: float = 0.0
) -> None:
    """Have each step's energy held against what there was and what forces did (see ``kernels.watch``), where all of it
    has a known source: not where given motions within joints or hands may add to it, or forces that store none, or
    that store otherwise in another chart, or muscles whose mass leaves out what keeps its energy. What muscles do is
    known, but by their own pull: where that has lost its stability it counts as work. spaces: workspaces of the run,
    where the books are kept. damps: the method takes energy away, if anything. behind: by how many steps inputs, as
    the method leaves them, are behind the end of a step.

    It ends a run only where no coordinate is on a given motion and nobody turns what stores energy; books of it are
    kept there, too.
    """
    watch = kernels.stepping.watch
    model = problem.model
    row = energy_row(model, spaces[0])
    row[watch.KINETIC] = row[watch.LEAST] = np.inf  # the first look only notes what there is
    row[watch.BEYOND] = watch.BEYOND_DAMPING if damps else watch.BEYOND_ALL
    # what rests on ground may tremble by what gravity does in a step or two
    fall = 2.0 * problem.dt * math.hypot(*model.gravity)
    row[watch.LIVELIEST] = 0.5 * float(model.arrays[1][:, layout.MASS].sum()) * fall**2
    unknown = (
        model.prescribed.any()
        or springs_leap(model)
        or any(isinstance(force, Wrench) and not force.stores_all for force in model.forces)
        or any(muscle.mass and not (muscle.velocity_terms and muscle.rounding) for muscle in model.muscles)
    )
    if unknown:
        return
    row[watch.BOOKED], row[watch.CONTROLLED] = 1.0, float(bool(model.controllers))
    row[watch.BEHIND] = behind
    if problem.steer is None and not len(problem.motions[0]):
        kinetic, _, total = observe(model, state.q[None], state.qd[None], anywhere=True, spaces=spaces)[1][0]
        row[watch.CLOSED], row[watch.FIRST] = 1.0, total
        row[watch.MOST] = max(kinetic, row[watch.LIVELIEST])


def energy_row(model: Model, work: FloatArray) -> FloatArray:
    """The row of the bodies' workspace by which energy is watched."""
    row: FloatArray = work[model.num_bodies + layout.SURFACE_ROWS]
    return row


def note_energy(problem: Problem, work: FloatArray, recording: Recording) -> None:
    """Keep what a run with fixed steps has gained from nowhere, where that is known, for ``Result.info``.

    What has grown beyond all numbers is told by the error that ends such a run.
    """
    watch = kernels.stepping.watch
    row = energy_row(problem.model, work)
    gained, kinetic, done = (float(row[at]) for at in (watch.GAINED, watch.LIVELIEST, watch.DONE))
    if row[watch.BOOKED] and math.isfinite(gained + kinetic + done):
        recording.info["energy"] = {"gained": gained, "most_kinetic": kinetic, "work": done}


def forget_energy(problem: Problem, work: FloatArray) -> None:
    """Let the books begin anew: what a catch or a corner of a given motion did to places and speeds at once, or who
    turned a spring to what it stores, is no work of a step; what was gained before is kept.

    The next steps are all looked at, as the first ones are: the books may begin anew again before a stretch is over.
    """
    watch = kernels.stepping.watch
    row = energy_row(problem.model, work)
    row[watch.LEAST], row[watch.TURN] = np.inf, 0.0


def springs_leap(model: Model) -> bool:
    """Whether springs are stretched otherwise, and store another energy, where a rotation vector changes its chart."""
    vectors = rotation_coordinates(model)
    turned = model.arrays[4][vectors]
    return bool(len(vectors)) and bool(
        turned[:, [layout.STIFFNESS, layout.LIMIT_STIFFNESS, layout.LAW]].any()
    )


def refuse_muscle_states(model: Model, name: str) -> None:
    """ModelError where muscles carry states, which a method does not advance."""
    if model.num_muscle_states:
        raise ModelError(
            f"the integrator {name!r} does not advance {model.muscle_state_names[0]!r}, a state of a muscle: "
            "take a method with a fixed step"
        )


class Recording:
    """The samples of a run as they come; the first is the initial state."""

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
        # coordinates, and behind them states of muscles: the kernels write both
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
        self.settle: Callable[[int], None] | None = None  # what is left to do for the first samples, how many

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
        )

    def report(self, fraction: float, written: int) -> None:
        """Tell the fraction done; CancelledError where the caller has had enough."""
        if self.problem.progress is None:
            return
        answer = self.problem.progress(min(fraction, 1.0))
        if isinstance(answer, bool | np.bool_) and not answer and fraction < 1.0:  # what is done is done
            raise CancelledError(f"cancelled at {fraction:.0%}", self.result(written))

    def ask(self, t: float, dt: float, q: FloatArray, qd: FloatArray, reached: float, written: int) -> None:
        """Ask a controller for a step from t on, or for the instant where dt is 0. Where it gives no forces that is a
        DivergedError at the time reached; at the start, where nothing ran, a ModelError.
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
        """DivergedError where a kernel raised a flag."""
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
