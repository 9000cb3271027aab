"""The workspace in which kernels solve for contacts and constraints."""

from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..constraints.packing import System, make_system
from ..kernels.constraints import layout as rows
from ..kernels.contact.layout import FOUND_WIDTH, PAIR_POINT, PAIR_RADIUS, PAIR_WIDTH
from ..kernels.contact.sparse_layout import OWN_FRONTS
from ..model.model import Model

# A system begins with room for so many contacts, for so many rows whose matrix is formed, and for fronts of so many
# entries; it grows as needed.
FIRST_CONTACTS, FIRST_ISLAND, FIRST_FRONTS = 200, 96, 1 << 16


def constraint_space(
    model: Model, *, local: bool = False
) -> tuple[System, FloatArray, tuple[Any, ...], FloatArray]:
    """Workspaces of the rows, of limits and contacts between steps, of contacts, and of prescribed coordinates.

    local: for steps: see `make_system`; and those of contacts are the pairs alone for a model with equalities alone,
    which selects kernels without impulses of other rows.
    """
    pairs = contact_places(model)
    more = 2 * model.num_limits + 3 * min(pairs, FIRST_CONTACTS)
    fronts = FIRST_FRONTS if 3 * pairs >= kernels.contact.large_islands.FEW_ROWS else 0
    parts, coupled = (model.arrays, model.constraint_arrays), coupled_by_soft(model)
    system = make_system(*parts, more, FIRST_ISLAND, fronts, local=local, coupled=coupled)
    memory = np.zeros((model.num_limits + pairs, rows.MEMORY_WIDTH))
    contacts = contact_space(model) if one_sided(model) or not local else (model.contact_pairs,)
    return system, memory, contacts, np.zeros(model.num_coordinates)


def coupled_by_soft(model: Model) -> IntArray | None:
    """Coordinates that move attached nodes of soft bodies, None without soft bodies."""
    if not model.soft_bodies:
        return None
    found: IntArray = model.soft_mesh.moving(model.arrays)[kernels.soft.layout.COORDINATES]
    return found[found < model.num_coordinates]


def one_sided(model: Model) -> bool:
    """Whether a model has one-sided constraints, hard limits or contacts."""
    senses = model.constraint_arrays[0][:, rows.CONSTRAINT_SENSE]
    return bool((senses != rows.EQUALITY).any()) or model.has_hard_limits or bool(model.contact_names)


def contact_places(model: Model) -> int:
    """How many contacts have a place of their own: pairs of points and obstacles, and contacts of colliders."""
    return int(model.contact_pairs[0]) + model.collider_arrays.most_contacts


def most_rows(model: Model) -> int:
    """Rows of all constraints, limits and contacts."""
    return model.num_constraint_rows + 2 * model.num_limits + 3 * contact_places(model)


def enlarged(model: Model, system: System) -> System:
    """A workspace with more room than one in which a step did not fit, or the same where it has enough; it keeps the
    statistics.
    """
    largest, widest = system[rows.SYSTEM_STATISTICS][[rows.LARGEST, rows.WIDEST]].astype(int).tolist()
    size, island = len(system[rows.SYSTEM_ROWS]), len(system[rows.SYSTEM_MATRIX])
    fronts = len(system[rows.SYSTEM_SPARSE][OWN_FRONTS])
    if largest > island:
        island = 3 * largest // 2
    elif widest > fronts:
        fronts = 3 * widest // 2
    elif size < most_rows(model):
        size = min(2 * size, most_rows(model))
    else:
        return system
    fixed = model.num_constraint_rows
    parts, coupled = (model.arrays, model.constraint_arrays), coupled_by_soft(model)
    result = make_system(*parts, size - fixed, island, fronts, coupled=coupled)
    result[rows.SYSTEM_STATISTICS][:] = system[rows.SYSTEM_STATISTICS]
    return result


def contact_space(model: Model) -> tuple[Any, ...]:
    """Pairs of points and obstacles, a table for detected contacts, and three numbers; then the arrays of colliders.

    The numbers are the largest distance of a point from its body's origin, the gap below which it is examined, and the
    greatest restitution of colliders.
    """
    count = int(model.contact_pairs[0])
    pairs = model.contact_pairs[1 : 1 + count * PAIR_WIDTH].reshape(count, PAIR_WIDTH)
    extents = np.linalg.norm(pairs[:, PAIR_POINT : PAIR_POINT + 3], axis=1) + pairs[:, PAIR_RADIUS]
    reach = float(extents.max(initial=0.0))
    found = np.zeros((contact_places(model), FOUND_WIDTH))
    bounce = max((collider.restitution for collider in model.colliders), default=0.0)
    space = model.contact_pairs, found, np.array([reach, 1e-3 * reach + 1e-6, bounce])
    return (*space, model.collider_arrays.workspace()) if model.colliders else space


def contact_name(model: Model, source: float) -> str:
    """Name of the contact that a row of detected ones is of (FOUND_SOURCE), or of the two colliders."""
    if source >= 0.0:
        return [contact.name for contact in model.contacts for _ in contact.points][int(source)]
    first, second = divmod(int(-1.0 - source), len(model.colliders))
    return f"{model.colliders[first].name} on {model.colliders[second].name}"
