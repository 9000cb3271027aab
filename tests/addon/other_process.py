"""Programs that run in a process of their own, and the answer that they print."""

import json
import os
import subprocess
import sys


def run(program, folder, check=True, **environment):
    """Run a Python program in a folder, with further environment variables; the completed process."""
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | environment,
        check=check,
    )


def answer(output):
    """The JSON that the program printed after "FOUND"."""
    lines = [line for line in output.stdout.splitlines() if line.startswith("FOUND")]
    assert lines, output.stdout + output.stderr
    return json.loads(lines[0].removeprefix("FOUND"))
