"""Loops: a motion that ends as it began, so that it can be played again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics.jacobian import body_jacobian
from ..errors import CancelledError, CondyleError, ModelError
from ..geometry import lie
from ..joints import Joint
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import places_of_motions
from ..validation import number, whole_number
from .simulate import check_tendons_along, note_paths, simulate

# Newton's steps from the end of a loop to coordinates with the pose of its begin, and where they end [rad, m].
MOST_STEPS, ARRIVED = 20, 1e-12
# A motion that came back to its place with another speed, as what is thrown up does, may be given up after so many
# cycles which bring it no nearer to repeating itself.
PATIENCE = 4


@dataclass(frozen=True)
class Jump:
    """The most that any body differs between begin and end: places [m, rad] and speeds [m/s, rad/s] of body frames."""

    position: float
    angle: float
    speed: float
    turn_speed: float

    @property
    def place(self) -> float:
        """The larger of both differences in place."""
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
    """A motion of the given duration that ends as it began.

    It is simulated cycle after cycle, each from where the last one ended but at the same time as the first, so that
    forces and motions that depend on time are the same in all. Where these drive a damped model the motion comes to
    repeat itself: the plain iteration of the map from begin to end (a Poincare map) that shooting methods solve. What
    is left of the jump is then taken from the coordinates of the last `blend` seconds by the cubics that rise from
    rest to it and its rate; constraints, contacts and limits do not act on that.

    Args:
        most_cycles: at most; with 1 there is only the blend.
        tolerance: cycles end where no body's place changes more than this from begin to end [m and rad], and no speed
            that is simulated more than that of a wave of such a height that lasts a cycle.
        blend: [s], less than the duration; 0: the jump stays.
        options: as of `simulate`.

    Returns:
        The last cycle, or the one of the least change in speed where all that came back to their place did so with
        another speed. ``info["loop"]``: cycles, settled (its place met the tolerance before the blend), and of its last
        sample against its first position_jump, angle_jump, speed_jump and turn_speed_jump, as `Jump` has them;
        position_blended and angle_blended, what the blend has taken away of it.

    Raises:
        ModelError: an argument is not acceptable. Else as `simulate`, which looks at the blended motion, too.
    """
    most = whole_number(most_cycles, "most_cycles")
    if most < 1:
        raise ModelError(f"most_cycles must be at least 1, got {most}")
    tolerance = number(tolerance, "tolerance", positive=True)
    blend = number(blend, "blend", not_negative=True)
    duration = number(duration, "duration", positive=True)
    if not blend < duration:
        raise ModelError(f"blend {blend:g} s must be shorter than the loop of {duration:g} s")
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
    told = {f"{name}_jump": getattr(jump, name) for name in ("position", "angle", "speed", "turn_speed")}
    taken = {
        f"{name}_blended": getattr(before, name) if blend > 0.0 else 0.0 for name in ("position", "angle")
    }
    result.info["loop"] = {"cycles": cycles, "settled": settled, **told, **taken}
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
    """The cycle that a loop is made of, and how many there were up to its end; see `simulate_loop`."""
    speed_tolerance = _speed_tolerance(tolerance, duration)
    closed: tuple[float, Result, int] | None = None
    least, cycles, since = np.inf, 0, 0
    while True:
        try:
            result = simulate(model, state, duration, progress=_share(progress, cycles, most), **options)
        except CancelledError:
            raise
        except CondyleError:
            if closed is None:
                raise
            break  # a motion that closes, if not with its speed, is not lost for what comes of it later
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
    """Speed of a wave of the tolerance's height that lasts a cycle."""
    return tolerance * 2.0 * float(np.pi) / duration


def _with_forces_of_the_end(result: Result) -> Result:
    """The motion with the forces of its last sample at the first one, too: Euler's methods have those of the step that
    led to a sample, and what led to the first was the end of the cycle before.
    """
    closed = {}
    for name in ("efforts", "row_forces"):
        forces = getattr(result, name)
        if forces is not None:
            closed[name] = np.concatenate([forces[-1:], forces[1:]])
    return replace(result, **closed)


def _speed_change(result: Result, given: Any) -> float:
    """The most that any velocity that no motion gives differs between begin and end [m/s, rad/s]."""
    change = np.abs(_wanted(result)[1] - result.qd[-1])[~given]
    return float(change.max(initial=0.0))


def _given(model: Model, motions: Any, time: float) -> Any:
    """Which coordinates follow given motions where a cycle begins (nv,): there they are where these say."""
    given = np.zeros(model.num_coordinates, dtype=np.bool_) | model.prescribed
    for _, motion, where in places_of_motions(model, motions):
        if motion.holds_at(time):
            given[where] = True
    return given


def _share(progress: Any, done: int, most: int) -> Any:
    if progress is None:
        return None
    return lambda fraction: progress(min((done + fraction) / most, 0.999))


def jump_of(result: Result) -> Jump:
    """How far the last sample of a motion is off from its first."""
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
    """A motion whose last `blend` seconds are led to the pose and speed of its first sample."""
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
    """Coordinates near the last ones with the poses of the first sample, and the velocities that it has there."""
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
    """The coordinates nearest to `near` with the joint's pose at q, and the velocities there that qd are at q."""
    goal, subspace, _ = joint.evaluate(q)
    found = near.copy()
    for _ in range(MOST_STEPS):
        pose, columns, _ = joint.evaluate(found)
        away = lie.log(lie.inverse(pose) @ goal)
        if float(np.abs(away).max()) < ARRIVED:
            break
        found[free] += np.linalg.lstsq(columns[:, free], away, rcond=1e-9)[0]
    pose, columns, _ = joint.evaluate(found)
    if (
        float(np.abs(lie.log(lie.inverse(pose) @ goal)).max()) > 1e-6
    ):  # another branch: take the plain difference
        return q.copy(), qd.copy()
    speed = qd.copy()
    speed[free] = np.linalg.lstsq(columns[:, free], subspace[:, free] @ qd[free], rcond=1e-9)[0]
    return found, speed
