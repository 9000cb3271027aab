"""Custom calling convention for arrays (see `arrays`): guards refuse calls between kernels and other functions."""

import operator
from typing import Any, ClassVar, cast

from numba.core import types
from numba.core.errors import TypingError

METHODS = {"array.reshape"}  # methods of arrays that kernels may call
# other functions that may get arrays
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
    """Raise TypingError for a call with arrays to a function with Numba's own calling convention."""
    if isinstance(function, types.BoundFunction):
        refused = _holds_array(function.this) and cast(Any, function.template).key not in METHODS
    else:
        refused = any(map(_holds_array, arguments)) and not _may_have_arrays(function)
    if refused:
        raise TypingError(f"kernels hand over arrays to kernels alone, not to {function}: write it out")


class Asking:
    """Context in which our compilers resolve a call: other callers would pass arrays by Numba's own convention."""

    depth: ClassVar[int] = 0

    def __enter__(self) -> None:
        Asking.depth += 1

    def __exit__(self, *reason: object) -> None:
        Asking.depth -= 1


class OfKernels:
    """Base of the dispatchers of kernels."""

    py_func: Any

    def refuse_others(self) -> None:
        """Raise TypingError if none of our compilers resolves the call."""
        if not Asking.depth:
            raise TypingError(
                f"{self.py_func.__name__} is for kernels and for what `compiled` makes of a function"
            )
