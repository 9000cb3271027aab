"""What the steps of a motion may have that is taken backwards: their rows of constraints, and what is refused."""

from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics.workspace import constraint_space
from ..errors import ModelError
from ..integrators.implicit import implicit_workspace
from ..kernels import layout as layouts
from ..kernels.constraints import layout
from ..kernels.stepping.motion_layout import CHANNEL_COORDINATE, GIVEN_POSITION, PIECE_HOLDS, PIECE_START
from ..model.model import Model
from ..motions.motion import MotionArrays, pack_motions
from .stops import not_differentiable


def rows_of(model: Model, stages: int, motions: MotionArrays) -> tuple[Any, ...] | None:
    """`kernels.adjoint.rows.Rows` of a model with constraints or motions; None without."""
    if not model.constraints and not len(motions[0]):
        return None
    nv, count = model.num_coordinates, model.num_constraint_rows
    system, memory, contacts, effort = constraint_space(model, local=True)
    none = np.zeros((0, nv))
    more = (
        model.constraint_arrays,
        system,
        motions,
        contacts,
        memory,
        effort,
    )
    return (
        (*more, none, none),
        implicit_workspace(model, count),
        np.zeros((stages + 1, count)),
        *(np.zeros((count, nv)) for _ in range(3)),
        np.zeros((nv, nv)),
        np.zeros((nv + count, nv + count)),
        np.zeros(nv + count, dtype=np.int64),
        np.zeros((kernels.adjoint.rows.VECTORS, nv + count)),
        np.zeros((2, count, nv, nv)),
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
    beside = model.has_hard_limits
    for what, names in (
        ("constraint", [name for name, bad in zip(model.constraints, one_sided | rolling) if bad]),
        ("contact", model.contact_names),
        ("soft body", [each.name for each in model.soft_bodies]),
        ("hard limit of body", not_differentiable(model)),
        ("hard limits of a model with the constraint", list(model.constraints) if beside else []),
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
    """ModelError if parameters move the start of a model with constraints and motions: it is assembled before the
    motions place it.
    """
    for each in parameters if model.constraints and motions else ():
        if each.kind in ("position", "speed", "frames"):
            raise ModelError(
                f"{each.kind} of {each.name!r} has no gradient in a model with constraints and motions: leave it out"
            )
