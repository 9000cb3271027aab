"""Who may hand over arrays to whom: kernels do it in words of their own (see `arrays`), all others in Numba's."""

from __future__ import annotations

import operator
from typing import Any, ClassVar, cast

from numba.core import types
from numba.core.errors import TypingError

METHODS = {"array.reshape"}  # of arrays, that kernels may call
# what else may have arrays
WITH_ARRAYS = {operator.getitem, operator.setitem, operator.is_, operator.is_not, len}


LANEWISE: set[Any] = set()  # and the operations of `lanes`


def _holds_array(kind: Any) -> bool:
    if isinstance(kind, types.BaseTuple):
        return any(map(_holds_array, cast(Any, kind)))
    return isinstance(kind, types.Array)


def _may_have_arrays(function: Any) -> bool:
    dispatcher = getattr(function, "dispatcher", None)
    if dispatcher is not None:
        return isinstance(dispatcher, OfKernels)
    key = getattr(function, "typing_key", None)
    return function in WITH_ARRAYS or key in WITH_ARRAYS or key in LANEWISE


def refuse_foreign(function: Any, arguments: Any) -> None:
    """Raise where a function that is no kernel would be called with arrays, which it expects in Numba's own words."""
    if isinstance(function, types.BoundFunction):
        refused = _holds_array(function.this) and cast(Any, function.template).key not in METHODS
    else:
        refused = any(map(_holds_array, arguments)) and not _may_have_arrays(function)
    if refused:
        raise TypingError(f"kernels hand over arrays to kernels alone, not to {function}: write it out")


class Asking:
    """While a function that is compiled here asks for a kernel: others would hand over arrays in Numba's own words."""

    depth: ClassVar[int] = 0

    def __enter__(self) -> None:
        Asking.depth += 1

    def __exit__(self, *reason: object) -> None:
        Asking.depth -= 1


class OfKernels:
    """What marks the dispatchers that kernels are called by."""

    py_func: Any

    def refuse_others(self) -> None:
        """Raise where no function that is compiled here asks."""
        if not Asking.depth:
            raise TypingError(
                f"{self.py_func.__name__} is for kernels and for what `compiled` makes of a function"
            )
