"""The workspace in which kernels solve for contacts and constraints."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ..constraints.packing import System, make_system
from ..kernels.constraints import layout as rows
from ..kernels.contact.layout import FOUND_WIDTH, PAIR_POINT, PAIR_RADIUS, PAIR_WIDTH
from ..model.model import Model

# More simultaneous contacts would make a system too large for a step.
MOST_CONTACTS = 200


def constraint_space(model: Model) -> tuple[System, FloatArray, tuple[FloatArray, ...], FloatArray]:
    """Workspaces of the rows, of limits and contacts between steps, of contacts, and of prescribed coordinates."""
    pairs = int(model.contact_pairs[0])
    most = model.num_constraint_rows + 2 * model.num_limits + 3 * min(pairs, MOST_CONTACTS)
    system = make_system(most, model.num_coordinates)
    memory = np.zeros((model.num_limits + pairs, rows.MEMORY_WIDTH))
    return system, memory, contact_space(model), np.zeros(model.num_coordinates)


def contact_space(model: Model) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pairs of points and obstacles, a table for detected contacts, and two lengths.

    The lengths are the largest distance of a point from its body's origin, and the gap below which it is examined.
    """
    count = int(model.contact_pairs[0])
    pairs = model.contact_pairs[1 : 1 + count * PAIR_WIDTH].reshape(count, PAIR_WIDTH)
    extents = np.linalg.norm(pairs[:, PAIR_POINT : PAIR_POINT + 3], axis=1) + pairs[:, PAIR_RADIUS]
    reach = float(extents.max(initial=0.0))
    found = np.zeros((count, FOUND_WIDTH))
    return model.contact_pairs, found, np.array([reach, 1e-3 * reach + 1e-6])
