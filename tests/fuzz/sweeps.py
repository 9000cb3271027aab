"""Runs what a sweep tries in a process of its own, which a huge allocation or a hang cannot take along.

`python -m tests.fuzz.sweeps NAME SEED SECONDS` prints one JSON line: how much was tried and refused in each group, the
faults, and the most time and memory. A fault is an undocumented exception, a traceback that Blender prints, or a try
that goes on beyond LONGEST or MOST_MEMORY. Each sweep is a module with a function `tries`.
"""

import contextlib
import faulthandler
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import physics as ph
from physics.io.limits import MEMORY_BYTES as MOST_MEMORY  # bytes that one try may add to the process

LONGEST = (
    60.0  # seconds of the processor for one try, the compilation of its kernels on a busy machine included
)

NAMES = ("files", "arguments", "mechanisms", "scenes", "undo")
UNJITTED = {"NUMBA_DISABLE_JIT": "1"}  # for short tries: who interrupts a compilation may end the process
ROOM = 6 << 30  # bytes of address space beyond which an allocation fails
HANG = 600  # seconds after which a sweep ends with a traceback
LONGEST_MESSAGE = 3000  # letters of an error


class Try(NamedTuple):
    """Something to try.

    Attributes:
        group: what it is counted with. said: how it differs from the others of its group.
        call: raises a documented error, or returns what is wrong, if anything.
        warm: it compiles kernels: neither its time nor its memory counts.
        patience: seconds after which it is interrupted as by Ctrl-C, which is no fault.
    """

    group: str
    said: str
    call: Callable[[], Any]
    warm: bool = False
    patience: float = np.inf


class Interrupted(BaseException):
    """The try took longer than its patience, and ended when it was asked to."""


@contextlib.contextmanager
def interrupted(patience: float) -> Iterator[None]:
    """Interrupts what takes too long: between two instructions of Python."""

    def stop(*_: Any) -> None:
        raise Interrupted

    if not hasattr(signal, "SIGALRM") or patience == np.inf:  # Windows
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def memory() -> int:
    """Largest memory of the process so far [bytes]; 0 where nobody tells."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def fault(each: Try) -> tuple[bool, str]:
    """Whether a documented error was raised; and what is wrong."""
    printed = io.StringIO()
    try:
        with interrupted(each.patience), contextlib.redirect_stderr(printed):
            wrong = each.call() or ""
    except Interrupted:
        return False, ""
    except ph.CondyleError as error:
        wrong = "" if str(error) else f"{type(error).__name__} without a message"
        return True, wrong or ("an endless message" if len(str(error)) > LONGEST_MESSAGE else "")
    except Exception as error:
        frames = [each for each in traceback.extract_tb(error.__traceback__) if "tests" not in each.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        wrong = f"{type(error).__name__} at {place}: {error!s:.300}"
    return False, wrong or (printed.getvalue()[-2000:] if "Traceback" in printed.getvalue() else "")


def sweep(name: str, seed: int, seconds: float) -> dict[str, Any]:
    """The outcome of what one sweep tries; the time begins when kernels are compiled."""
    module = importlib.import_module(f"tests.fuzz.{name}")
    groups: dict[str, list[int]] = {}
    faults: list[str] = []
    outcome = {"sweep": name, "seed": seed, "tried": 0, "refused": 0, "faults": faults, "groups": groups}
    slowest, largest, ended = (0.0, ""), (0, ""), np.inf
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for each in module.tries(np.random.default_rng(seed), Path(folder)):
            ended = ended if each.warm or ended < np.inf else time.monotonic() + seconds
            if time.monotonic() > ended:
                break
            faulthandler.dump_traceback_later(HANG, exit=True, file=sys.__stderr__)
            held, began = memory(), time.process_time()
            refused, wrong = fault(each)
            spent, more = time.process_time() - began, memory() - held
            said = f"{each.group}: {each.said}"
            if not each.warm:
                slowest, largest = max(slowest, (spent, said)), max(largest, (more, said))
                outcome["tried"] += 1
                outcome["refused"] += refused
                counts = groups.setdefault(each.group, [0, 0])
                groups[each.group] = [counts[0] + 1, counts[1] + refused]
                if spent > LONGEST or more > MOST_MEMORY:
                    wrong = wrong or f"{spent:.1f} s, {more >> 20} MiB"
            if wrong:
                faults.append(f"{said}: {wrong}")
    faulthandler.cancel_dump_traceback_later()
    return outcome | {"slowest": slowest, "largest": largest}


@cache
def swept(name: str, seed: int, seconds: float) -> dict[str, Any]:
    """The outcome of a sweep in its own process; seed 0 is another one each time."""
    seed = seed or int.from_bytes(os.urandom(4), "big")
    print(f"{name}: seed {seed}")  # shown if the test fails
    command = [sys.executable, "-m", "tests.fuzz.sweeps", name, str(seed), str(seconds)]
    with tempfile.TemporaryDirectory(prefix="condyle-user-") as resources:
        done = subprocess.run(
            command,
            cwd=Path(__file__).parents[2],
            env=os.environ
            | {"BLENDER_USER_RESOURCES": resources}
            | ({} if name == "mechanisms" else UNJITTED),
            capture_output=True,
            text=True,
            timeout=seconds + 1200,
        )
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    print("\n" + json.dumps(sweep(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))), flush=True)
    os._exit(0)  # Blender 4.5 does not exit while classes are registered


if __name__ == "__main__":
    main()
