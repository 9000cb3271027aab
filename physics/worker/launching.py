"""How a compute process is started: talked to by pipes, and where it is wanted behind its parent in line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

NICENESS = 10  # added to the priority value of a process that stands back: where both want a processor it gets a tenth


def start(
    command: Sequence[str], environment: Mapping[str, str], stands_back: bool
) -> subprocess.Popen[bytes]:
    """Start a process.

    stands_back: it leaves the processor to its parent where both want it.

    Raises:
        OSError: the command is no program.
    """
    pipe = subprocess.PIPE
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW
        if stands_back:
            flags |= subprocess.BELOW_NORMAL_PRIORITY_CLASS
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, creationflags=flags
    )
    if stands_back and sys.platform != "win32":
        _step_back(process.pid)
    return process


def _step_back(pid: int) -> None:
    """Lower the priority of a process that has just begun; its threads, which come later, have the same."""
    try:
        own = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, pid, own + NICENESS)
    except OSError:
        return  # it has ended already, as its first job will tell, or may not be asked to: it works all the same
