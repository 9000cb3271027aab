"""Starts the compute process, with pipes and optionally at a lower priority than its parent."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

NICENESS = 10  # added to the nice value of a process at lower priority: in competition it gets a tenth of a processor


def start(
    command: Sequence[str], environment: Mapping[str, str], stands_back: bool
) -> subprocess.Popen[bytes]:
    """Start a process.

    stands_back: run at a lower priority than this process.

    Raises:
        OSError: the command cannot be run.
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
    """Lower the priority of a new process; its later threads inherit it."""
    try:
        own = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, pid, own + NICENESS)
    except OSError:
        return  # it has ended already, which its first job will report, or permission is missing: harmless
