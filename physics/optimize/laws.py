"""What a gradient needs for feedback laws, and gets by their numbers."""

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..forces.feedback import pack_feedback
from ..kernels.layout import FEEDBACK_SUMS
from ..model.model import Model


def tables_of(model: Model, times: FloatArray, table: FloatArray) -> tuple[Any, ...]:
    """Forces and inputs for the kernels; with feedback laws also these and the sums by their numbers (n, 2)."""
    more = [each for laws in pack_feedback(model) for each in (laws, np.zeros((len(laws[0]), 2)))]
    return times, table, *more


def by_laws(tables: tuple[Any, ...]) -> dict[str, FloatArray]:
    """The sums of `tables_of`, by gains and levels."""
    sums = tables[FEEDBACK_SUMS] if len(tables) > FEEDBACK_SUMS else np.zeros((0, 2))
    return {"gains": sums[:, 0], "levels": sums[:, 1]}
