"""Every kernel compiled ahead, by several processes at once: ``python -m physics compile``.

Compiling is Numba's work, nearly all of it Python's, of which a process does one thing at a time. So each process takes
the stages in an order of its own, keeps what it compiles in the cache, and finds there what another one has compiled.
"""

from __future__ import annotations

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
    """Compile all kernels, or load them where they are in the cache; returns the seconds that it took.

    Args:
        processes: how many work at it; None: as many as there are processors, at most four.
        muscles: those of models with muscles, too.
        progress: told the fraction that is done, and the stage that comes next.

    Raises:
        ModelError: processes is less than 1; kernels run unjitted, or there is no folder to keep them in.
    """
    count = min(processors.available(), MOST_PROCESSES) if processes is None else processes
    if count < 1:
        raise ModelError(f"processes must be at least 1, got {count}")
    if not jit.JITTED:
        raise ModelError("there is nothing to compile: kernels run as plain Python here (see CONDYLE_JIT)")
    if jit.CACHE_BASE is None:
        raise ModelError(
            "compiled kernels cannot be kept: no folder for them can be written (CONDYLE_CACHE_DIR)"
        )
    began = time.perf_counter()
    helpers = [_start(index, count, muscles) for index in range(1, count)]
    try:
        walk(order(0, count, muscles), progress)
    finally:  # what they are still at is compiled; files are put in place whole
        for helper in helpers:
            helper.kill()
            helper.wait()
    return time.perf_counter() - began


def order(index: int, count: int, muscles: bool) -> list[str]:
    """Names of the stages as process `index` of `count` takes them: far from where the others begin."""
    names = [name for name in STAGES if muscles or not name.endswith(WITH_MUSCLES)]
    begin = index // 2 * 2 * len(names) // count
    names = names[begin:] + names[:begin]
    return names[::-1] if index % 2 else names


def walk(names: list[str], progress: Callable[[float, str], None] | None = None) -> None:
    """Compile stages one after the other."""
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
