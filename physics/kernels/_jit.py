"""The one switch between jitted and plain Python: every kernel is decorated with `jit` and runs both ways.

Unjitted when numba is not installed, when ``NUMBA_DISABLE_JIT=1`` or ``CONDYLE_JIT=0``: the same source, slower.
Compiled code is kept in a folder whose name carries a hash of the module's source and of all that it imports from here,
because Numba's own cache does not notice an edited callee in another module; where no folder can be written the kernels
compile anew in each process.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from .muscle_layout import MUSCLE_BITS

FOLDER = Path(__file__).parent
#: whether kernels end the process where they would read or write outside of an array
CHECKED = os.environ.get("CONDYLE_CHECKED", "0") == "1"
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


@cache
def _source(module: str) -> tuple[str, frozenset[str]]:
    """Hash of the source of a module of this folder, and the modules that it imports from here."""
    source = (FOLDER / f"{module}.py").read_bytes()
    names = re.findall(rb"^ *from \.(\w+) import", source, re.MULTILINE)  # in functions, too
    return hashlib.sha256(source).hexdigest(), frozenset(name.decode() for name in names)


@cache
def _imported(module: str) -> frozenset[str]:
    """A module of this folder and all those that it imports from here, on the way or itself."""
    found = {module, "_linking"}
    waiting = list(found)
    while waiting:
        new = _source(waiting.pop())[1] - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def sources_hash(module: str) -> str:
    """Hash of the source of a module of this folder and of all that it imports from here, 16 hexadecimal digits."""
    parts = sorted((name, _source(name)[0]) for name in _imported(module))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


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
        from . import _linking as linking
    except (ImportError, AttributeError):
        return None
    return linking


LINKING: Any = _linking() if JITTED else None


def _in_folder(kind: str, function: Kernel, make: Callable[[Kernel], Any]) -> Any:
    """make(function), with a folder of its own for what it keeps."""
    previous = numba.config.CACHE_DIR
    if CACHE_BASE is not None:
        module = Path(function.__code__.co_filename).stem
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
    return compiled if LINKING is None or CACHE_BASE is None else LINKING.forgive(compiled)


@cache
def _mentions() -> Counter[str]:
    """How often each name stands before a bracket in this folder: once where it is defined."""
    texts = (path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py"))
    return Counter(name for text in texts for name in re.findall(r"\b(\w+)\(", text))


def _calling(kernel: Any) -> Any:
    """A function for Python that calls a kernel."""
    function = kernel.py_func
    names = ", ".join(inspect.signature(function).parameters)
    # it lies where the kernel does: Numba's cache asks for a file and a line
    code = "\n" * (function.__code__.co_firstlineno - 1) + f"def entry({names}): return kernel({names})"
    scope = {"kernel": kernel, "__name__": function.__module__}
    exec(compile(code, function.__code__.co_filename, "exec"), scope)
    entry: Any = scope["entry"]
    entry.__name__, entry.__qualname__ = function.__name__, function.__qualname__
    return entry


def _entry_of(kernel: Any) -> Any:
    """What Python calls: the kernel compiled for it, or where other kernels call it too, something that calls it."""
    function = kernel.py_func
    called = _mentions()[function.__name__] > 1
    return _in_folder("entry", _calling(kernel) if called else function, _entry)


def _callee_options() -> dict[str, Any]:
    return {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True} | _options()


def _shared(function: Kernel) -> Any:
    kernel = LINKING.Kernel(function, {}, _callee_options(), LINKING.SharedCompiler)
    if CACHE_BASE is not None:
        kernel.enable_caching()
        LINKING.forgive(kernel)
    kernel.make_entry = _entry_of
    return kernel


def compiled(function: Kernel) -> Kernel:
    """Compile a function that calls kernels and lies elsewhere, for Python to call; nothing of it is kept."""
    if numba is None:
        return function
    pipeline = {} if LINKING is None else {"pipeline_class": LINKING.EntryCompiler}
    return cast(Kernel, numba.njit(no_cfunc_wrapper=True, **_options(), **pipeline)(function))


def jit(function: Kernel) -> Kernel:
    """Compile a kernel lazily, one specialization, without the interpreter lock."""
    if numba is None:
        return function
    if LINKING is None:
        return cast(Kernel, _in_folder("entry", function, _entry))
    return cast(Kernel, _in_folder("shared", function, _shared))


def _of_muscles(types: Any) -> bool:
    """Whether a model's arrays, the first argument, are of the types of one with muscles (see `layout`)."""
    return bool(types[0].types[2].dtype.bitwidth == MUSCLE_BITS)


def for_muscles(result: Any = None) -> Callable[[Kernel], Kernel]:
    """As `jit`, for a kernel by the model's arrays that only models with muscles have something to do for: for others
    callers get one that returns the result at once, and what it calls is not compiled.
    """

    def decorate(function: Kernel) -> Kernel:
        kernel: Any = jit(function)
        if LINKING is not None:
            names = ", ".join(inspect.signature(function).parameters)
            scope: dict[str, Any] = {"__name__": function.__module__}
            exec(f"def without_{function.__name__}({names}): return {result!r}", scope)
            kernel.instead = inline(scope[f"without_{function.__name__}"])
            kernel.wanted = _of_muscles
        return cast(Kernel, kernel)

    return decorate


def inline(function: Kernel) -> Kernel:
    """As `jit`, and LLVM must inline it: an array costs seven words at every call that remains one.

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
    from ._lanes import operation

    return cast(Kernel, operation(function))
