"""The compiled form of `lanes`: an LLVM vector, with one or two instructions per operation.

LLVM also finds such vectors in scalar code, but packs and unpacks them so often that plain numbers are faster. The
types and operations here are registered under our own names; nothing of Numba's is changed.
"""

import inspect
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import extending
from numba.core import types as numba_types
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.np import arrayobj as numba_arrays

from .arrays import address_of, is_flat
from .guards import LANEWISE
from .sources import CHECKED

types: Any = numba_types
arrayobj: Any = numba_arrays
PrimitiveModel: Any = models.PrimitiveModel
USED, ROOM = 3, 4
VECTOR = ir.VectorType(ir.DoubleType(), ROOM)
PLACE = ir.IntType(32)
FUSED = ("contract",)  # as in all kernels, see `jit`


class LanesType(types.Type):  # type: ignore[misc, unused-ignore]
    """Three numbers in a vector of four."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


class VectorModel(PrimitiveModel):  # type: ignore[misc, unused-ignore]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


LANES: Any = LanesType()
NUMBERS = types.UniTuple(types.float64, USED)
COLUMNS = types.UniTuple(LANES, USED)
extending.register_model(LanesType)(VectorModel)


def _constant(places: list[int]) -> Any:
    return ir.Constant(ir.VectorType(PLACE, len(places)), places)


def _taken(builder: Any, vector: Any, place: int) -> Any:
    return builder.extract_element(vector, ir.Constant(PLACE, place))


def spread(builder: Any, number: Any) -> Any:
    none = ir.Constant(VECTOR, ir.Undefined)
    one = builder.insert_element(none, number, ir.Constant(PLACE, 0))
    return builder.shuffle_vector(one, none, _constant([0] * ROOM))


def _where(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, array = signature.args[0], arguments[0]
    *rows, first = arguments[1 : 1 + kind.ndim]
    if CHECKED:
        last = builder.add(first, ir.Constant(first.type, ROOM - 1))
        address_of(context, builder, kind, array, [*rows, last])
    return builder.bitcast(address_of(context, builder, kind, array, [*rows, first]), VECTOR.as_pointer())


def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.load(_where(context, builder, signature, arguments), align=8)


def _store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    builder.store(arguments[-1], _where(context, builder, signature, arguments), align=8)
    return context.get_dummy_value()


def _of(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    vector = ir.Constant(VECTOR, [0.0] * ROOM)
    for place in range(USED):
        number = builder.extract_value(arguments[0], place)
        vector = builder.insert_element(vector, number, ir.Constant(PLACE, place))
    return vector


def _numbers(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return context.make_tuple(builder, NUMBERS, [_taken(builder, arguments[0], k) for k in range(USED)])


def _scale(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.fmul(spread(builder, arguments[0]), arguments[1], flags=FUSED)


def _scale_add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    first, factor, other = arguments
    return builder.fadd(first, builder.fmul(spread(builder, factor), other, flags=FUSED), flags=FUSED)


def _times(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.fmul(*arguments, flags=FUSED)


def _add(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.fadd(*arguments, flags=FUSED)


def _turned(builder: Any, vector: Any) -> Any:
    """(y, z, x) from (x, y, z)."""
    return builder.shuffle_vector(vector, ir.Constant(VECTOR, ir.Undefined), _constant([1, 2, 0, 3]))


def _cross(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """a x b = (a b_yzx - a_yzx b)_yzx, where _yzx permutes the components."""
    a, b = arguments
    less = builder.fmul(_turned(builder, a), b, flags=FUSED)
    more = builder.fmul(a, _turned(builder, b), flags=FUSED)
    return _turned(builder, builder.fsub(more, less, flags=FUSED))


def _cross_sum(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """As `_cross`, for two products at once."""
    total = None
    for first, second in (arguments[:2], arguments[2:]):
        less = builder.fmul(_turned(builder, first), second, flags=FUSED)
        more = builder.fmul(first, _turned(builder, second), flags=FUSED)
        total = more if total is None else builder.fadd(total, more, flags=FUSED)
        total = builder.fsub(total, less, flags=FUSED)
    return _turned(builder, total)


def _diagonal(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    zeros = ir.Constant(VECTOR, [0.0] * ROOM)
    each = spread(builder, arguments[0])
    columns = [
        builder.shuffle_vector(
            each, zeros, _constant([place if place == k else ROOM for place in range(ROOM)])
        )
        for k in range(USED)
    ]
    return context.make_tuple(builder, signature.return_type, columns)


def _skew(places: list[list[int]]) -> Callable[..., Any]:
    """A function that shuffles x, y, z, 0 and their negatives into columns."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zeros = ir.Constant(VECTOR, [0.0] * ROOM)
        more = builder.shuffle_vector(arguments[0], zeros, _constant([0, 1, 2, ROOM]))
        less = builder.fneg(more)
        columns = [builder.shuffle_vector(more, less, _constant(column)) for column in places]
        return context.make_tuple(builder, signature.return_type, columns)

    return write


def _dot(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    a, b, c, d = arguments
    each = builder.fadd(builder.fmul(a, b, flags=FUSED), builder.fmul(c, d, flags=FUSED), flags=FUSED)
    x, y, z = (_taken(builder, each, k) for k in range(USED))
    return builder.fadd(builder.fadd(x, y, flags=FUSED), z, flags=FUSED)


def _flat_from(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, (array, row) = signature.args[0], arguments
    seen = arrayobj.make_array(kind)(context, builder, array)
    rows, columns = (builder.extract_value(seen.shape, axis) for axis in range(2))
    size = context.get_constant(types.intp, NUMBER.bitwidth // 8)
    result = arrayobj.make_array(signature.return_type)(context, builder)
    arrayobj.populate_array(
        result,
        data=address_of(context, builder, kind, array, [row]),
        shape=[builder.mul(builder.sub(rows, row), columns)],
        strides=[size],
        itemsize=size,
        meminfo=None,
    )
    return result._getvalue()


NUMBER, ARRAY, INTEGER = types.float64, types.Array, types.Integer
# name: argument types, result type, function that emits it
OPERATIONS: dict[str, tuple[tuple[Any, ...], Any, Callable[..., Any]]] = {
    "flat_from": ((ARRAY, INTEGER), types.Array(NUMBER, 1, "C"), _flat_from),
    "load_lanes": ((ARRAY, INTEGER, INTEGER), LANES, _load),
    "flat_lanes": ((ARRAY, INTEGER), LANES, _load),
    "store_lanes": ((ARRAY, INTEGER, INTEGER, LANES), types.none, _store),
    "store_flat": ((ARRAY, INTEGER, LANES), types.none, _store),
    "lanes_of": ((NUMBERS,), LANES, _of),
    "numbers_of": ((LANES,), NUMBERS, _numbers),
    "scale_lanes": ((NUMBER, LANES), LANES, _scale),
    "scale_add_lanes": ((LANES, NUMBER, LANES), LANES, _scale_add),
    "add_lanes": ((LANES, LANES), LANES, _add),
    "times_lanes": ((LANES, LANES), LANES, _times),
    "cross_lanes": ((LANES, LANES), LANES, _cross),
    "cross_sum": ((LANES, LANES, LANES, LANES), LANES, _cross_sum),
    "diagonal_columns": ((NUMBER,), COLUMNS, _diagonal),
    "skew_columns": ((LANES,), COLUMNS, _skew([[3, 2, 5, 3], [6, 3, 0, 3], [1, 4, 3, 3]])),
    "skew_rows": ((LANES,), COLUMNS, _skew([[3, 6, 1, 3], [2, 3, 4, 3], [5, 0, 3, 3]])),
    "dot_lanes": ((LANES, LANES, LANES, LANES), NUMBER, _dot),
}


def operation(function: Callable[..., Any], operations: Any = OPERATIONS) -> Any:
    """The compiled form of a function of `lanes`, or of others."""
    wanted, result, write = operations[function.__name__]

    def typing(_: Any, *kinds: Any) -> Any:
        taken = [
            types.unliteral(kind) if isinstance(want, type) else want for kind, want in zip(kinds, wanted)
        ]
        if wanted[0] is ARRAY and not (is_flat(kinds[0]) and kinds[0].dtype == NUMBER):
            raise TypingError(f"lanes lie in arrays of numbers in C order, not in {kinds[0]}")
        return result(*taken), write

    own = inspect.signature(function)
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    typing.__signature__ = own.replace(parameters=[context, *own.parameters.values()])  # type: ignore[attr-defined]
    made: Any = extending.intrinsic(typing)
    made.py_func = function
    LANEWISE.add(made)
    return made
