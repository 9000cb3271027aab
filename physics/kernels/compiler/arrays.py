"""Arrays in C order: passed as arguments, read and written with few instructions.

For each access to an element Numba unpacks the whole array into memory, for any order of its rows: some fifty
instructions, of which LLVM removes all but five. It passes an array as up to nine words, although address and shape
determine the others. Kernels consist mostly of such accesses and calls. The implementations here are registered under
our own names; nothing of Numba's is changed.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, datamodel, imputils
from numba.core import types as numba_types
from numba.core.datamodel import models

from .sources import CHECKED

types: Any = numba_types
lower: Any = imputils.lower_builtin
data_models: Any = datamodel
ArrayModel: Any = models.ArrayModel
NOTHING = ir.FunctionType(ir.VoidType(), ())


def read_element() -> None:
    """Key of the implementation that reads an element."""


def write_element() -> None:
    """Key of the implementation that writes an element."""


def view_row() -> None:
    """Key of the implementation that gives rows of an array, or a slice of a row."""


def _are_places(kinds: Any) -> bool:
    return all(isinstance(kind, types.Integer) and kind.bitwidth == types.intp.bitwidth for kind in kinds)


def own_reading(array: Any, index: Any) -> Any:
    """Key of our implementation for reading an array at an index, by their types; None: Numba reads."""
    if not isinstance(array, types.Array) or not is_flat(array):
        return None
    places = index.types if isinstance(index, types.BaseTuple) else (index,)
    if _are_places(places):
        return read_element if len(places) == array.ndim else view_row
    *first, last = places
    piece = isinstance(last, types.SliceType) and not last.has_step
    return view_row if piece and len(places) == array.ndim and _are_places(first) else None


def own_writing(array: Any, index: Any) -> Any:
    """As `own_reading`, for writing."""
    return write_element if own_reading(array, index) is read_element else None


def is_flat(kind: Any) -> bool:
    """Whether a type is an array of numbers in C order."""
    return kind.layout == "C" and kind.ndim > 0 and isinstance(kind.dtype, types.Number)


def _part(builder: Any, whole: Any, place: int) -> Any:
    """An element of a tuple: the inserted value itself, if the tuple was built just before."""
    seen = whole
    while isinstance(seen, ir.instructions.InsertValue):
        if tuple(seen.indices) == (place,):
            return seen.operands[1]
        seen = seen.operands[0]
    return builder.extract_value(whole, place)


def _from_end(builder: Any, place: Any, length: Any) -> Any:
    """An index along an axis; a negative one counts from the end."""
    if isinstance(place, ir.Constant):
        return builder.add(place, length) if place.constant < 0 else place
    negative = builder.icmp_signed("<", place, ir.Constant(place.type, 0))
    return builder.select(negative, builder.add(place, length), place)


def _along(builder: Any, place: Any, length: Any) -> Any:
    """An index along an axis; only a literal index may be negative and count from the end.

    Otherwise kernels would test the sign at each access. With CONDYLE_CHECKED an index out of range ends the process.
    """
    if place.type.width < length.type.width:
        place = builder.sext(place, length.type)
    if isinstance(place, ir.Constant):
        place = _from_end(builder, place, length)
    if CHECKED:
        with builder.if_then(builder.icmp_unsigned(">=", place, length), likely=False):
            builder.call(builder.module.declare_intrinsic("llvm.trap", (), NOTHING), ())
    return place


def _within(builder: Any, place: Any, length: Any) -> Any:
    """An end of a slice, clamped to the axis."""
    zero = ir.Constant(place.type, 0)
    if isinstance(place, ir.Constant) and place.constant == 0:
        return place
    place = _from_end(builder, place, length)
    place = builder.select(builder.icmp_signed("<", place, zero), zero, place)
    return builder.select(builder.icmp_signed(">", place, length), length, place)


def _places(builder: Any, kind: Any, index: Any) -> list[Any]:
    if not isinstance(kind, types.BaseTuple):
        return [index]
    return [_part(builder, index, k) for k in range(len(kind.types))]


def _lengths(context: Any, builder: Any, kind: Any, array: Any) -> list[Any]:
    shape = builder.extract_value(array, context.data_model_manager[kind].get_field_position("shape"))
    return [builder.extract_value(shape, axis) for axis in range(kind.ndim)]


def _address(context: Any, builder: Any, kind: Any, array: Any, places: list[Any], lengths: list[Any]) -> Any:
    """Address of the element with these indices along the first axes, and 0 along the others."""
    offset = None
    for axis, length in enumerate(lengths):
        if offset is not None:
            offset = builder.mul(offset, length)
        if axis < len(places):
            place = _along(builder, places[axis], length)
            offset = place if offset is None else builder.add(offset, place)
    data = builder.extract_value(array, context.data_model_manager[kind].get_field_position("data"))
    return data if offset is None else builder.gep(data, [offset])


def address_of(context: Any, builder: Any, kind: Any, array: Any, places: list[Any]) -> Any:
    """Address of the element at these indices."""
    return _address(context, builder, kind, array, places, _lengths(context, builder, kind, array))


def _read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    (kind, index_kind), (array, index) = signature.args, arguments
    address = address_of(context, builder, kind, array, _places(builder, index_kind, index))
    return context.unpack_value(builder, kind.dtype, address, align=None if kind.aligned else 1)


def _write(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    (kind, index_kind, value_kind), (array, index, value) = signature.args, arguments
    address = address_of(context, builder, kind, array, _places(builder, index_kind, index))
    value = context.cast(builder, value, value_kind, kind.dtype)
    context.pack_value(builder, kind.dtype, value, address, align=None if kind.aligned else 1)


def _view(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    (kind, index_kind), (array, index) = signature.args, arguments
    places, lengths = _places(builder, index_kind, index), _lengths(context, builder, kind, array)
    left = lengths[len(places) :]
    last_kind = index_kind.types[-1] if isinstance(index_kind, types.BaseTuple) else index_kind
    first = None
    if isinstance(last_kind, types.SliceType):
        piece = context.make_helper(builder, last_kind, value=places.pop())
        first, end = (_within(builder, place, lengths[-1]) for place in (piece.start, piece.stop))
        length = builder.sub(end, first)
        zero = ir.Constant(length.type, 0)
        left = [builder.select(builder.icmp_signed("<", length, zero), zero, length)]
    address = _address(context, builder, kind, array, places, lengths)
    if first is not None:
        address = builder.gep(address, [first])
    model = context.data_model_manager[signature.return_type]
    view = model.from_argument(builder, (address, *left))
    return imputils.impl_ret_borrowed(context, builder, signature.return_type, view)


lower(read_element, types.Array, types.Any)(_read)
lower(write_element, types.Array, types.Any, types.Any)(_write)
lower(view_row, types.Array, types.Any)(_view)


class _Flat(ArrayModel):  # type: ignore[misc, unused-ignore]
    """An array that is passed as the address of its first element and its shape."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind)
        self._flat = is_flat(kind)

    def _place(self, name: str) -> int:
        return self.get_field_position(name)

    def get_argument_type(self) -> Any:
        """Types of the words that are passed."""
        if not self._flat:
            return super().get_argument_type()
        words = self.get_value_type().elements
        return (words[self._place("data")], *words[self._place("shape")].elements)

    def as_argument(self, builder: Any, value: Any) -> Any:
        """The words that are passed for an array."""
        if not self._flat:
            return super().as_argument(builder, value)
        shape = builder.extract_value(value, self._place("shape"))
        lengths = [builder.extract_value(shape, axis) for axis in range(len(shape.type.elements))]
        return (builder.extract_value(value, self._place("data")), *lengths)

    def from_argument(self, builder: Any, value: Any) -> Any:
        """An array from the words that were passed; it does not own its memory."""
        if not self._flat:
            return super().from_argument(builder, value)
        data, *lengths = value
        size = ir.Constant(lengths[0].type, self.fe_type.dtype.bitwidth // 8)
        strides, count = [size], lengths[-1]
        for length in reversed(lengths[:-1]):
            strides.insert(0, builder.mul(size, count))
            count = builder.mul(length, count)
        array = ir.Constant(self.get_value_type(), None)
        for name, part in (
            ("nitems", count),
            ("itemsize", size),
            ("data", data),
            ("shape", cgutils.pack_array(builder, lengths)),
            ("strides", cgutils.pack_array(builder, strides)),
        ):
            array = builder.insert_value(array, part, self._place(name))
        return array


MODELS = data_models.DataModelManager().chain(data_models.default_manager)
MODELS.register(types.Array, _Flat)
