"""Loops: motions whose end matches their start, for seamless repetition."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics.jacobian import body_jacobian
from ..errors import CancelledError, CondyleError, ModelError
from ..geometry import lie
from ..joints import Joint
from ..model.checks import check_state
from ..model.diagnosis import warn
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import places_of_motions
from ..validation import number, whole_number
from .led import target_of
from .simulate import check_tendons_along, make_problem, note_paths, run_problem

# Newton's iteration for coordinates with the pose of the start: most steps, and its tolerance [rad, m].
MOST_STEPS, ARRIVED = 20, 1e-12
# A motion that returns to its pose with another speed, as after a throw, is accepted after this many cycles without
# improvement.
PATIENCE = 4


@dataclass(frozen=True)
class Jump:
    """Largest difference of any body between start and end: pose [m, rad] and speed [m/s, rad/s] of body frames."""

    position: float
    angle: float
    speed: float
    turn_speed: float

    @property
    def place(self) -> float:
        """The larger of position and angle."""
        return max(self.position, self.angle)


def simulate_loop(
    model: Model,
    state: State,
    duration: float,
    *,
    most_cycles: int = 20,
    tolerance: float = 1e-4,
    blend: float = 0.0,
    **options: Any,
) -> Result:
    """A motion of the given duration whose end matches its start.

    Cycles are simulated one after another, each from the end of the last but over the same time interval, so forces
    and prescribed motions repeat. A damped model driven by these converges to a periodic motion: this is plain
    iteration of the Poincare map that shooting methods solve. The remaining jump is then subtracted from the last
    `blend` seconds by cubics in the coordinates, which ignore constraints, contacts and limits.

    Args:
        most_cycles: largest number of cycles; 1 leaves only the blend.
        tolerance: cycles end when no body's pose changes by more than this over a cycle [m and rad], and no simulated
            velocity by more than that of a sine of this amplitude and one period per cycle.
        blend: [s], less than the duration; 0 keeps the jump.
        options: as in `simulate`.

    Returns:
        The last cycle; if cycles return to their pose only with another speed, the one with the least change of speed.
        ``info["loop"]``: cycles; settled, whether the pose met the tolerance before the blend; position_jump,
        angle_jump, speed_jump and turn_speed_jump of the last sample against the first, as in `Jump`;
        position_blended and angle_blended, the part removed by the blend.

    Raises:
        ModelError: an invalid argument. Else as `simulate`; the blended motion is checked as well.
    """
    most = whole_number(most_cycles, "most_cycles", 1)
    tolerance = number(tolerance, "tolerance", positive=True)
    blend = number(blend, "blend", not_negative=True)
    duration = number(duration, "duration", positive=True)
    if not blend < duration:
        raise ModelError(f"blend {blend:g} s must be shorter than the loop of {duration:g} s")
    state = check_state(model, state)
    for soft in model.soft_bodies[:1]:
        raise ModelError(f"a loop does not close the nodes of soft bodies ({soft.name!r}): use simulate")
    given = _given(model, options.get("motions"), float(state.time))
    progress = options.pop("progress", None)
    result, cycles = _settled(model, state, duration, given, most, tolerance, progress, options)
    settled = jump_of(result).place <= tolerance
    if progress is not None and progress(1.0) is False:
        raise CancelledError("cancelled at the end of the last cycle", result)
    if settled and _speed_change(result, given) <= _speed_tolerance(tolerance, duration):
        result = _with_forces_of_the_end(result)
    before = jump_of(result)
    if blend > 0.0:
        result = note_paths(blended(result, blend))
        check_tendons_along(model, result)
    jump = jump_of(result)
    jumps = {f"{name}_jump": getattr(jump, name) for name in ("position", "angle", "speed", "turn_speed")}
    taken = {
        f"{name}_blended": getattr(before, name) if blend > 0.0 else 0.0 for name in ("position", "angle")
    }
    result.info["loop"] = {"cycles": cycles, "settled": settled, **jumps, **taken}
    warn(result.diagnosis, 2)
    return result


def _settled(
    model: Model,
    state: State,
    duration: float,
    given: Any,
    most: int,
    tolerance: float,
    progress: Any,
    options: dict[str, Any],
) -> tuple[Result, int]:
    """The best cycle and its number; see `simulate_loop`."""
    speed_tolerance = _speed_tolerance(tolerance, duration)
    closed: tuple[float, Result, int] | None = None
    least, cycles, since = np.inf, 0, 0
    first: Any = None  # its findings about the start hold for all cycles
    while True:
        try:
            wishes = {**options, "progress": _share(progress, cycles, most)}
            problem, begun = make_problem(model, state, duration, **wishes)
            first = first or problem
            result = run_problem(replace(problem, findings=first.findings), begun)
        except CancelledError:
            raise
        except CondyleError:
            if closed is None:
                raise
            break  # keep the cycle that closes in pose although a later one failed
        options = {**options, "assemble": False}
        cycles += 1
        place, speed = jump_of(result).place / tolerance, _speed_change(result, given) / speed_tolerance
        if place <= 1.0 and (closed is None or speed < closed[0]):
            closed = speed, result, cycles
        since = 0 if max(place, speed) < least else since + 1
        least = min(least, max(place, speed))
        if least <= 1.0 or cycles == most or (closed is not None and since == PATIENCE):
            break
        q = np.where(given, state.q, result.q[-1])
        muscles = None if result.muscle_states is None else result.muscle_states[-1]
        state = model.state(q, result.qd[-1], state.time, muscles)
    return (result, cycles) if closed is None else closed[1:]


def _speed_tolerance(tolerance: float, duration: float) -> float:
    """Speed of a sine of this amplitude and period."""
    return tolerance * 2.0 * float(np.pi) / duration


def _with_forces_of_the_end(result: Result) -> Result:
    """The motion with the forces of its last sample at the first, too.

    The forces of a sample of Euler's methods are those of the step before it, here the last step of the previous cycle.
    """
    closed = {}
    for name in ("efforts", "row_forces"):
        forces = getattr(result, name)
        if forces is not None:
            closed[name] = np.concatenate([forces[-1:], forces[1:]])
    return replace(result, **closed)


def _speed_change(result: Result, given: Any) -> float:
    """Largest change of any velocity that is not prescribed, from start to end [m/s, rad/s]."""
    change = np.abs(_wanted(result)[1] - result.qd[-1])[~given]
    return float(change.max(initial=0.0))


def _given(model: Model, motions: Any, time: float) -> Any:
    """Mask (nv,) of the coordinates that are prescribed at the start of a cycle."""
    given = np.zeros(model.num_coordinates, dtype=np.bool_) | model.prescribed
    if isinstance(motions, Mapping):
        motions = {name: motion for name, motion in motions.items() if target_of(model, name) is None}
    for _, motion, where in places_of_motions(model, motions):
        if motion.holds_at(time):
            given[where] = True
    return given


def _share(progress: Any, done: int, most: int) -> Any:
    if progress is None:
        return None
    return lambda fraction: progress(min((done + fraction) / most, 0.999))


def jump_of(result: Result) -> Jump:
    """Difference between the last sample of a motion and its first."""
    model = result.model
    first, last = result.poses[0], result.poses[-1]
    if not model.num_bodies:
        return Jump(0.0, 0.0, 0.0, 0.0)
    turns = float(np.linalg.norm(lie.log(lie.inverse(first) @ last)[:, :3], axis=1).max())
    away = float(np.linalg.norm(last[:, :3, 3] - first[:, :3, 3], axis=1).max())
    change = _twists(result, -1) - _twists(result, 0)
    return Jump(
        away,
        turns,
        float(np.linalg.norm(change[:, 3:], axis=1).max()),
        float(np.linalg.norm(change[:, :3], axis=1).max()),
    )


def _twists(result: Result, sample: int) -> FloatArray:
    """Twists (nb, 6) of the bodies in their own frames at a sample."""
    model, qd = result.model, result.qd[sample]
    state = model.state(result.q[sample], qd)
    return np.array([body_jacobian(model, state, body) @ qd for body in model.bodies])


def blended(result: Result, blend: float) -> Result:
    """The motion with its last `blend` seconds changed so that it ends in the pose and speed of its first sample."""
    t, model = result.t, result.model
    at_pose, at_speed = _wanted(result)
    start = t[-1] - blend
    x = np.clip((t - start) / blend, 0.0, 1.0)[:, None]
    shift, rate = at_pose - result.q[-1], blend * (at_speed - result.qd[-1])
    q = result.q + shift * x**2 * (3.0 - 2.0 * x) + rate * x**2 * (x - 1.0)
    slope = shift * 6.0 * x * (1.0 - x) + rate * x * (3.0 * x - 2.0)
    qd = result.qd + slope / blend
    return replace(result, model=model, q=q, qd=qd)


def _wanted(result: Result) -> tuple[FloatArray, FloatArray]:
    """Coordinates nearest to the last ones with the poses of the first sample, and its velocities in that chart."""
    model = result.model
    q, qd = result.q[-1].copy(), result.qd[-1].copy()
    for body in model.bodies:
        where = model.coordinate_slice(body.name)
        free = ~np.array(body.joint.prescribed, dtype=np.bool_)
        if free.any():
            q[where], qd[where] = _same_pose(
                body.joint, result.q[0, where], result.qd[0, where], q[where], free
            )
    return q, qd


def _same_pose(
    joint: Joint, q: FloatArray, qd: FloatArray, near: FloatArray, free: Any
) -> tuple[FloatArray, FloatArray]:
    """The coordinates nearest to `near` with the joint's pose at q, and the velocities there equivalent to qd."""
    goal, subspace, _ = joint.evaluate(q)
    found = near.copy()
    for _ in range(MOST_STEPS):
        pose, columns, _ = joint.evaluate(found)
        away = lie.log(lie.inverse(pose) @ goal)
        if float(np.abs(away).max()) < ARRIVED:
            break
        found[free] += np.linalg.lstsq(columns[:, free], away, rcond=1e-9)[0]
    pose, columns, _ = joint.evaluate(found)
    if float(np.abs(lie.log(lie.inverse(pose) @ goal)).max()) > 1e-6:
        return q.copy(), qd.copy()  # not converged: use the first sample
    speed = qd.copy()
    speed[free] = np.linalg.lstsq(columns[:, free], subspace[:, free] @ qd[free], rcond=1e-9)[0]
    return found, speed
