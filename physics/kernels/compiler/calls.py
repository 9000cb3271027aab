"""Calls of kernels with few instructions.

After each call Numba checks a status and passes on exceptions: twenty further instructions, most of which LLVM has to
remove. No kernel raises exceptions.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, imputils

registry: Any = imputils


def of_kernel(compiled: Any) -> Any:
    """A function that emits a call of a compiled kernel, like `numba.core.imputils.user_function`."""
    described = compiled.fndesc

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = context.declare_function(builder.module, described)
        words = context.call_conv
        place = cgutils.alloca_once(builder, words.get_return_type(described.restype).pointee)
        packed = context.get_arg_packer(described.argtypes).as_arguments(builder, arguments)
        nowhere = ir.Constant(function.args[1].type, None)  # for an exception
        builder.call(function, [place, nowhere, *packed])
        result = context.get_returned_value(builder, described.restype, builder.load(place))
        if result.type != context.get_value_type(signature.return_type):
            raise TypeError(f"{described.qualname} returns {result.type}, not {signature.return_type}")
        return registry.impl_ret_new_ref(context, builder, described.restype, result)

    write.signature = described.argtypes  # type: ignore[attr-defined]
    write.libs = (compiled.library,)  # type: ignore[attr-defined]
    return write
