"""Hybrid dynamics: some accelerations are prescribed, the others are computed (Wang 2022, sec. 4.6.5)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body, name_of
from ..bodies.state import State
from ..errors import ModelError
from ..model.checks import check_accelerations, check_state, with_inputs
from ..model.model import Model
from ..model.naming import coordinates_of
from ..validation import finite_array, float_array
from . import articulated, newton_euler
from .constrained import constrained_accelerations, require_equalities


class HybridMotion(NamedTuple):
    """Result of `hybrid_dynamics`.

    Attributes:
        qdd: all accelerations (nv,), the prescribed ones included.
        tau: generalized forces (nv,) for which `forward_dynamics`, or `constrained_dynamics` with constraints, returns
            qdd. On the prescribed coordinates they are computed and include -G^T lambda; elsewhere they are the input.
    """

    qdd: FloatArray
    tau: FloatArray


def hybrid_dynamics(
    model: Model, state: State, accelerations: Mapping[str | Body, Any], tau: Any = None
) -> HybridMotion:
    """Accelerations of all coordinates when some are prescribed, and the generalized forces those need; O(n).

    For each coordinate either the acceleration or the force is given (Wang 2022, eq. 4.109). Prescribed coordinates
    are left out of the articulated inertias (Featherstone 2008, sec. 9.2). The only matrix is that of the model's
    constraints, one row each.

    Args:
        model, state: the tree and its state.
        accelerations: a number by name of a coordinate (``"arm.angle"``, see ``model.coordinate_names``), or one for
            each coordinate of a joint by name of its body.
        tau: applied generalized forces (nv,); on prescribed coordinates the computed forces are added to them.

    Raises:
        ModelError: an unknown name, a coordinate given twice, one that its joint prescribes; bad shapes or numbers;
            one-sided constraints.
        JointRangeError: a coordinate outside the range of a joint whose policy is ``"error"``.
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
    """Mask (nv,) of the prescribed coordinates, and their accelerations (nv,)."""
    if not isinstance(accelerations, Mapping):
        raise ModelError(f"accelerations must be {{name: value}}, got {accelerations!r:.80}")
    held, given = np.zeros(model.num_coordinates), np.zeros(model.num_coordinates)
    for key, value in accelerations.items():
        name = name_of(key)
        where = coordinates_of(model, name)
        if held[where].any():
            raise ModelError(f"the acceleration of {name!r} is given twice")
        if model.prescribed[where].any():
            raise ModelError(f"{name!r} is prescribed and keeps its velocity: give no acceleration")
        values = np.atleast_1d(float_array(value, f"acceleration of {name!r}"))
        given[where] = finite_array(values, (where.stop - where.start,), f"acceleration of {name!r}")
        held[where] = 1.0
    held[model.prescribed] = 1.0
    return held, given
