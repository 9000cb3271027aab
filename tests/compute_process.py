"""The script of the compute process, for a checkout: there the package has the name that it has in the tests.

The cache of kernels belongs to a name, so under its own the process would compile all that the tests compiled.
`python -m tests.compute_process MODULE [arguments]` runs a module whose compute processes are of this kind.
"""

import functools
import importlib.util
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "physics" / "worker" / "main.py"


def share_kernels() -> None:
    """Let this process start such compute processes."""
    from physics.worker import client

    own = client.worker_command

    @functools.wraps(own)
    def worker_command(python: str | None = None, paths: Sequence[str] | None = None) -> list[str]:
        words = own(python, paths)
        assert words.count(str(PROGRAM)) == 1, words
        return [__file__ if word == str(PROGRAM) else word for word in words]

    client.worker_command = worker_command


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] != "--path":
        share_kernels()
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    spec = importlib.util.spec_from_file_location("compute_process", PROGRAM)
    assert spec is not None and spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    program.PACKAGE_NAME = "physics"
    program.load_package.__defaults__ = ("physics",)
    program.main()


if __name__ == "__main__":
    main()
