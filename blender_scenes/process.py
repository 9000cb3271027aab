"""The end of a script that works with Blender as a Python module."""

import os
import sys
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End the process at once: Blender 4.2 as a module crashes when it removes an add-on's callbacks."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
