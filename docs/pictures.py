"""Make the pictures of these pages anew, by walking through a Blender with a window.

    python3 docs/pictures.py --blender /path/to/blender [--zip ZIP] [--out FOLDER]

Any Blender from 4.2 on. Without a zip the one without wheels is built first. Where there is no display, Xvfb gives one
and ImageMagick takes the pictures (Debian's packages xvfb, imagemagick). Blender's own settings are left alone: the
walk has a fresh profile. It checks itself as it goes, prints how long things took, and ends with exit code 1 where
something is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SIZE = (1280, 860)  # pixels of the window
LIMIT = 3600  # seconds for the whole walk
DISPLAY = ":93"


def main() -> int:
    """Outside Blender: start one on this file, and wait."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blender", required=True, help="Blender's program")
    parser.add_argument("--zip", type=Path, help="the extension; built where not given")
    parser.add_argument("--out", type=Path, default=HERE / "pictures", help="folder for the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="condyle-pictures-") as folder:
        archive = options.zip.resolve() if options.zip else built(Path(folder))
        screen, environment = display({**os.environ, "BLENDER_USER_RESOURCES": f"{folder}/user"})
        command = [options.blender, "--factory-startup", "-p", "0", "0", *map(str, SIZE)]
        command += ["--python-exit-code", "3", "--python", str(HERE / "walk.py"), "--"]
        command += [str(archive), str(options.out.resolve()), folder]
        try:
            subprocess.run(command, env=environment, timeout=LIMIT)
        finally:
            if screen is not None:
                screen.terminate()
                screen.wait()
        facts = Path(folder) / "facts.json"
        if not facts.exists():
            print("pictures: the walk did not come to its end, see above", file=sys.stderr)
            return 1
        for name, value in json.loads(facts.read_text("utf-8")).items():
            print(f"{name:32} {value}")
    return 0


def built(folder: Path) -> Path:
    """The zip without wheels, built into a folder."""
    build = [sys.executable, str(ROOT / "build.py"), "extension", "--no-wheels", "--out", str(folder)]
    subprocess.run(build, check=True)
    (archive,) = folder.glob("*.zip")
    return archive


def display(environment: dict[str, str]) -> tuple[subprocess.Popen[bytes] | None, dict[str, str]]:
    """A virtual screen where a Linux has no display; and the environment for Blender."""
    if (
        not sys.platform.startswith("linux")
        or environment.get("DISPLAY")
        or environment.get("WAYLAND_DISPLAY")
    ):
        return None, environment
    program = shutil.which("Xvfb")
    if program is None or shutil.which("import") is None:
        raise SystemExit(
            "pictures: there is no display, and no Xvfb and ImageMagick to do without (xvfb, imagemagick)"
        )
    screen = subprocess.Popen(
        [program, DISPLAY, "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "+extension", "GLX", "-nolisten", "tcp"]
    )
    virtual = {"DISPLAY": DISPLAY, "LIBGL_ALWAYS_SOFTWARE": "1", "CONDYLE_VIRTUAL_SCREEN": "1"}
    return screen, {**environment, **virtual}


if __name__ == "__main__":
    sys.exit(main())
