"""Hybrid dynamics: some accelerations are given, the others follow (Wang 2022, sec. 4.6.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body
from ..bodies.state import State
from ..errors import ModelError
from ..model.checks import check_accelerations, check_state, with_inputs
from ..model.model import Model
from ..motions.motion import coordinates_of
from ..validation import finite_array, float_array
from . import articulated, newton_euler
from .constrained import constrained_accelerations, require_equalities


class HybridMotion(NamedTuple):
    """What `hybrid_dynamics` finds.

    Attributes:
        qdd: accelerations (nv,), the given ones among them.
        tau: generalized forces (nv,) under which `forward_dynamics` gives these accelerations: what was given, and for
            the coordinates with given accelerations all that they take, -G^T lambda included. With constraints it is
            `constrained_dynamics` that gives them.
    """

    qdd: FloatArray
    tau: FloatArray


def hybrid_dynamics(
    model: Model, state: State, accelerations: Mapping[str | Body, Any], tau: Any = None
) -> HybridMotion:
    """Accelerations where some are given, and the generalized forces that these take; O(n).

    Of each coordinate either the acceleration is given or the force is (Wang 2022, eq. 4.109). A coordinate whose
    acceleration is given is left out of the articulated inertias (Featherstone 2008, sec. 9.2), so no matrix is needed
    but that of the model's constraints, a row for each.

    Args:
        model, state: what moves, and where it is.
        accelerations: by name of a coordinate (``"arm.angle"``, see ``model.coordinate_names``) a number, or by body
            one for each coordinate of its joint.
        tau: generalized forces (nv,) besides; those of the named coordinates add to what is found for them.

    Raises:
        ModelError: an unknown name, a coordinate named twice, one that is prescribed by its joint; bad shapes or
            numbers; constraints that push in one sense only.
        JointRangeError: a coordinate outside a joint whose policy is ``"error"``.
    """
    state = check_state(model, state)
    model.check_dynamics()
    held, given = _given(model, accelerations)
    forces = with_inputs(model, tau, "tau")
    if model.constraints:
        require_equalities(model, "hybrid_dynamics")
        qdd, pulls = constrained_accelerations(model, state, forces, held, given)
        nv = len(qdd)
        needed = newton_euler(model, state, qdd, forces[nv:])[0]
        for name, constraint in model.constraints.items():
            needed -= constraint.jacobian(model, state).T @ pulls[name]
        return HybridMotion(qdd, np.where(held != 0.0, needed, forces[:nv]))
    qdd, efforts = articulated(model, state, forces, held, given)
    return HybridMotion(check_accelerations(model, qdd), forces[: len(qdd)] + efforts)


def _given(model: Model, accelerations: Any) -> tuple[FloatArray, FloatArray]:
    """Which coordinates have a given acceleration, and which."""
    if not isinstance(accelerations, Mapping):
        raise ModelError(f"accelerations must be {{name: value}}, got {accelerations!r:.80}")
    held, given = np.zeros(model.num_coordinates), np.zeros(model.num_coordinates)
    for key, value in accelerations.items():
        name = key.name if isinstance(key, Body) else key
        where = coordinates_of(model, name)
        if held[where].any():
            raise ModelError(f"the acceleration of {name!r} is given twice")
        if model.prescribed[where].any():
            raise ModelError(f"{name!r} has a coordinate that keeps its velocity: it takes no acceleration")
        values = np.atleast_1d(float_array(value, f"acceleration of {name!r}"))
        given[where] = finite_array(values, (where.stop - where.start,), f"acceleration of {name!r}")
        held[where] = 1.0
    held[model.prescribed] = 1.0
    return held, given
