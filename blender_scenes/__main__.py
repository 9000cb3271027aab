"""``python -m blender_scenes [NAME ...] --out FOLDER``: build the scenes (all of them by default)."""

import argparse
import sys
import time
from pathlib import Path

from . import SCENES, SceneError, build
from .process import leave


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 all were built, 1 one failed, 2 usage."""
    parser = argparse.ArgumentParser(prog="python -m blender_scenes", description="build the scenes")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(SCENES)}")
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder to write into")
    parser.add_argument("--draft", action="store_true", help="coarse pictures, in less time")
    parser.add_argument("--film", action="store_true", help="with a film of each scene that has one")
    options = parser.parse_args(arguments)
    if options.draft:
        from .picture import take_drafts

        take_drafts()
    unknown = [name for name in options.names if name not in SCENES]
    if unknown:
        parser.error(f"no scene is called {unknown[0]}; there are: {', '.join(SCENES)}")
    options.out.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in options.names or SCENES:
        start = time.perf_counter()
        try:
            path = build(name, options.out, options.film)
        except SceneError as error:
            failed = True
            print(f"{name}: {error}", file=sys.stderr)
        else:
            print(f"{name}: {path} ({time.perf_counter() - start:.1f} s)")
    return int(failed)


if __name__ == "__main__":
    leave(main())
