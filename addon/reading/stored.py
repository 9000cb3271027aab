"""Stored settings as physics takes them."""

from typing import Any

import numpy as np


def in_si(group: type, settings: Any, name: str, metres: float) -> Any:
    """A setting with lengths in metres and vectors as arrays.

    Args:
        group: class that declares the property. settings: has its value. metres: metres per unit of length.
    """
    value = getattr(settings, name)
    if isinstance(value, (str, bool)):
        return value
    value = value if isinstance(value, (int, float)) else np.array(value, dtype=np.float64)
    return value * metres if group.__annotations__[name].keywords.get("unit") == "LENGTH" else value
