"""Checks of the initial state and of prescribed motions against constraints, obstacles and hard limits."""

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics.complementarity import contacts_at
from ..dynamics.constrained import assemble
from ..dynamics.workspace import contact_name
from ..errors import ModelError
from ..kernels import layout
from ..kernels.constraints.layout import EQUALITY
from ..kernels.contact.layout import FOUND_BODY, FOUND_GAP, FOUND_SOURCE
from ..kernels.stepping import motion_layout
from ..model.checks import check_state
from ..model.model import Model
from ..motions.motion import MotionArrays
from ..muscles.states import check_tendons

# A violation below this [m, rad] at the start is round-off, or comes from numbers with few digits.
AT_START = 1e-5
# A penetration below this is corrected without an error [m, rad].
PASSED_AT_START = 1e-3
# Points at which a piece of a prescribed motion is checked, as shares of its length.
LOOKS = np.linspace(0.0, 1.0, 9)


def check_start(model: Model, state: State) -> State:
    """The state, moved onto the constraints.

    Raises:
        ModelError: the state does not belong to the model, violates a constraint or a hard limit, or is in an obstacle.
    """
    state = check_state(model, state)
    _check_limits(model, state)
    check_tendons(model, state.q)
    _check_contacts(model, state)
    if not model.constraints:
        return state
    values, _, _ = model.evaluate_constraints(state, model.constraints.values())
    for (name, where), constraint in zip(model.constraint_slices.items(), model.constraints.values()):
        equality = constraint.packed(model).sense == EQUALITY
        off = float((np.abs(values[where]) if equality else -values[where]).max(initial=0.0))
        if equality and off > AT_START:
            raise ModelError(
                f"constraint {name!r} is violated by {off:.3g} m or rad at the start: give a state that satisfies it, "
                "such as assemble(model, state)"
            )
        if not equality and off > PASSED_AT_START:
            raise ModelError(
                f"constraint {name!r} is violated by {off:.3g} m at the start: give a state that satisfies it"
            )
    return assemble(model, state)


def _check_limits(model: Model, state: State) -> None:
    data, q = model.arrays[3], np.array(state.q)
    for row in model.hard_limit_rows:
        value, _, width = kernels.forces.limits.limit_value(data, row, q)
        if value < -PASSED_AT_START:
            first = int(data[row + layout.LIMIT_DOF])
            names = ", ".join(model.coordinate_names[first : first + width])
            raise ModelError(f"{names} is {-value:.3g} beyond a hard limit at the start: start within it")


def _check_contacts(model: Model, state: State) -> None:
    found = contacts_at(model, np.array(state.q), 0.0)
    pair = min(found, key=lambda k: float(found[k][FOUND_GAP]), default=None)
    if pair is None or found[pair][FOUND_GAP] >= -PASSED_AT_START:
        return
    name, body = contact_name(model, found[pair][FOUND_SOURCE]), int(found[pair][FOUND_BODY])
    raise ModelError(
        f"contact {name!r} begins {-found[pair][FOUND_GAP]:.3g} m inside its obstacle: move body "
        f"{model.body_names[body]!r} out of it"
    )


def check_motions(model: Model, motions: MotionArrays) -> None:
    """ModelError if a prescribed motion moves a coordinate beyond a hard limit."""
    channels, pieces = motions
    if not len(channels):
        return
    bounds = _hard_bounds(model)
    for channel in channels:
        d = int(channel[motion_layout.CHANNEL_COORDINATE])
        lower, upper = bounds[d]
        if not (np.isfinite(lower) or np.isfinite(upper)):
            continue
        first = int(channel[motion_layout.CHANNEL_FIRST])
        own = pieces[first : first + int(channel[motion_layout.CHANNEL_COUNT])]
        for k in np.flatnonzero(own[:, motion_layout.PIECE_HOLDS] != 0.0):
            wide = (
                own[k + 1, motion_layout.PIECE_START] - own[k, motion_layout.PIECE_START]
                if 0 < k < len(own) - 1
                else 0.0
            )
            coefficients = own[k, motion_layout.PIECE_COEFFICIENTS : motion_layout.PIECE_LEAP]
            values = np.vander(LOOKS * wide, len(coefficients), increasing=True) @ coefficients
            beyond = np.maximum(lower - values, values - upper)
            worst = int(np.argmax(beyond))
            if beyond[worst] > PASSED_AT_START:
                raise ModelError(
                    f"the motion of {model.coordinate_names[d]!r} goes to {values[worst]:g} at "
                    f"t = {own[k, motion_layout.PIECE_START] + LOOKS[worst] * wide:g} s, beyond the hard limits "
                    f"({lower:g}, {upper:g})"
                )


def _hard_bounds(model: Model) -> FloatArray:
    """Lower and upper hard limit of each coordinate (nv, 2), infinite if there is none."""
    bounds = np.tile([-np.inf, np.inf], (model.num_coordinates, 1))
    data = model.arrays[3]
    for at in model.hard_limit_rows:
        d, bound = int(data[at + layout.LIMIT_DOF]), data[at + layout.LIMIT_PARAMETERS]
        if data[at + layout.LIMIT_KIND] == layout.LIMIT_LOWER:
            bounds[d, 0] = max(bounds[d, 0], bound)
        elif data[at + layout.LIMIT_KIND] == layout.LIMIT_UPPER:
            bounds[d, 1] = min(bounds[d, 1], bound)
    return bounds
