"""Immutable values: their arrays stay read-only in copies and after unpickling."""

from typing import Any, ClassVar, Self

import numpy as np

from .. import registry
from ..validation import check_fields


class Value:
    """Base of frozen dataclasses: the metadata of a field has its check (`validation.check_fields`).

    Attributes:
        of: what follows the names of fields in errors.
    """

    of: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_fields(self, self.of)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description: ``{field: value, ...}``, with its ``type`` first if it is one of several."""
        return registry.to_dict(self)


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
