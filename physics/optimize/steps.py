"""What the steps of a motion may have that is taken backwards: rows of constraints, tables, and what is refused."""

from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..bodies.state import State
from ..dynamics.workspace import constraint_space
from ..errors import ModelError
from ..joints.packing import TangentSpace
from ..kernels import layout as layouts
from ..kernels.constraints import layout
from ..kernels.stepping.motion_layout import CHANNEL_COORDINATE, GIVEN_POSITION, PIECE_HOLDS, PIECE_START
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import MotionArrays, pack_motions
from ..validation import number
from .contacts import bouncing
from .stops import not_differentiable


class Motion(NamedTuple):
    """What `gradient` and `optimize` simulate, as given."""

    model: Model
    state: State
    duration: float
    dt: float
    integrator: str
    tau: Any = None
    motions: Any = None


def rows_of(model: Model, stages: int, motions: MotionArrays) -> tuple[Any, ...] | None:
    """`kernels.adjoint.rows.Rows` of a model with constraints or motions; None without."""
    if not model.constraints and not len(motions[0]):
        return None
    nv, count = model.num_coordinates, model.num_constraint_rows
    return (
        (model.constraint_arrays, constraint_space(model, local=True)[0], motions),
        TangentSpace(model.arrays[0]).arrays,
        np.zeros((stages + 1, count)),
        *(np.zeros((count, nv)) for _ in range(3)),
        np.zeros((nv, nv)),
        np.zeros((nv + count, nv + count)),
        np.zeros(nv + count, dtype=np.int64),
        np.zeros((kernels.adjoint.rows.VECTORS, nv + count)),
    )


def at_time(
    model: Model, motions: MotionArrays, time: float, q: FloatArray, qd: FloatArray, qdd: FloatArray
) -> None:
    """Set the coordinates that motions prescribe at a time, their velocities and accelerations."""
    dof = np.zeros_like(model.workspace().dof)
    kernels.stepping.motion.hold(motions, time, 0.0, q, qd, dof)
    led = motions[0][:, CHANNEL_COORDINATE]
    qdd[led] = dof[led, layouts.GIVEN]


def refuse(model: Model, motions: Any, state: State, duration: float) -> None:
    """ModelError if a model, or its motions, have what has no gradient."""
    model.check_dynamics()
    (channels, pieces), end = pack_motions(model, motions, state), float(state.time) + duration
    one_sided = model.constraint_arrays[0][:, layout.CONSTRAINT_SENSE] != layout.EQUALITY
    rolling = model.constraint_arrays[0][:, layout.CONSTRAINT_KIND] == layout.ROLLING
    beside, soft, touch = model.has_hard_limits, model.soft_bodies, model.contact_names
    for what, names in (
        ("constraint", [name for name, bad in zip(model.constraints, one_sided | rolling) if bad]),
        ("bouncing contact", bouncing(model)),
        ("contacts of a model with the constraint", list(model.constraints) if touch else []),
        ("contacts of a model with the motion of", list(motions or {}) if touch else []),
        ("contacts of a model with the soft body", [each.name for each in soft] if touch else []),
        ("hard limit of body", not_differentiable(model)),
        ("hard limits of a model with the constraint", list(model.constraints) if beside else []),
        ("flexible surface", [each.name for each in soft if each.surface is not None]),
        ("ground of the soft body", [each.name for each in soft if each.ground is not None]),
        ("soft bodies of a model with the motion of", list(motions or {}) if soft else []),
        ("soft bodies of a model with the constraint", list(model.constraints) if soft else []),
        ("hard limits of a model with the soft body", [each.name for each in soft] if beside else []),
        ("hard limits of a model with the motion of", list(motions or {}) if beside else []),
    ):
        for name in names[:1]:
            raise ModelError(f"there is no gradient through the {what} {name!r}: take the model without it")
    edge = kernels.stepping.motion.EDGE
    for d, first, count, kind in channels.tolist():
        own = pieces[first : first + count]
        over = np.append(own[1:, PIECE_START], np.inf) > state.time + edge
        over &= own[:, PIECE_START] < end - edge
        if kind != GIVEN_POSITION or not own[over, PIECE_HOLDS].all():
            raise ModelError(
                f"the motion of {model.coordinate_names[d]!r} has no gradient: it must be one of positions that holds "
                f"from {float(state.time):g} to {end:g} s"
            )


def refuse_start(model: Model, motions: Any, parameters: Any) -> None:
    """ModelError if parameters move the start of a model with constraints and motions, which is assembled before the
    motions place it, or the places of attached nodes on their bodies.
    """
    for what, found, kinds in (
        ("constraints and motions", model.constraints and motions, ("position", "speed", "frames")),
        ("soft bodies", model.soft_bodies, ("frames",)),
        ("feedback", model.feedback_laws, ("frames",)),
        ("contacts", model.contact_names, ("frames", "points")),
    ):
        for each in parameters if found else ():
            if each.kind in kinds:
                raise ModelError(
                    f"{each.kind} of {each.name!r} has no gradient in a model with {what}: leave it out"
                )


def whole_steps(duration: float, dt: float) -> int:
    """Number of steps of a run; ModelError if it is none."""
    duration, dt = number(duration, "duration", positive=True), number(dt, "dt", positive=True)
    steps = round(duration / dt)
    if steps < 1 or abs(steps * dt - duration) > 1e-9 * duration:
        raise ModelError(f"duration {duration:g} s of a gradient must be a whole number of steps of {dt:g} s")
    return steps


def states_along(rows: Result) -> FloatArray:
    """States of muscles at the samples (n, states)."""
    return np.zeros((len(rows.q), 0)) if rows.muscle_states is None else rows.muscle_states


def rows_around(times: FloatArray, at_times: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows of a table around each of n times, and the second one's shares (n, 1)."""
    k = np.clip(np.searchsorted(times, at_times, side="right") - 1, 0, max(len(times) - 2, 0))
    after = np.minimum(k + 1, len(times) - 1)
    width = np.where(after > k, times[after] - times[k], 1.0)
    return k, after, np.clip((at_times - times[k]) / width, 0.0, 1.0)[:, None]


def spread(times: FloatArray, at_times: FloatArray, rows: FloatArray, table: FloatArray) -> None:
    """Add derivatives by interpolated rows (n, width) to those by the rows of the table (K, width)."""
    before, after, share = rows_around(times, at_times)
    np.add.at(table, before, (1.0 - share) * rows)
    np.add.at(table, after, share * rows)
