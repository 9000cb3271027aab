"""Values that stay what they were: their arrays are read-only, in copies and after unpickling, too."""

from __future__ import annotations

from typing import Any

import numpy as np


class ReadOnlyArrays:
    """Base of frozen classes with arrays: what pickle and copy restore is locked again."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock()

    def lock(self) -> None:
        """Make every array among the attributes, or in a tuple among them, read-only."""
        for value in vars(self).values():
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, np.ndarray):
                    item.flags.writeable = False
