"""Contacts in a motion that is taken backwards: workspaces of their steps, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..constraints.packing import System
from ..dynamics.workspace import constraint_space, contact_name
from ..errors import ModelError
from ..integrators.constrained import with_room
from ..integrators.implicit import implicit_workspace
from ..kernels.constraints import layout as rows
from ..kernels.contact.layout import FOUND, FOUND_SOURCE
from ..model.model import Model
from ..motions.motion import pack_motions


def bouncing(model: Model) -> list[str]:
    """Names of contacts and colliders with restitution."""
    found = [each.name for each in model.contacts if each.restitution > 0.0]
    return found + [each.name for each in model.colliders if each.restitution > 0.0]


def solved_again(model: Model, info: dict[str, Any]) -> bool:
    """Whether a run has steps without a gradient: those of contacts in turns have one where muscles have no states."""
    turns = model.contact_names and not model.num_muscle_states
    kinds = "substitutes", "divided", *(() if turns else ("repeated",))
    return any(info.get(kind) for kind in kinds)


class Touching:
    """Workspaces of the contacts of a model, which has some; they grow as needed.

    Attributes:
        edges: whether a step was at the edge of another set of contacts that touch, stick or slide.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.notes = model, np.zeros(kernels.adjoint.contact_rows.NOTES)
        self.system, self.memory, self.contacts, self.effort = constraint_space(model, local=True)
        self.motions, self.implicit = pack_motions(model, None, model.state()), implicit_workspace(model)

    @property
    def edges(self) -> bool:
        return bool(self.notes[kernels.adjoint.contact_rows.EDGE] > 0.0)

    def sweep(self, run: Callable[[Any], None], changed: Any) -> None:
        """Call run with `kernels.adjoint.contacts.Touching`, again where it needs more room; changed: arrays, or tuples
        of these, that it changes, last (work, dof, flags).

        Raises:
            ModelError: a contact without derivative.
        """
        own = self.implicit, self.memory, self.contacts, self.effort, self.notes
        self.system = with_room(
            self.model, self.system, lambda system: run(self._lent(system)), (*own, *changed)
        )
        rough = int(self.notes[kernels.adjoint.contact_rows.ROUGH])
        if rough > 0:
            name = contact_name(self.model, self.contacts[FOUND][rough - 1, FOUND_SOURCE])
            raise ModelError(
                f"there is no gradient through the contact {name!r}: its shapes have no derivative there"
            )

    def _lent(self, system: System) -> tuple[Any, ...]:
        model, count = self.model, len(system[rows.SYSTEM_ROWS])
        nv = model.num_coordinates
        none: FloatArray = np.zeros((0, nv))
        more = (model.constraint_arrays, system, self.motions, self.contacts, self.memory, self.effort)
        return (
            (*more, none, none),
            self.implicit,
            np.zeros((nv + count, nv + count)),
            np.zeros(nv + count, dtype=np.int64),
            np.zeros((count, nv)),
            np.zeros((kernels.adjoint.contact_rows.VECTORS, nv + count)),
            np.zeros((1, kernels.adjoint.contact_slopes.SHAPE)),
            self.notes,
            np.zeros((kernels.adjoint.contacts.TURNS, 3, nv)),
        )


def sweep_back(
    touching: Touching | None, parts: tuple[Any, Any, Any], motion: tuple[Any, ...], changed: Any
) -> bool:
    """`kernels.adjoint.sweep.sweep_back` of a model with or without contacts; whether a step was at an edge. For
    changed see `Touching.sweep`.
    """
    if touching is None:
        kernels.adjoint.sweep.sweep_back(*parts, None, *motion)
        return False
    touching.sweep(lambda lent: kernels.adjoint.sweep.sweep_back(*parts, lent, *motion), changed)
    return touching.edges
