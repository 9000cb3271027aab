"""One thread for BLAS while a fit runs, or modes of a surface are found (`soft.surface_packing`).

Its products are small, and OpenBLAS's idle threads wait actively: beside other work a fit of a surface takes 7 to 20
times as long with them. Compute processes have an environment variable for it (`worker.client`); any other process is
told here, through the libraries that wheels of NumPy and SciPy bring along. Where these use another BLAS, nothing is
changed.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Switch = tuple[Callable[[], int], Callable[[int], None]]

_LOCK = threading.Lock()
_BEFORE: list[int] = []  # threads of each library before the first of the fits that run now
_RUNNING = [0]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Products and factors of NumPy and SciPy use one thread within; the number from before counts again at the end of
    the last of several at once.
    """
    with _LOCK:
        if not _RUNNING[0]:
            _BEFORE[:] = [get() for get, _ in _switches()]
            for _, put in _switches():
                put(1)
        _RUNNING[0] += 1
    try:
        yield
    finally:
        with _LOCK:
            _RUNNING[0] -= 1
            if not _RUNNING[0]:
                for (_, put), count in zip(_switches(), _BEFORE, strict=True):
                    put(count)


@cache
def _switches() -> list[Switch]:
    """Functions that get and set the number of threads, of each OpenBLAS beside NumPy and SciPy."""
    found = []
    for package in ("numpy", "scipy"):
        spec = find_spec(package)  # SciPy is not imported before it is needed
        if spec is not None and spec.origin:
            home = Path(spec.origin).parent
            for folder in (home.parent / f"{package}.libs", home / ".dylibs"):
                found += [switch for path in sorted(folder.glob("*openblas*")) for switch in _switch_of(path)]
    return found


def _switch_of(path: Path) -> list[Switch]:
    try:
        library: Any = ctypes.CDLL(str(path))
    except OSError:
        return []
    for prefix in ("scipy_openblas", "openblas"):
        for suffix in ("64_", ""):
            get, put = (getattr(library, f"{prefix}_{do}_num_threads{suffix}", None) for do in ("get", "set"))
            if get is not None and put is not None:
                return [(get, put)]
    return []
