"""The compiled form of `algebra.worlds`: numbers of four worlds in an LLVM vector, with operators.

So the functions of `algebra.vectors` and `algebra.spatial`, which are written for numbers, compile for four worlds at
once. The types and operations here are registered under our own names; nothing of Numba's is changed.
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, extending
from numba.core import types as numba_types

from .arrays import address_of
from .sources import CHECKED
from .vectors import ARRAY, FUSED, INTEGER, NUMBER, ROOM, VECTOR, VectorModel, operation, spread

types: Any = numba_types


class WorldsType(types.Type):  # type: ignore[misc, unused-ignore]
    """A number of each of four worlds."""

    def __init__(self) -> None:
        super().__init__(name="Worlds")


WORLDS: Any = WorldsType()
extending.register_model(WorldsType)(VectorModel)


def _wide(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A number of all worlds from one of each or from a common one."""
    if kind == WORLDS:
        return value
    return spread(builder, context.cast(builder, value, kind, types.float64))


def _is_number(kind: Any) -> bool:
    return kind == WORLDS or isinstance(kind, types.Float | types.Integer)


def _register(symbol: Any, name: str) -> None:
    @extending.type_callable(symbol)
    def typing(_: Any) -> Any:
        def result(a: Any, b: Any) -> Any:
            if WORLDS in (a, b) and _is_number(a) and _is_number(b):
                return WORLDS
            return None

        return result

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b = (_wide(context, builder, kind, value) for kind, value in zip(signature.args, arguments))
        return getattr(builder, name)(a, b, flags=FUSED)

    for kinds in ((WorldsType, WorldsType), (WorldsType, types.Any), (types.Any, WorldsType)):
        extending.lower_builtin(symbol, *kinds)(write)


for _symbol, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register(_symbol, _name)


extending.type_callable(operator.neg)(lambda _: lambda a: WORLDS if a == WORLDS else None)
extending.lower_builtin(operator.neg, WorldsType)(
    lambda context, builder, signature, arguments: builder.fneg(arguments[0])
)


def _where(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Address of a row; by the array's shape LLVM would multiply for each."""
    kind, (array, row) = signature.args[0], arguments[:2]
    if CHECKED:
        address_of(context, builder, kind, array, [row])
    data = builder.extract_value(array, context.data_model_manager[kind].get_field_position("data"))
    return builder.gep(builder.bitcast(data, VECTOR.as_pointer()), [row])


def _load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.load(_where(context, builder, signature, arguments), align=8)


def _store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    builder.store(arguments[-1], _where(context, builder, signature, arguments), align=8)
    return context.get_dummy_value()


def _everywhere(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return spread(builder, arguments[0])


def _less(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    x, y, a, b = arguments
    return builder.select(builder.fcmp_ordered("<", x, y), a, b)


def _any_less(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    mask = builder.fcmp_ordered("<", *arguments)
    bits = builder.bitcast(mask, ir.IntType(ROOM))
    return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


def _size(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    intrinsic = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(VECTOR, [VECTOR]), "llvm.fabs.v4f64"
    )
    return builder.call(intrinsic, arguments)


OPERATIONS: dict[str, tuple[tuple[Any, ...], Any, Callable[..., Any]]] = {
    "load_worlds": ((ARRAY, INTEGER), WORLDS, _load),
    "store_worlds": ((ARRAY, INTEGER, WORLDS), types.none, _store),
    "in_all": ((NUMBER,), WORLDS, _everywhere),
    "where_less": ((WORLDS, WORLDS, WORLDS, WORLDS), WORLDS, _less),
    "any_less": ((WORLDS, WORLDS), types.boolean, _any_less),
    "sizes": ((WORLDS,), WORLDS, _size),
}


def worlds_operation(function: Callable[..., Any]) -> Any:
    """The compiled form of a function of `algebra.worlds`."""
    return operation(function, OPERATIONS)
