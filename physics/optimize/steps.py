"""What the steps of a motion may have that is taken backwards: their rows of constraints, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics.workspace import constraint_space
from ..errors import ModelError
from ..integrators.implicit import implicit_workspace
from ..kernels.constraints import layout
from ..kernels.stepping.motion_layout import GIVEN_POSITION, PIECE_HOLDS, PIECE_START
from ..model.model import Model
from ..motions.motion import MotionArrays, pack_motions
from .stops import not_differentiable

EDGE = 1e-9  # s: times closer than this are equal


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


def at_time(model: Model, motions: MotionArrays, time: float, q: FloatArray, qd: FloatArray) -> None:
    """Set the coordinates that motions prescribe at a time, and their velocities."""
    kernels.stepping.motion.hold(motions, time, 0.0, q, qd, np.zeros_like(model.workspace().dof))


def refuse(model: Model, motions: Any, state: State, duration: float) -> None:
    """ModelError if a model, or its motions, have what has no gradient."""
    model.check_dynamics()
    one_sided = model.constraint_arrays[0][:, layout.CONSTRAINT_SENSE] != layout.EQUALITY
    rolling = model.constraint_arrays[0][:, layout.CONSTRAINT_KIND] == layout.ROLLING
    beside = [*model.constraints, *(motions or {})] if model.has_hard_limits else []
    for what, names in (
        ("constraint", [name for name, bad in zip(model.constraints, one_sided | rolling) if bad]),
        ("contact", model.contact_names),
        ("soft body", [each.name for each in model.soft_bodies]),
        ("hard limit of body", not_differentiable(model)),
        ("hard limits beside the constraint or motion", beside),
        ("target", [name for name in motions or {} if name in model.targets]),
    ):
        for name in names[:1]:
            raise ModelError(f"there is no gradient through the {what} {name!r}: take the model without it")
    (channels, pieces), end = pack_motions(model, motions, state), float(state.time) + duration
    for d, first, count, kind in channels.tolist():
        own = pieces[first : first + count]
        over = np.append(own[1:, PIECE_START], np.inf) > state.time + EDGE
        over &= own[:, PIECE_START] < end - EDGE
        if kind != GIVEN_POSITION or not own[over, PIECE_HOLDS].all():
            raise ModelError(
                f"the motion of {model.coordinate_names[d]!r} has no gradient: it must be one of positions that holds "
                f"from {float(state.time):g} to {end:g} s"
            )
