"""Compiles every kernel ahead, in several processes at once: ``python -m physics compile``.

Numba compiles mostly in Python, one function at a time in a process. So each process takes the stages in a different
order, stores its results in the cache, and finds there those of the others.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import processors
from .errors import ModelError
from .kernels.compiler import jit
from .worker.stage_names import WITH_MUSCLES
from .worker.stages import STAGES

MOST_PROCESSES = 4
CHILD = "import {package}.compiling as c; c.walk(c.order({index}, {count}, {muscles}))"


def compile_ahead(
    processes: int | None = None, muscles: bool = True, progress: Callable[[float, str], None] | None = None
) -> float:
    """Compile all kernels, or load those in the cache; returns the seconds that it took.

    Args:
        processes: number of processes; None: that of processors, at most four.
        muscles: also the kernels of models with muscles.
        progress: called with the completed fraction and the next stage.

    Raises:
        ModelError: processes is less than 1; kernels run unjitted, or there is no folder for the cache.
    """
    count = min(processors.available(), MOST_PROCESSES) if processes is None else processes
    if count < 1:
        raise ModelError(f"processes must be at least 1, got {count}")
    if not jit.JITTED:
        raise ModelError("there is nothing to compile: kernels run as plain Python here (see CONDYLE_JIT)")
    if jit.CACHE_BASE is None:
        raise ModelError("compiled kernels cannot be stored: no folder is writable (set CONDYLE_CACHE_DIR)")
    began = time.perf_counter()
    helpers = [_start(index, count, muscles) for index in range(1, count)]
    try:
        walk(order(0, count, muscles), progress)
    finally:  # stages still in work are compiled already; files are written atomically
        for helper in helpers:
            helper.kill()
            helper.wait()
    return time.perf_counter() - began


def order(index: int, count: int, muscles: bool) -> list[str]:
    """Names of the stages in the order of process `index` of `count`; it begins far from where the others begin."""
    names = [name for name in STAGES if muscles or not name.endswith(WITH_MUSCLES)]
    begin = index // 2 * 2 * len(names) // count
    names = names[begin:] + names[:begin]
    return names[::-1] if index % 2 else names


def walk(names: list[str], progress: Callable[[float, str], None] | None = None) -> None:
    """Compile stages in order."""
    for done, name in enumerate(names):
        if progress is not None:
            progress(done / len(names), name)
        STAGES[name]()


def _start(index: int, count: int, muscles: bool) -> subprocess.Popen[bytes]:
    package = __package__ or ""
    folder = str(Path(__file__).parents[package.count(".") + 1])
    paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "CONDYLE_CACHE_DIR": str(jit.CACHE_BASE.parent if jit.CACHE_BASE else ""),
    }
    program = CHILD.format(package=package, index=index, count=count, muscles=muscles)
    return subprocess.Popen([sys.executable, "-c", program], env=environment)
