"""What the steps of a motion may have that is taken backwards: their rows of constraints, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from ..dynamics.workspace import constraint_space
from ..errors import ModelError
from ..integrators.implicit import implicit_workspace
from ..kernels.constraints import layout
from ..model.model import Model
from ..motions.motion import pack_motions
from .stops import not_differentiable


def rows_of(model: Model, stages: int) -> tuple[Any, ...]:
    """`kernels.adjoint.rows.Rows` of a model with constraints."""
    nv, count = model.num_coordinates, model.num_constraint_rows
    system, memory, contacts, effort = constraint_space(model, local=True)
    none = np.zeros((0, nv))
    more = (
        model.constraint_arrays,
        system,
        pack_motions(model, None, model.state()),
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


def refuse(model: Model) -> None:
    """ModelError if a model has what has no gradient."""
    model.check_dynamics()
    one_sided = model.constraint_arrays[0][:, layout.CONSTRAINT_SENSE] != layout.EQUALITY
    rolling = model.constraint_arrays[0][:, layout.CONSTRAINT_KIND] == layout.ROLLING
    stopped = model.has_hard_limits and bool(model.constraints)
    for what, names in (
        ("constraint", [name for name, bad in zip(model.constraints, one_sided | rolling) if bad]),
        ("contact", model.contact_names),
        ("soft body", [each.name for each in model.soft_bodies]),
        ("hard limit of body", not_differentiable(model)),
        ("hard limits beside the constraint", list(model.constraints) if stopped else []),
    ):
        for name in names[:1]:
            raise ModelError(f"there is no gradient through the {what} {name!r}: take the model without it")
