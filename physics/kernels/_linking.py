"""How compiled kernels are put together: each one is compiled to machine code once, and shared by those that call it.

Numba by itself puts all that a function calls, on the way or itself, into that function's own machine code again, and
turns functions to machine code that are always inlined. For kernels that call each other in layers this is most of the
time of compilation. Numba takes the classes below as arguments; nothing of its own is changed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher


class Loader:
    """Makes sure that a shared kernel is in memory, before something is loaded from the cache that calls it.

    Numba keeps it beside the machine code of every caller and calls it first of all.
    """

    def __init__(self, module: str, name: str, signature: tuple[Any, ...]) -> None:
        self.key = (module, name, signature)

    def __call__(self) -> None:
        module, name, signature = self.key
        getattr(importlib.import_module(module), name).compile(signature)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loader) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class _Shared(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """Machine code that its callers find by its name: they get nothing of it to compile themselves."""

    def _get_module_for_linking(self) -> Any:
        library: Any = self
        library._ensure_finalized()
        if self._shared_module is None:
            from llvmlite.binding import parse_assembly

            self._shared_module = parse_assembly(str(self._codegen._create_empty_module(self.name)))
        return self._shared_module


class _Nowhere:
    """Code generation as a library needs it whose code never gets an address."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: object) -> None:
        """Numba keeps the objects of a function that talks to Python here; no kernel does."""


class _Inlined(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
    """Code for its callers alone, which gets no address."""

    @property
    def codegen(self) -> Any:
        return _Nowhere(self._codegen)

    def _optimize_final_module(self) -> None:
        """Left to the callers, who have to do it anyway."""

    def _finalize_final_module(self) -> None:
        library: Any = self
        library._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


class _Compiler(Compiler):  # type: ignore[misc, unused-ignore]
    library: type

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        # Numba numbers functions in the order of their compilation, so that names differ between processes
        from ._jit import sources_hash

        state.func_id.unique_id = sources_hash(state.func_id.modname.rpartition(".")[2])
        pipelines: Callable[[], Any] = super().define_pipelines
        return pipelines()


class InlineCompiler(_Compiler):
    """Compiles functions that are always inlined."""

    library = _Inlined


class SharedCompiler(_Compiler):
    """Compiles kernels for other kernels to call."""

    library = _Shared


class Kernel(CPUDispatcher):  # type: ignore[misc, unused-ignore]
    """A kernel as other kernels call it; where Python calls it, it is compiled for that too, at its first call."""

    entry: Any

    def __call__(self, *arguments: Any) -> Any:
        return self.entry(*arguments)

    def add_overload(self, result: Any) -> None:
        """As Numba does; callers are told what must be loaded before them: this kernel, and what it calls."""
        own = Loader(self.py_func.__module__, self.py_func.__qualname__, tuple(result.signature.args))
        result.library._reload_init.update(result.reload_init, [own])
        add: Callable[[Any], None] = super().add_overload
        add(result)
