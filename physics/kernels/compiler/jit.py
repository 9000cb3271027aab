"""The one switch between jitted and plain Python: every kernel is decorated here and runs both ways.

Unjitted when numba is not installed, when ``NUMBA_DISABLE_JIT=1`` or ``CONDYLE_JIT=0``: the same source, slower.
Compiled code is kept in a folder whose name carries a hash of the module's source and of all that it imports from here,
because Numba's own cache does not notice an edited callee in another module; where no folder can be written the kernels
compile anew in each process.
"""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from ..layout import MUSCLE_BITS
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
        # compiled code names the modules of its types, and the package has another name in the compute process
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
# Those before have other insides, and with them every kernel is compiled by itself, which takes 30 times as long.
OLDEST_LINKED = (0, 61)
VERSION: tuple[int, int] = tuple(numba.version_info.short) if JITTED else (0, 0)
CACHE_BASE: Path | None = _cache_base() if JITTED else None


def _options() -> dict[str, Any]:
    """Options of every kernel.

    A product and the sum behind it may be one operation that rounds once ("contract"); nothing else of fast-math, which
    would take sums apart in another order and believe that all numbers are finite. Kernels allocate nothing, so Numba's
    reference counts of their arrays only cost: two atomic operations for each array at each call. The switch for them
    is not a public one, so it is looked for.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
    from numba.core.options import DefaultOptions

    if hasattr(DefaultOptions, "_nrt"):
        options["_nrt"] = False
    return options


def _linking() -> Any:
    """The classes that put kernels together; None where Numba does not have what they stand on."""
    # what is loaded from the cache has no runtime of Numba's behind it, which its own option alone leaves out
    if VERSION < OLDEST_LINKED or "_nrt" not in _options():
        return None
    try:
        from . import linking
    except (ImportError, AttributeError):
        return None
    return linking


LINKING: Any = _linking() if JITTED else None


def _in_folder(kind: str, function: Kernel, make: Callable[[Kernel], Any]) -> Any:
    """make(function), with a folder of its own for what it keeps."""
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
    # it lies where the kernel does: Numba's cache asks for a file and a line
    code = "\n" * (function.__code__.co_firstlineno - 1) + f"def entry({names}): return kernel({names})"
    scope = {"kernel": kernel, "__name__": function.__module__}
    exec(compile(code, function.__code__.co_filename, "exec"), scope)
    calling: Any = scope["entry"]
    calling.__name__, calling.__qualname__ = function.__name__, function.__qualname__
    return calling


def _entry_of(kernel: Any) -> Any:
    """The function that Python calls: of an entry the kernel itself, of a shared kernel a wrapper that calls it."""
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
    """Compile a function that calls kernels and lies elsewhere, for Python to call; nothing of it is kept."""
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


def _of_muscles(types: Any) -> bool:
    """Whether a model's arrays, the first argument, are of the types of one with muscles (see `layout`)."""
    return bool(types[0].types[2].dtype.bitwidth == MUSCLE_BITS)


def for_muscles(result: Any = None) -> Callable[[Kernel], Kernel]:
    """As `shared`, for a kernel that takes a model's arrays first and has work to do only where the model has muscles.

    For other models its callers get a kernel that returns ``result`` at once, and what this one calls is not compiled.
    """

    def decorate(function: Kernel) -> Kernel:
        kernel: Any = shared(function)
        if LINKING is not None:
            names = ", ".join(inspect.signature(function).parameters)
            scope: dict[str, Any] = {"__name__": function.__module__}
            exec(f"def without_{function.__name__}({names}): return {result!r}", scope)
            kernel.instead = inline(scope[f"without_{function.__name__}"])
            kernel.wanted = _of_muscles
        return cast(Kernel, kernel)

    return decorate


def inline(function: Kernel) -> Kernel:
    """As `shared`, and LLVM must inline it: an array costs seven words at every call that remains one.

    Only kernels can call it: it has no wrapper for Python or C, and no place in the cache.
    """
    if numba is None:
        return function
    options = _callee_options() | {"forceinline": True}
    if LINKING is None:
        return cast(Kernel, numba.jit(**options)(function))
    return cast(Kernel, LINKING.Inline(function, {}, options, LINKING.InlineCompiler))


def lanewise(function: Kernel) -> Kernel:
    """An operation of `lanes`; compiled, it is written in LLVM's own words."""
    if numba is None:
        return function
    from .vectors import operation

    return cast(Kernel, operation(function))
