"""Slopes of the state for SciPy's methods: of trees, and of models with constraints or prescribed motions."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..constraints.packing import answers_of, jacobian_of, make_system
from ..errors import DivergedError
from ..joints.packing import TangentSpace
from ..kernels import layout
from ..kernels.constraints import layout as rows
from ..kernels.stepping.motion_layout import CHANNEL_COUNT, CHANNEL_FIRST, PIECE_START
from ..motions.motion import MotionArrays
from .base import Problem, Recording
from .consistency import refuse_torn_at
from .control import body_of_coordinate
from .stops import EDGE

# Upper bound of speeds [m/s, rad/s]: beyond it a diverging motion would be followed by ever shorter steps, because
# errors consist of round-off in squared velocities.
FASTEST = 1e9

# A method's state may violate the constraints by this many tolerances before it is projected. Smaller values make
# multistep methods, which then restart, take more steps (BDF on a four-bar: four times as many at 10, a fifth more at
# 100).
AWAY = 100.0


class Slope:
    """d(q, q')/dt for SciPy; also writes samples and reports progress and failures.

    Attributes:
        reached: time of the last accepted state [s].
        written: number of samples.
    """

    def __init__(self, problem: Problem, recording: Recording) -> None:
        nv = problem.model.num_coordinates
        self.derivatives = kernels.dynamics.derivatives.inverse_dynamics_derivatives
        self.slopes = (np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv)))
        self.tangents = TangentSpace(problem.model.arrays[0]).arrays
        self.kernel = kernels.stepping.rollout.derivative
        self.first_not_finite = kernels.stepping.step_checks.first_not_finite
        self.problem = problem
        self.recording = recording
        self.reached, self.written = problem.start, 1
        self.spaces = problem.model.workspace().clear()
        self.tau = np.concatenate([problem.model.with_inputs(None), problem.model.carried(None)])
        first = problem.model.num_coordinates + problem.model.num_inputs
        count = problem.model.num_muscle_states
        self.states, self.rates = self.tau[first : first + count], self.tau[first + count : first + 2 * count]
        self.last_report = time.perf_counter()

    def __call__(self, t: float, y: FloatArray) -> FloatArray:
        slope = np.empty(len(y))
        nv, flags = self.problem.model.num_coordinates, self.spaces[2]
        self.recording.ask(t, 0.0, y[:nv], y[nv : 2 * nv], self.reached, self.written)
        self.evaluate(t, np.array(y), slope)
        if flags[layout.STATUS] == layout.OK and not np.isfinite(slope).all():
            flags[layout.STATUS] = layout.NOT_FINITE
            flags[layout.CULPRIT] = self.first_not_finite(
                self.problem.model.arrays[0], slope[:nv], slope[nv : 2 * nv]
            )
        self.recording.check(flags, self.reached, self.written)
        if time.perf_counter() - self.last_report > 0.05:
            self.last_report = time.perf_counter()
            self.recording.report((t - self.problem.start) / self.problem.duration, self.written)
        return slope

    def evaluate(self, t: float, state: FloatArray, slope: FloatArray) -> None:
        """Slope (2 nv + muscle states,) at a state of the same shape, which may be modified."""
        nv = self.problem.model.num_coordinates
        slope[:nv] = state[nv : 2 * nv]
        self.states[:] = state[2 * nv :]
        self.kernel(
            self.problem.model.arrays,
            self.problem.tau,
            t,
            state[:nv],
            state[nv : 2 * nv],
            state[nv : 2 * nv],
            self.tau,
            slope[nv : 2 * nv],
            self.spaces,
        )
        slope[2 * nv :] = self.rates

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Derivative (2 nv, 2 nv) of the slope by the state."""
        model, nv = self.problem.model, self.problem.model.num_coordinates
        slope = self(t, y)
        result = np.zeros((2 * nv, 2 * nv))
        result[:nv, nv:] = np.eye(nv)
        slopes, free = self.slopes, ~model.prescribed
        q, qd, qdd = (np.array(part) for part in (y[:nv], y[nv:], slope[nv:]))
        self.derivatives(model.arrays, q, qd, qdd, self.tau, slopes, self.tangents, self.spaces)
        if free.any():
            mass = slopes[2][np.ix_(free, free)]
            result[nv:][free] = -np.linalg.solve(mass, np.hstack([slopes[0][free], slopes[1][free]]))
        return result

    def pass_corner(self, t: float, q: FloatArray, qd: FloatArray) -> None:
        """Apply the impulses of an instant at which the slope jumps; a tree has none."""

    def begin(self, now: float, until: float, y: FloatArray) -> None:
        """Start an interval at an accepted state y, which may be changed to the nearest admissible one."""
        self.reached = now

    def accept(self, t: float, y: FloatArray) -> FloatArray | None:
        """Note an accepted state; returns the one to continue from if it differs.

        Raises:
            DivergedError: it is faster than any motion.
        """
        self.reached = t
        nv = self.problem.model.num_coordinates
        if not np.abs(y[nv : 2 * nv]).max(initial=0.0) <= FASTEST:
            body = body_of_coordinate(self.problem.model, int(np.argmax(np.abs(y[nv : 2 * nv]))))
            reason = f"a coordinate is faster than {FASTEST:g} a second"
            raise DivergedError(t, body, reason, self.recording.result(self.written))
        return None

    def forget_failure(self) -> None:
        """Clear the error of a tried state without slope."""
        self.spaces[2][layout.STATUS] = layout.OK

    def waits(self, until: float) -> bool:
        """Whether a sample up to a time remains to be written."""
        samples = self.problem.samples
        return self.written < len(samples) and bool(samples[self.written] <= until)

    def write(self, dense: Any, until: float) -> None:
        """Write the samples up to a time from a step's polynomial."""
        if not self.waits(until):
            return
        samples, recording, nv = self.problem.samples, self.recording, self.problem.model.num_coordinates
        end = int(np.searchsorted(samples, until, side="right"))
        where, values = slice(self.written, end), dense(samples[self.written : end]).T
        recording.q[where], recording.qd[where] = values[:, :nv], values[:, nv : 2 * nv]
        recording.rows[where, nv:] = values[:, 2 * nv :]
        self.written = end

    def give_up(self, y: FloatArray, reason: str) -> None:
        """DivergedError at the last accepted state; names the body with the largest rates relative to tolerances."""
        problem, nv, rates = self.problem, self.problem.model.num_coordinates, np.empty(len(y))
        self.evaluate(self.reached, np.array(y), rates)
        shares = np.abs(rates[: 2 * nv]) / (problem.atol + problem.rtol * np.abs(y[: 2 * nv]))
        d = int(np.argmax(np.where(np.isfinite(shares), shares, np.inf))) % nv
        body = body_of_coordinate(problem.model, d)
        raise DivergedError(self.reached, body, reason, self.recording.result(self.written))


class ConstrainedSlope(Slope):
    """As `Slope`, at the nearest state on the constraints and prescribed motions; samples are projected as well."""

    def __init__(self, problem: Problem, recording: Recording) -> None:
        super().__init__(problem, recording)
        model = problem.model
        self.on_constraints = kernels.stepping.evaluate.slope_on_constraints
        self.end = problem.start + problem.duration
        self.motions = motions_before(problem.motions, self.end)
        self.constraints = model.constraint_arrays
        self.system = make_system(model.arrays, model.constraint_arrays)
        self.effort = np.zeros(model.num_coordinates)
        self.forces = recording.forces = np.zeros((len(recording.q), model.num_constraint_rows))
        self.efforts = recording.efforts = np.zeros_like(recording.q)
        self.waiting = deque([0])  # samples whose forces are still to be computed
        recording.settle = self.settle

    def evaluate(self, t: float, state: FloatArray, slope: FloatArray) -> None:
        problem, nv = self.problem, len(self.effort)
        self.states[:] = state[2 * nv :]
        self.on_constraints(
            problem.model.arrays,
            self.constraints,
            self.motions,
            problem.tau,
            t,
            state[:nv],
            state[nv : 2 * nv],
            (self.tau, slope[nv : 2 * nv], self.effort),
            self.system,
            self.spaces,
        )
        slope[:nv] = state[nv : 2 * nv]
        slope[2 * nv :] = self.rates

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Derivative (2 nv, 2 nv) of the slope without constraints, with accelerations projected onto them.

        The change of the constraints themselves is neglected: implicit methods use the matrix only to iterate.
        """
        result = super().jacobian(t, y)
        nv, count = len(self.effort), self.problem.model.num_constraint_rows
        held = self.spaces[1][:, layout.HELD] != 0.0
        result[nv:][held] = 0.0
        answers = np.where(held, 0.0, answers_of(self.system, count))
        jacobian = jacobian_of(self.system, count)
        matrix, along = jacobian @ answers.T, jacobian @ result[nv:]
        result[nv:] -= answers.T @ (np.linalg.pinv(matrix, rcond=1e-11, hermitian=True) @ along)
        return result

    def begin(self, now: float, until: float, y: FloatArray) -> None:
        super().begin(now, until, y)
        self.motions = motions_before(self.problem.motions, until)
        if self.problem.model.num_constraint_rows:
            # a velocity off the constraints would remain in y, and its removed part would turn with the rows
            self.evaluate(now, y, np.empty(len(y)))
            self.forget_failure()

    def accept(self, t: float, y: FloatArray) -> FloatArray | None:
        """As `Slope.accept`; DivergedError also if prescribed motions contradict the constraints.

        The method does not know that slopes are evaluated at the nearest state on the constraints: its own state
        violates them, on some paths round a loop more with every turn. So it restarts from the nearest state if the
        difference exceeds the error of a few steps.
        """
        super().accept(t, y)
        problem = self.problem
        if not problem.model.num_constraint_rows:
            return None
        nearest = np.array(y)
        self.evaluate(t, nearest, np.empty(len(y)))
        refuse_torn_at(t, problem, self.system, self.written, self.recording)
        away = np.abs(nearest - y) > AWAY * (problem.atol + problem.rtol * np.abs(y))
        return nearest if away.any() else None

    def pass_corner(self, t: float, q: FloatArray, qd: FloatArray) -> None:
        """Apply the impulse of prescribed motions whose velocities jump at time t."""
        problem = self.problem
        kernels.stepping.corners.pass_corner(
            problem.model.arrays,
            self.constraints,
            problem.motions,
            problem.tau,
            t,
            q,
            qd,
            (self.tau, np.zeros((2, len(self.effort))), self.effort),
            self.system,
            self.spaces,
        )

    def write(self, dense: Any, until: float) -> None:
        first = self.written
        super().write(dense, until)
        self.waiting.extend(range(first, self.written))

    def drop(self, first: int) -> None:
        """Discard the samples from index `first` on."""
        self.written = first
        while self.waiting and self.waiting[-1] >= first:
            self.waiting.pop()

    def settle(self, written: int) -> None:
        """Project the waiting samples before index `written` onto the constraints, and record the forces there."""
        recording, nv, count = self.recording, len(self.effort), self.forces.shape[1]
        self.spaces[2][layout.STATUS] = layout.OK  # errors after these samples do not matter
        self.motions = motions_before(self.problem.motions, self.end)
        while self.waiting and self.waiting[0] < written:
            k = self.waiting.popleft()
            known = recording.rows[k]
            state, slope = (
                np.concatenate([known[:nv], recording.qd[k], known[nv:]]),
                np.zeros(nv + len(known)),
            )
            instant = float(self.problem.samples[k])
            recording.ask(instant, 0.0, state[:nv], state[nv : 2 * nv], instant, k)
            self.evaluate(instant, state, slope)
            recording.q[k], recording.qd[k] = state[:nv], state[nv : 2 * nv]
            self.forces[k] = self.system[rows.SYSTEM_IMPULSE][:count]
            self.efforts[k] = self.effort
            refuse_torn_at(instant, self.problem, self.system, k + 1, recording)


def motions_before(motions: MotionArrays, end: float) -> MotionArrays:
    """Prescribed motions without the pieces that begin at or after a time: at that time they have their left limit."""
    channels, pieces = motions
    known = channels.copy()
    for channel in known:
        first, count = int(channel[CHANNEL_FIRST]), int(channel[CHANNEL_COUNT])
        begun = pieces[first : first + count, PIECE_START] < end - EDGE
        channel[CHANNEL_COUNT] = max(int(begun.sum()), 1)
    return known, pieces
