"""Links compiled kernels: each is compiled to machine code once and shared by its callers.

Numba by itself compiles all direct and indirect callees of a function again into that function's machine code, and also
compiles functions that are always inlined. For kernels that call each other in layers, this is most of the compile
time. The classes below are passed to Numba as arguments; nothing of Numba's is changed.
"""

from __future__ import annotations

import gc
import importlib
import operator
import sys
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, cast

from numba.core import sigutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack

from . import keeping as keeping
from .arrays import MODELS, own_reading, own_writing
from .calls import of_kernel
from .guards import Asking, OfKernels, refuse_foreign
from .interrupts import Uninterrupted
from .sources import module_name, sources_hash


class Loader:
    """Loads a shared kernel into memory before a caller of it is loaded from the cache.

    Numba stores it with the machine code of every caller and calls it first.
    """

    def __init__(self, module: str, name: str, signature: tuple[Any, ...]) -> None:
        self.key = (module, name, signature)

    def __call__(self) -> None:
        module, name, signature = self.key
        kernel = getattr(sys.modules.get(module) or importlib.import_module(module), name)
        if signature not in kernel.overloads:
            kernel.compile(signature)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loader) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class _Library(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """Machine code that is made as a whole, or not at all."""

    def finalize(self) -> None:
        """As Numba's."""
        with Uninterrupted():
            make: Callable[[], None] = super().finalize
            make()


class _Shared(_Library):
    """Machine code that callers link by name, without compiling any of it again."""

    def _optimize_final_module(self) -> None:
        """As Numba's, followed by vectorization of neighbouring numbers, such as those of twists and rotations."""
        codegen: Any = self._codegen
        for options in (
            {"cost": "cheap", "opt": codegen._opt_level, "loop_vectorize": codegen._loopvect},
            {"slp_vectorize": False},
        ):
            made = codegen._module_pass_manager(**options)
            manager, *builder = made if isinstance(made, tuple) else (made,)  # alone before Numba 0.62
            manager.run(self._final_module, *builder)

    def _get_module_for_linking(self) -> Any:
        library: Any = self
        library._ensure_finalized()
        if self._shared_module is None:
            from llvmlite.binding import parse_assembly

            self._shared_module = parse_assembly(str(self._codegen._create_empty_module(self.name)))
        return self._shared_module


class _Nowhere:
    """Code generation for a library whose code never gets an address."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: object) -> None:
        """Numba stores objects here for functions that use Python objects; kernels do not."""


class _Inlined(_Library):
    """Code that is inlined into callers and gets no address."""

    @property
    def codegen(self) -> Any:
        return _Nowhere(self._codegen)

    def _optimize_final_module(self) -> None:
        """Nothing: the callers optimize it after inlining."""

    def _finalize_final_module(self) -> None:
        library: Any = self
        library._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


# Passes that kernels do not need: closures, comprehensions, expressions of whole arrays, overloads inlined as source
NEEDLESS = {
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "NopythonRewrites",
    "InlineOverloads",
    "DumpParforDiagnostics",
}
OWN: dict[Any, Any] = {operator.getitem: own_reading, operator.setitem: own_writing}
_signatures: dict[Any, Any] = {}
_operators: dict[Any, Any] = {}
# Numba's own functions that kernels call, compiled with our calling convention
_internal: dict[Any, Any] = {}


class _Operator(types.Function):  # type: ignore[misc, unused-ignore]
    """A function of Numba's that caches its signatures by arguments.

    An operator has dozens of implementations to choose from, and a kernel hundreds of operators.
    """

    def get_call_type(self, context: Any, arguments: Any, keywords: Any) -> Any:
        key = (self, tuple(arguments))
        if keywords or key not in _signatures:
            find: Callable[[Any, Any, Any], Any] = super().get_call_type
            _signatures[key] = find(context, arguments, keywords)
        return _signatures[key]

    def get_impl_key(self, signature: Any) -> Any:
        """As Numba's, but elements of arrays are read and written by `arrays`."""
        own, find = OWN.get(self.typing_key), cast(Any, super()).get_impl_key
        key = None if own is None else own(*signature.args[:2])
        return find(signature) if key is None else key


class _Typing:
    """Numba's typing context for inference: calls with the same arguments are resolved only once."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def _check(self, function: Any, arguments: Any) -> None:
        refuse_foreign(function, arguments)

    def resolve_function_type(self, function: Any, arguments: Any, keywords: Any) -> Any:
        """Signature of a call; as Numba's, but refuses calls of foreign functions with arrays."""
        if keywords or (type(function) is not types.Function and function is not operator.getitem):
            self._check(function, arguments)
            with Asking():
                return self._context.resolve_function_type(function, arguments, keywords)
        key = (function, tuple(arguments))
        if key not in _signatures:
            self._check(function, arguments)
            _signatures[key] = self._context.resolve_function_type(function, arguments, keywords)
        return _signatures[key]

    def resolve_getitem(self, target: Any, index: Any) -> Any:
        """Signature of reading an element; as Numba's."""
        return self.resolve_function_type(operator.getitem, (target, index), {})


class _Lowering(_Typing):
    """The same for the passes after inference, which resolve operators by themselves, and for Numba's own functions
    that are compiled meanwhile.
    """

    def _check(self, function: Any, arguments: Any) -> None:
        """No check: these calls are Numba's own."""

    def resolve_value_type(self, value: Any) -> Any:
        """Type of a constant; as Numba's."""
        found = self._context.resolve_value_type(value)
        if type(found) is not types.Function:
            return found
        if found not in _operators:
            remembering: Any = _Operator(found.templates)
            remembering._impl_keys = vars(found)["_impl_keys"]  # filled by inference
            _operators[found] = remembering
        return _operators[found]


class _Without:
    """Context without garbage collection, which takes a tenth of the time of a compilation and finds little."""

    def __enter__(self) -> None:
        self._collecting = gc.isenabled()
        gc.disable()

    def __exit__(self, *reason: object) -> None:
        if self._collecting:
            gc.enable()


def _with_loaders(result: Any) -> Any:
    """A compiled function with the loaders of its callees; from 0.63 on Numba adds them itself."""
    library = result.library
    if not hasattr(library, "_reload_init"):
        called = (getattr(each, "_reload_init", ()) for each in library._linking_libraries)
        library._reload_init = set().union(*called)
        result.reload_init.extend(library._reload_init.difference(result.reload_init))
    return result


class EntryCompiler(Compiler):  # type: ignore[misc, unused-ignore]
    """Compiles functions that Python calls."""

    library: type = _Library

    def compile_extra(self, function: Any) -> Any:
        """As Numba's."""
        with _Without():
            compile_function: Callable[[Any], Any] = super().compile_extra
            return _with_loaders(compile_function(function))

    def define_pipelines(self) -> Any:
        """Numba's pipeline without the passes that kernels do not need."""
        define: Callable[[], Any] = super().define_pipelines
        pipelines = define()
        context = self.state.targetctx  # belongs to this compilation
        self.state.library = self.library(context.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        context.typing_context = _Lowering(self.state.typingctx)
        context.data_model_manager, context.cached_internal_func = MODELS, _internal
        self.state.typingctx = _Typing(self.state.typingctx)
        for manager in pipelines:
            manager.passes = [step for step in manager.passes if step[0].__name__ not in NEEDLESS]
            manager.finalize()
        return pipelines


class _Compiler(EntryCompiler):
    inlined: bool

    def define_pipelines(self) -> Any:
        """As `EntryCompiler`, but with another class of library and a name that is the same in every process."""
        state = self.state
        # Numba inherits flags from the caller, and the name contains them: the first caller must not matter
        state.flags = state.flags.copy()
        state.flags.forceinline = self.inlined
        # Numba's own functions that are compiled meanwhile inherit these: otherwise the first caller would decide
        # whether `int` is inlined, and by that the last bits of results
        ConfigStack().top().forceinline = False
        state.func_id.unique_id = sources_hash(module_name(state.func_id.modname))
        return super().define_pipelines()


class InlineCompiler(_Compiler):
    """Compiles functions that are always inlined."""

    library = _Inlined
    inlined = True


class SharedCompiler(_Compiler):
    """Compiles kernels for other kernels to call."""

    library = _Shared
    inlined = False


class _Clock:
    """Processor time of a context, `own`, without that of nested clocks."""

    _outer: ClassVar[list[_Clock]] = []

    def __enter__(self) -> _Clock:
        self._within, self._began = 0.0, time.process_time()
        self._outer.append(self)
        return self

    def __exit__(self, *reason: object) -> None:
        self._outer.pop()
        spent = time.process_time() - self._began
        self.own = spent - self._within
        if self._outer:
            self._outer[-1]._within += spent


class Inline(OfKernels, CPUDispatcher):  # type: ignore[misc, unused-ignore]
    """A function that kernels call."""

    def __call__(self, *arguments: Any) -> Any:
        """Call the plain function: Python cannot call the compiled one."""
        return self.py_func(*arguments)

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """As Numba's, but literals count as plain numbers; otherwise each would need its own specialization."""
        self.refuse_others()
        resolve: Callable[[Any, Any], Any] = super().get_call_template
        return resolve(tuple(types.unliteral(argument) for argument in arguments), keywords)

    def compile(self, signature: Any) -> Any:
        """As Numba's, without its event listeners, which process every event of all waiting callers.

        The result stores the seconds that it took, without those of its callees.
        """
        arguments, result = sigutils.normalize_signature(signature)
        own = cast(Any, self)
        with global_compiler_lock:
            known = own.overloads.get(tuple(arguments))
            if known is None:
                known = own._cache.load_overload(signature, own.targetctx)
                if known is not None:
                    own._cache_hits[signature] += 1
                    own.targetctx.insert_user_function(known.entry_point, known.fndesc, [known.library])
                else:
                    own._cache_misses[signature] += 1
                    with own._compiling_counter, _Clock() as clock:
                        known = own._compiler.compile(arguments, result)
                    known.metadata["seconds"] = clock.own
                    own._cache.save_overload(signature, known)
                call = of_kernel(known)  # found before Numba's own, which it replaces
                own.targetctx._defns[known.entry_point].append(call, call.signature)
                own.add_overload(known)
        return known.entry_point


class Kernel(Inline):
    """A kernel that other kernels call; the function for Python is made at the first call from Python.

    If its argument types are not `wanted`, because there is nothing to do, `instead` is compiled in its place.
    """

    make_entry: Callable[[Any], Any]
    wanted: Callable[[Any], bool]
    instead: Any = None
    only_python = False

    def _other(self, arguments: Any) -> Any:
        return None if self.instead is None or self.wanted(arguments) else self.instead

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """As Numba's, of the kernel that these types want."""
        if self.only_python:
            raise TypingError(
                f"{self.py_func.__name__} is an entry, for Python alone to call: make it shared"
            )
        other, find = self._other(arguments), super().get_call_template
        return find(arguments, keywords) if other is None else other.get_call_template(arguments, keywords)

    def get_overload(self, arguments: Any) -> Any:
        """As Numba's, of the kernel that these types want."""
        other, find = self._other(arguments), super().get_overload
        return find(arguments) if other is None else other.get_overload(arguments)

    @cached_property
    def entry(self) -> Any:
        """The function that Python calls."""
        return self.make_entry(self)

    def __call__(self, *arguments: Any) -> Any:
        return self.entry(*arguments)

    def add_overload(self, result: Any) -> None:
        """As Numba's; also registers a loader, so that the kernel is loaded before its callers."""
        own = Loader(self.py_func.__module__, self.py_func.__qualname__, tuple(result.signature.args))
        result.library._reload_init = {own}  # which loads the callees too
        add: Callable[[Any], None] = super().add_overload
        add(result)
