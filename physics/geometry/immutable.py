"""Immutable values: their arrays stay read-only in copies and after unpickling."""

from __future__ import annotations

from typing import Any, Self

import numpy as np


class ReadOnlyArrays:
    """Base of frozen classes with arrays: arrays restored by pickle or copy are locked again."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock()

    def lock(self) -> Self:
        """Make every array among the attributes, or in a tuple attribute, read-only; returns the object."""
        for value in vars(self).values():
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, np.ndarray):
                    item.flags.writeable = False
        return self
