"""``python -m addon bake SCENE.blend --out OUT.blend`` and ``python -m addon batch JOBS.toml``: on the bpy wheel.

Inside Blender the installed extension adds the same as a command: ``blender --command condyle bake ...``.
"""

import os
import sys

from . import register, unregister
from .batch import command_line, console, shots


def run() -> int:
    """Import Blender as a module, register the add-on, run the command line."""
    try:
        # report wrong usage before Blender loads, which takes a second
        options = command_line.parser().parse_args()
    except SystemExit as end:
        return int(end.code or 0)
    try:
        # the children of a batch import Blender, it does only where it has to; and the bake of a shot needs none
        if options.command == "batch" or os.path.isdir(getattr(options, "input", "")):
            return command_line.main(sys.argv[1:], register=register)
        if options.command == "shots":
            shots.listen()
        with console.silenced():
            try:
                import bpy  # noqa: F401
            except ImportError as error:
                print(f"error: Blender as a Python module (bpy) is missing: {error}", file=sys.stderr)
                return 1
            register()
        try:
            return command_line.main(sys.argv[1:])
        finally:
            unregister()
    except KeyboardInterrupt:  # before cli.main had taken over
        print("error: interrupted; nothing was written", file=sys.stderr)
        return 130


if __name__ == "__main__":
    code = run()
    sys.stdout.flush()
    sys.stderr.flush()
    # Blender 4.2 as a module crashes, and 4.5 hangs, when the interpreter takes down an add-on's callbacks
    os._exit(code)
