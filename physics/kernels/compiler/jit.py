"""The one switch between jitted and plain Python: every kernel is decorated here and runs both ways.

Unjitted if numba is not installed, with ``NUMBA_DISABLE_JIT=1`` or ``CONDYLE_JIT=0``: the same source, slower. Compiled
code is cached in a folder whose name contains a hash of the sources of the module and of all kernels that it imports,
because Numba's own cache does not notice an edited callee in another module. If no folder can be written, each process
compiles the kernels anew.
"""

import inspect
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from ..layout import COLLIDERS, FEEDBACK, MUSCLE_BITS, ONE_SIDED, RARE_BITS, SYSTEM_LOOPS
from .sources import CHECKED, module_name, sources_hash

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def _wanted() -> bool:
    return os.environ.get("CONDYLE_JIT", "1") != "0" and os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"


def _import_numba() -> Any:
    if not _wanted():
        return None
    try:
        import numba
    except ImportError:
        return None
    return numba


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def _cache_base() -> Path | None:
    """First writable folder among CONDYLE_CACHE_DIR, NUMBA_CACHE_DIR and the user's cache; None if there is none."""
    named = [os.environ.get("CONDYLE_CACHE_DIR"), os.environ.get("NUMBA_CACHE_DIR")]
    candidates = [Path(name) for name in named if name]
    if not candidates:
        try:
            candidates = [_user_cache() / "condyle"]
        except RuntimeError:  # no home folder at all
            return None
    for base in candidates:
        # compiled code contains the module names of its types, and the package has another name in the compute process
        base = base / f"kernels-{__name__.split('.')[0]}"
        try:
            base.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=base):
                return base
        except OSError:
            continue
    return None


numba = _import_numba()
JITTED: bool = numba is not None
# Earlier versions differ internally; Numba then compiles each kernel by itself, which takes 30 times as long.
OLDEST_LINKED = (0, 61)
VERSION: tuple[int, int] = tuple(numba.version_info.short) if JITTED else (0, 0)
CACHE_BASE: Path | None = _cache_base() if JITTED else None


def _options() -> dict[str, Any]:
    """Options of every kernel.

    A product and a sum may be contracted into one operation that rounds once ("contract"). Other fast-math is off: it
    would reorder sums and assume that all numbers are finite. Kernels allocate nothing, so Numba's reference counts of
    arrays are useless, and cost two atomic operations per array and call. Their switch is not public, so its presence
    is tested.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
    from numba.core.options import DefaultOptions

    if hasattr(DefaultOptions, "_nrt"):
        options["_nrt"] = False
    return options


def _linking() -> Any:
    """The module with our compiler classes; None if this Numba lacks the classes that they derive from."""
    # code from the cache runs without Numba's runtime, which only this option leaves out
    if VERSION < OLDEST_LINKED or "_nrt" not in _options():
        return None
    try:
        from . import linking
    except (ImportError, AttributeError):
        return None
    return linking


LINKING: Any = _linking() if JITTED else None


def _in_folder(kind: str, function: Kernel, make: Callable[[Kernel], Any]) -> Any:
    """make(function), with a separate cache folder."""
    previous = numba.config.CACHE_DIR
    if CACHE_BASE is not None:
        module = module_name(function.__module__)
        numba.config.CACHE_DIR = str(
            CACHE_BASE / f"{module}-{sources_hash(module)}-{kind}{'-checked' * CHECKED}"
        )
    try:
        return make(function)
    finally:
        numba.config.CACHE_DIR = previous


def _entry(function: Kernel) -> Any:
    options = _options()
    if LINKING is not None:
        options["pipeline_class"] = LINKING.EntryCompiler
    compiled = numba.njit(cache=CACHE_BASE is not None, no_cfunc_wrapper=True, **options)(function)
    return compiled if LINKING is None or CACHE_BASE is None else LINKING.keeping.forgive(compiled)


def _calling(kernel: Any) -> Any:
    """A function for Python that calls a kernel."""
    function = kernel.py_func
    names = ", ".join(inspect.signature(function).parameters)
    # it has the file and line of the kernel, which Numba's cache needs
    code = "\n" * (function.__code__.co_firstlineno - 1) + f"def entry({names}): return kernel({names})"
    scope = {"kernel": kernel, "__name__": function.__module__}
    exec(compile(code, function.__code__.co_filename, "exec"), scope)
    calling: Any = scope["entry"]
    calling.__name__, calling.__qualname__ = function.__name__, function.__qualname__
    return calling


def _entry_of(kernel: Any) -> Any:
    """The function that Python calls: the kernel itself for an entry, a wrapper that calls it for a shared kernel."""
    function = kernel.py_func if kernel.only_python else _calling(kernel)
    return _in_folder("entry", function, _entry)


def _callee_options() -> dict[str, Any]:
    return {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True} | _options()


def _shared(function: Kernel) -> Any:
    kernel = LINKING.Kernel(function, {}, _callee_options(), LINKING.SharedCompiler)
    if CACHE_BASE is not None:
        kernel.enable_caching()
        LINKING.keeping.forgive(kernel)
    kernel.make_entry = _entry_of
    return kernel


def compiled(function: Kernel) -> Kernel:
    """Compile a function outside of this package that calls kernels, for Python to call; it is not cached."""
    if numba is None:
        return function
    pipeline = {} if LINKING is None else {"pipeline_class": LINKING.EntryCompiler}
    return cast(Kernel, numba.njit(no_cfunc_wrapper=True, **_options(), **pipeline)(function))


def shared(function: Kernel) -> Kernel:
    """A kernel for kernels and Python to call: compiled lazily and once, without the interpreter lock."""
    if numba is None:
        return function
    if LINKING is None:
        return cast(Kernel, _in_folder("entry", function, _entry))
    return cast(Kernel, _in_folder("shared", function, _shared))


def entry(function: Kernel) -> Kernel:
    """A kernel for Python alone to call: compiled as `shared` does, without a wrapper. Kernels may not call it."""
    kernel: Any = shared(function)
    if LINKING is not None:
        kernel.only_python = True
    return cast(Kernel, kernel)


def _of_colliders(types: Any) -> bool:
    """Whether the second argument, a model's contacts, has an entry for colliders."""
    return len(types[1].types) > COLLIDERS


def _of_one_sided(types: Any) -> bool:
    """Whether the second argument, a model's contacts, is of a model with more than equalities."""
    return len(types[1].types) > ONE_SIDED


def _of_loops(types: Any) -> bool:
    """Whether the first argument, a system of rows, has an entry for local loops."""
    return len(types[0].types) > SYSTEM_LOOPS


def _of_feedback(types: Any) -> bool:
    """Whether the first argument, tables of generalized forces, has an entry for feedback laws."""
    return len(types[0].types) > FEEDBACK


def _instead(function: Callable[..., Any], result: Any) -> Any:
    """A function with the same arguments that returns ``result`` at once."""
    names = ", ".join(inspect.signature(function).parameters)
    scope: dict[str, Any] = {"__name__": function.__module__}
    exec(f"def without_{function.__name__}({names}): return {result!r}", scope)
    return scope[f"without_{function.__name__}"]


def for_muscles(result: Any = None, bits: int = MUSCLE_BITS) -> Callable[[Kernel], Kernel]:
    """As `shared`, for a kernel that takes a model's arrays first and does work only for models with muscles: where
    block_int has so many bits or fewer (see `layout`).

    For other models its callers get a kernel that returns ``result`` at once, and its callees are not compiled.
    """
    return _only_for(lambda types: bool(types[0].types[2].dtype.bitwidth <= bits), result)


def for_rare_forces(result: Any = None, bits: int = RARE_BITS) -> Callable[[Kernel], Kernel]:
    """As `for_muscles`, for a kernel that takes body_int first and does work only for models with rare elements: where
    that has so many bits or fewer (see `layout`).
    """
    return _only_for(lambda types: bool(types[0].dtype.bitwidth <= bits), result)


def _only_for(wanted: Callable[[Any], bool], result: Any) -> Callable[[Kernel], Kernel]:
    def decorate(function: Kernel) -> Kernel:
        kernel: Any = shared(function)
        if LINKING is not None:
            kernel.instead = inline(_instead(function, result))
            kernel.wanted = wanted
        return cast(Kernel, kernel)

    return decorate


def for_colliders(function: Kernel) -> Kernel:
    """As `shared`, for a kernel that takes a model's arrays and its contacts first and works for models with colliders.

    For other models its callers get a kernel that returns 0 at once, and its callees are not compiled.
    """
    return _by_entry(_of_colliders, 0, function)


def for_one_sided(result: Any) -> Callable[[Kernel], Kernel]:
    """As `for_colliders`, for a kernel of models with one-sided constraints, hard limits or contacts; the callers of
    others get ``result``.
    """
    return lambda function: _by_entry(_of_one_sided, result, function)


def for_loops(function: Kernel) -> Kernel:
    """As `for_colliders`, for a kernel that takes a system of rows first and works for models with local loops."""
    return _by_entry(_of_loops, False, function)


def for_feedback(function: Kernel) -> Kernel:
    """As `for_colliders`, for a kernel that takes tables first, returns nothing, and works for models with feedback."""
    return _by_entry(_of_feedback, None, function)


def _by_entry(wanted: Callable[[Any], bool], result: Any, function: Kernel) -> Kernel:
    """As `_only_for`; without linking Numba chooses by the types, too, because tuples differ in length."""
    if numba is not None and LINKING is None:
        from numba.extending import overload

        without = _instead(function, result)
        overload(function, strict=False)(lambda *types: function if wanted(types) else without)
        return function
    return _only_for(wanted, result)(function)


def inline(function: Kernel) -> Kernel:
    """As `shared`, and LLVM must inline it: otherwise an array costs seven words at every call.

    Only kernels can call it: it has no wrapper for Python or C, and is not cached.
    """
    if numba is None:
        return function
    options = _callee_options() | {"forceinline": True}
    if LINKING is None:
        return cast(Kernel, numba.jit(**options)(function))
    return cast(Kernel, LINKING.Inline(function, {}, options, LINKING.InlineCompiler))


def lanewise(function: Kernel) -> Kernel:
    """An operation of `lanes`, which is compiled to LLVM vector instructions."""
    if numba is None:
        return function
    from .vectors import operation

    return cast(Kernel, operation(function))


def worldwise(function: Kernel) -> Kernel:
    """An operation of `algebra.worlds`, which is compiled to LLVM vector instructions."""
    if numba is None:
        return function
    from .worlds import worlds_operation

    return cast(Kernel, worlds_operation(function))
