"""Poses and energies of a sequence of coordinates and velocities."""

from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..kernels import layout
from ..processors import slices
from .checks import check_flags
from .model import Model


def observe(
    model: Model,
    q: FloatArray,
    qd: FloatArray,
    *,
    anywhere: bool = False,
    muscles: bool = True,
    spaces: Any = None,
) -> tuple[FloatArray, FloatArray]:
    """Body poses (samples, nb, 4, 4) and energies (samples, 3) of a sequence of coordinates and velocities.

    Args:
        anywhere: extrapolate if a joint has left its range, instead of raising JointRangeError.
        muscles: False leaves out the energies of muscles, which take longest.
        spaces: a workspace of the model with cleared flags, which are cleared again; None: a new one.
    """
    samples = len(q)
    poses = np.empty((samples, model.num_bodies, 4, 4))
    energy = np.empty((samples, 3))
    spaces = model.workspace().clear() if spaces is None else spaces
    # one kind of array only: each kind is compiled separately
    q, qd = np.array(q, dtype=np.float64, order="C"), np.array(qd, dtype=np.float64, order="C")
    arrays = model.arrays
    if not muscles and arrays[3][layout.MUSCLE_COUNT] > 0.0:
        alone = arrays[3].copy()
        alone[layout.MUSCLE_COUNT] = 0.0
        alone.flags.writeable = False  # as the others: writeable arrays are compiled separately
        arrays = (*arrays[:3], alone, arrays[4])
    for part in slices(samples):
        kernels.dynamics.observe.observe(arrays, q[part], qd[part], poses[part], energy[part], *spaces)
    if not (anywhere and spaces[2][layout.STATUS] == layout.OUT_OF_RANGE):
        check_flags(model, spaces[2])
    spaces[2][:] = 0
    return poses, energy
