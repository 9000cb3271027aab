"""The gradient of a loss of a simulated motion, by the adjoint of its implicit steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..dynamics.constrained import assemble
from ..errors import DivergedError, ModelError
from ..integrators import INTEGRATORS
from ..integrators.implicit import implicit_workspace
from ..kernels import layout
from ..kernels.adjoint import layout as at
from ..model.checks import check_flags
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import MotionArrays, led_on, pack_motions
from ..motions.table import force_table
from ..simulation.simulate import make_problem, run_integrator
from ..simulation.start import check_start
from ..soft.states import carried_nodes
from ..validation import chosen, instance
from .contacts import Touching, solved_again, sweep_back
from .control_frames import COUNT, Displaced, pull_frames
from .laws import by_laws, tables_of
from .losses import Objective, Span, check_objective
from .parameters import (
    DIFFERED,
    ENTRIES,
    SPRINGS,
    Parameter,
    Places,
    Values,
    forces_of,
    frame_slices,
    model_with,
    values_of,
)
from .soft import beside, by_numbers, by_start, nodes_back, num_places, without_nodes
from .steps import Motion, refuse, refuse_start, rows_around, rows_of, spread, states_along, whole_steps
from .stops import Stops

#: methods with an adjoint, and at which share of a step each of their stages ends
METHODS = {"bdf1": (1.0,), "sdirk2": (1.0 - math.sqrt(0.5), 1.0)}
# A motion of at most so many numbers is kept whole, a longer one in pieces of about sqrt(steps) steps, each simulated
# again from its beginning.
MOST_KEPT = 4_000_000


class Gradient(NamedTuple):
    """A loss and its gradient.

    Attributes:
        value: of the loss. by_parameter: {`Parameter`: derivative, in the parameter's shape}.
        one_sided: the parameters at the end of their range, where the derivative is that into the range, or beyond it
            (stiffness, damping or tension 0; an excitation of a Hill muscle up to the least activation, or from 1 on);
            all of them where a step begins or ends on a hard limit that does not stop it, or a contact is between
            touching and not, or sticking and sliding, so that a small change decides; or where four points of a body
            slide and turn, so that the motion depends on how a simulation shares the weight among them.
    """

    value: float
    by_parameter: dict[Parameter, FloatArray]
    one_sided: tuple[Parameter, ...]


def gradient(
    model: Model,
    state: State,
    duration: float,
    dt: float,
    *,
    integrator: str,
    objective: Objective,
    parameters: Any,
    tau: Any = None,
    motions: Any = None,
) -> Gradient:
    """The loss of a simulated motion and its gradient by parameters, exact for the steps that the simulation takes.

    The cost does not depend on the number of parameters. Derivatives are by numbers of the model as it is: springs of
    limits that were derived from masses count as given. At a kink, such as the edge of a compliant limit, the
    derivative is that of the side on which the motion is.

    Args:
        model, state, duration, dt: as of `simulate`; the duration is a whole number of steps.
        integrator: ``"bdf1"`` or ``"sdirk2"``. objective: of ``ph.objectives``. parameters: a list of `Parameter`.
        tau: generalized forces, constant or a `Table`, with inputs if wanted (`Model.with_inputs`).
        motions: as of `simulate`, of positions; numbers of coordinates that they prescribe have derivatives 0.

    Raises:
        ModelError: an invalid argument, or a model with what has no gradient, see the page on gradients. Nothing ran.
            Also where the gradient through soft bodies does not converge, and where colliders touch that have none.
        DivergedError: as of `simulate`; also where a step had no solution and was taken in parts.
    """
    motion = Motion(model, state, duration, dt, integrator, tau, motions)
    return make_task(motion, objective, parameters).gradient()


@dataclass(frozen=True, eq=False)
class Task:
    """A checked simulation with an objective and parameters."""

    model: Model
    state: State
    dt: float
    steps: int
    integrator: str
    objective: Objective
    places: Places
    times: FloatArray
    values: Values
    motions: Any = None

    def gradient(self) -> Gradient:
        value, sweep = self.swept()
        row, slope = self.places.read(self.values), self.places.read(sweep.sums())
        least, most = self.places.ranges(self.model).T
        ends = sweep.grazes | (row <= least) | (row >= most)
        one_sided = [
            each for each, part in zip(self.places.parameters, self.places.slices) if ends[part].any()
        ]
        return Gradient(value, self.places.named(slope), tuple(one_sided))

    def with_values(self, row: FloatArray) -> Task:
        """The task with other numbers of its parameters (n,)."""
        values = {key: array.copy() for key, array in self.values.items()}
        self.places.write(row, values)
        model, old = model_with(values, self.model), self.state
        q, qd = values["q"].copy(), values["qd"].copy()
        soft = carried_nodes(model, old, q, qd)
        state = assemble(model, replace(old, q=q, qd=qd, soft_states=soft))
        values |= {"q": np.array(state.q), "qd": np.array(state.qd)}
        return replace(self, model=model, state=state, values=values)

    def evaluate(self) -> tuple[float, Values]:
        """The loss, and its derivatives by all that may be a parameter."""
        value, sweep = self.swept()
        return value, sweep.sums()

    def whole(self) -> Result:
        """The motion with a sample after each step; however long."""
        return self._simulated(self.state, self.steps, 1)

    def loss(self) -> float:
        return self.objective.evaluate(self.span(0, self.whole(), self.displaced())).value

    def displaced(self) -> Displaced:
        """The model with coordinates behind the joints whose frames are parameters."""
        return Displaced(self.model, *self.places.displacements(self.model))

    def swept(self, whole: Result | None = None) -> tuple[float, Sweep]:
        """The loss, and the finished sweep; along a motion that was simulated already, if given."""
        steps, value, sweep = self.steps, 0.0, Sweep(self)
        if whole is not None or self.objective.at_once:
            return sweep.back(0, whole or self.whole()), sweep
        width = 2 * (self.model.num_coordinates + num_places(self.model))
        if sweep.rows is not None:
            width += len(METHODS[self.integrator]) * (
                self.model.num_coordinates + self.model.num_constraint_rows
            )
        kept = steps if steps * width <= MOST_KEPT else math.ceil(math.sqrt(steps))
        marks = None if kept == steps else self._simulated(self.state, steps, kept)
        for first in range((steps - 1) // kept * kept, -1, -kept):
            begin = self.state if marks is None or not first else self._begun(marks, first // kept, first)
            rows = self._simulated(begin, min(kept, steps - first), 1)
            value += sweep.back(first, rows)
        return value, sweep

    def prescribed(self) -> MotionArrays:
        """The motions of the whole run."""
        packed = pack_motions(self.model, self.motions, self.state)
        return led_on(self.model, packed, float(self.state.time) + self.steps * self.dt, self.dt)

    def _simulated(self, state: State, steps: int, every: int) -> Result:
        """The motion over a number of steps, with a sample after each so many of them."""
        wishes: Any = {"tau": forces_of(self.values, self.times), "motions": self.motions}
        wishes["record_interval"] = every * self.dt
        problem, state = make_problem(self.model, state, steps * self.dt, self.dt, self.integrator, **wishes)
        result = run_integrator(replace(problem, whole=True), state)
        if solved_again(self.model, result.info):
            reason = "a step was solved again or in parts, so that it has no gradient: take a smaller step"
            raise DivergedError(float(result.t[-1]), self.model.body_names[0], reason, result)
        return result

    def span(self, first: int, rows: Result, displaced: Displaced, begin: int = 0) -> Span:
        """The states at successive ends of steps from number `first` on, without the first `begin`."""
        start, dt, q, first = float(self.state.time), self.dt, rows.q[begin:], first + begin
        before, after, share = rows_around(self.times, start + dt * (first + np.arange(len(q))))
        table = self.values["table"]
        tau: FloatArray = table[before] + share * (table[after] - table[before])
        return Span(
            self.model,
            start,
            dt,
            self.steps,
            first,
            q,
            rows.qd[begin:],
            tau,
            states_along(rows)[begin:],
            displaced,
        )

    def _begun(self, marks: Result, row: int, first: int) -> State:
        """The state at a step's beginning, in the chart that the step has."""
        q, qd, chart = marks.q[row].copy(), marks.qd[row].copy(), np.array(self.state.chart)
        dof = self.model.workspace().dof
        kernels.stepping.rollout.change_charts(
            self.model.arrays, dof, kernels.stepping.rollout.CHART_LIMIT, 0.0, q, qd, np.zeros_like(q), chart
        )
        kept = marks.muscle_states, marks.soft_states
        own = (None if each is None else each[row] for each in kept)
        return State(q, qd, float(self.state.time) + first * self.dt, chart, *own)


class Sweep:
    """Derivatives of a task's loss, gathered from the end of its motion to its beginning."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.frames, self.points = (np.zeros_like(task.values[key]) for key in ("frames", "points"))
        self.displaced = task.displaced()
        model, table = self.displaced.model, self.displaced.widen(task.values["table"])
        nv, nb = model.num_coordinates, model.num_bodies
        self.touching = Touching(task.model) if task.model.contact_names else None
        self.stops, self.grazes = None if self.touching else Stops(task.model), False
        self.kept = self.displaced.kept(task.values["table"].shape[1])
        self.table, tables = np.zeros_like(table), tables_of(model, task.times, table)
        self.bodies, self.coordinates = np.zeros((nb, at.BODY_SUMS)), np.zeros((nv, at.COORDINATE_SUMS))
        width = max(table.shape[1] + 4 * model.num_muscle_states, nv + num_places(model))
        self.gravity, self.vectors = np.zeros(3), np.zeros((at.VECTORS, width))
        implicit = implicit_workspace(model)
        columns = np.zeros((len(model.muscles), at.MUSCLE_COLUMNS))
        lent = (*implicit[:3], self.vectors, implicit[5], columns)
        pulling = {muscle.tension for muscle in model.muscles}
        pulls = any(each.kind == "input" and each.name in pulling for each in task.places.parameters)
        pulls |= model.num_muscle_states > 0
        self.differed = task.places.differed(task.values)
        variants, self.by_variant = self._variants(), np.zeros(len(self.differed))
        differences = variants, self.by_variant, np.zeros_like(self.vectors[0])
        sums, self.spaces = (
            (self.bodies, self.coordinates, self.gravity, differences),
            model.workspace().clear(),
        )
        self.nodes = nodes_back(model, implicit, self.spaces)
        channels, pieces = task.prescribed()
        channels = np.concatenate([self.displaced.own[channels[:, :1]], channels[:, 1:]], axis=1)
        self.rows = rows_of(model, len(METHODS[task.integrator]), (channels, pieces))
        self.run = (model.arrays, tables, pulls, self.displaced.extra, sums, lent, self.spaces)

    def _variants(self) -> FloatArray:
        """The kernels' data (n, 4, size) of models with each number that is differed displaced (`at.WAYS`)."""
        task, found = self.task, [np.zeros((0, len(at.WAYS), len(self.displaced.model.arrays[3])))]
        for key, k, far in self.differed:
            sides = []
            for way in at.WAYS:
                values = {**task.values, key: task.values[key].copy()}
                values[key][k] += way * far
                try:
                    model = model_with(values, task.model)
                except ModelError as error:
                    raise ModelError(f"a number at the end of its range has no gradient: {error}") from error
                other = Displaced(model, *task.places.displacements(task.model))
                sides.append(other.model.arrays[3])
            found.append(np.array([sides]))
        return np.concatenate(found)

    def back(self, first: int, rows: Result) -> float:
        """Take the steps from number `first` on, with the n + 1 states at their ends; returns their loss."""
        task, start, dt, begin = self.task, float(self.task.state.time), self.task.dt, int(first > 0)
        stops, (q, qd) = self._stopped(first, rows), (rows.q, rows.qd)
        own, nv, wide = self.displaced.own, q.shape[1], self.displaced.widen
        span = task.span(first, rows, self.displaced, begin)
        loss = task.objective.evaluate(span)
        q, qd = beside(task.model, rows, wide(q), wide(qd))
        states = states_along(rows)
        slopes = np.zeros_like(q), np.zeros_like(qd), np.zeros_like(states)
        slopes[0][begin:, own], slopes[1][begin:, own] = loss.by_q[:, :nv], loss.by_qd[:, :nv]
        slopes[2][begin:] = loss.by_states
        method, shares = INTEGRATORS[task.integrator].number, np.array(METHODS[task.integrator])
        by_tau = np.zeros((len(q) - 1, len(shares), self.table.shape[1]))
        size = (at.NOTES, q.shape[1]) if len(self.displaced.extra) else (0, 0)
        places = len(shares) + (0 if self.rows is None else at.END_NOTES)
        notes, held = np.zeros((len(q), places, *size)), np.zeros((len(stops[1]), *size))
        found = by_tau, notes, held
        now, chart = (start, dt, first), np.zeros(self.displaced.model.num_bodies, dtype=np.int64)
        stages = np.zeros((0, 0, 0)) if rows.stages is None else rows.stages
        if stages.size:
            stages = wide(stages.reshape(-1, stages.shape[2])).reshape(*stages.shape[:2], -1)
        motion = method, now, (q, qd, states, stages), stops, slopes, found, chart
        sums = self.bodies, self.coordinates, self.gravity, self.by_variant, self.vectors
        changed = sums, found, self.spaces
        self.grazes |= sweep_back(self.touching, (self.run, self.rows, self.nodes), motion, changed)
        if self.spaces[2][layout.STATUS] == layout.NOT_CONVERGED:
            raise ModelError("the gradient through the soft bodies did not converge: take a smaller step")
        check_flags(task.model, self.spaces[2])
        if len(self.displaced.extra):
            seen = np.zeros((len(loss.by_q), at.NOTES, q.shape[1]))
            for way, (given, slope) in enumerate(((q, loss.by_q), (qd, loss.by_qd))):
                seen[:, way, own], seen[:, way, self.displaced.extra] = given[begin:, own], slope[:, nv:]
            self._take_displacements(
                np.concatenate([notes.reshape(-1, *size), held.reshape(-1, *size), seen])
            )
        ends = start + dt * (first + np.arange(len(q) - 1)[:, None] + shares)
        spread(task.times, ends.ravel(), by_tau.reshape(-1, by_tau.shape[2]), self.table)
        by_end = np.zeros((len(loss.by_tau), self.table.shape[1]))
        by_end[:, self.kept] = loss.by_tau
        spread(task.times, span.times, by_end, self.table)
        return loss.value

    def _stopped(self, first: int, rows: Result) -> tuple[IntArray, FloatArray]:
        """Steps that hard limits stop, for the kernel."""
        task, width = self.task, self.displaced.model.num_coordinates
        if self.stops is None or not len(self.stops.bounds):
            return np.zeros(0, dtype=np.int64), np.zeros((0, at.STOP_ROWS, width))

        def begun(k: int) -> State:
            return task._begun(rows, k, first + k) if first + k else task.state

        def freely(model: Model, state: State) -> Result:
            return replace(task, model=model)._simulated(state, 1, 1)

        numbers, stopped, grazes = self.stops.found(rows, begun, freely)
        self.grazes |= grazes
        flat = stopped.reshape(-1, stopped.shape[2])
        return numbers, self.displaced.widen(flat).reshape(-1, at.STOP_ROWS, width)

    def _take_displacements(self, notes: FloatArray) -> None:
        """Add derivatives by control frames and path points, from notes (n, NOTES, coordinates)."""
        model, slices, moved = self.task.model, frame_slices(self.task.model), self.displaced
        behind, carrying = np.split(moved.extra, [COUNT * len(moved.bodies)])
        self.points[list(moved.points)] += notes[:, 0, carrying].sum(axis=0).reshape(-1, 3)
        for i, extra in zip(moved.bodies, behind.reshape(-1, COUNT)):
            joint, numbers = model.bodies[i].joint, self.task.values["frames"][slices[i]]
            own = slice(int(extra[0]) - joint.num_coordinates, int(extra[0]))
            self.frames[slices[i]] += pull_frames(joint, numbers, notes[:, :, own], notes[:, :, extra])

    def sums(self) -> Values:
        """The derivatives by all that may be a parameter."""
        own, coordinates = self.bodies[: self.task.model.num_bodies], self.displaced.own
        start, nv = self.vectors[[at.BY_Q, at.BY_QD]], self.displaced.model.num_coordinates
        soft = by_numbers(self.task.model, self.nodes, own)
        if self.nodes is not None:
            own, end = without_nodes(self.task.model, own), nv + num_places(self.task.model)
            start[:, coordinates] += by_start(self.task.model, self.task.state, *start[:, nv:end])
        # from the axes of links to those of bodies
        turn = np.array([frame[:3, :3] for frame in self.task.model.body_frames])
        twice = np.array([1.0 if j == k else 2.0 for j, k in ENTRIES])
        whole = np.empty((len(own), 3, 3))
        for (j, k), column in zip(ENTRIES, (own[:, at.BY_INERTIA :] / twice).T):
            whole[:, j, k] = whole[:, k, j] = column
        whole = turn.transpose(0, 2, 1) @ whole @ turn
        by_number = by_laws(self.run[1]) | {key: np.zeros_like(self.task.values[key]) for key in DIFFERED}
        for (key, k, far), change in zip(self.differed, self.by_variant):
            by_number[key][k] += change / far
        return {
            "table": self.table[:, self.kept],
            "q": start[0, coordinates],
            "qd": start[1, coordinates],
            **soft,
            "frames": self.frames,
            "points": self.points,
            "mass": own[:, at.BY_MASS],
            "center": np.einsum("ikj,ik->ij", turn, own[:, at.BY_COM : at.BY_INERTIA]),
            "inertia": twice * np.stack([whole[:, j, k] for j, k in ENTRIES], axis=1),
            "gravity": self.gravity,
            **dict(zip(SPRINGS, self.coordinates[coordinates].T)),
            **by_number,
        }


def make_task(motion: Motion, objective: Objective, parameters: Any) -> Task:
    """The checked task of `gradient`, which see for errors."""
    model, state, duration, dt, integrator, tau, motions = motion
    chosen(integrator, METHODS, "integrator of a gradient")
    instance(model, Model, "model")
    state = check_start(model, state)
    steps = whole_steps(duration, dt)
    refuse(model, motions, state, duration)
    if callable(tau):
        raise ModelError("tau of a gradient must be constant or a Table, got a function")
    times, table = force_table(model, tau)
    values = values_of(model, state, table)
    places = Places(model, parameters, len(times), values)
    refuse_start(model, motions, places.parameters)
    if any(each.kind == "gravity" for each in places.parameters) and model.arrays[3][layout.MUSCLE_MASSIVE]:
        name = next(muscle.name for muscle in model.muscles if muscle.masses is not None)
        raise ModelError(f"gravity has no gradient in a model whose muscles have mass ({name!r})")
    start = float(state.time)
    check_objective(objective, model, places.parameters, start, start + duration)
    return Task(model, state, dt, steps, integrator, objective, places, times, values, motions)
