"""One child process of a batch: runs the command ``bake`` on one shot.

The standard input of a child is a pipe (``command_line.end_with_stdin``): when the parent closes it or dies, the child
exits at once. A child writes only a temporary file, which the parent then moves into place.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..blender import physics_access
from . import settings_overrides
from .job_file import Shot
from .records import library_digest

LAST_LINES = 12  # last lines of a child's output to keep, to show if it crashes

#: program of a child if the package is an extension but Blender is a Python module
_ENABLE = """
import importlib, os, sys, bpy, addon_utils
addon_utils.enable({package!r})
code = importlib.import_module({package!r} + ".registration").run_command(sys.argv[1:])
sys.stdout.flush()
os._exit(code)
"""


@dataclass
class Told:
    """Output of a child.

    Attributes:
        code: its exit code; if negative, minus the number of the signal that ended it.
        scenes: facts about each baked scene. warnings, errors: one line each. codes: of the warnings.
        empty: its file has nothing to simulate.
        blender: version of its Blender. libraries: linked files, with their hashes when the child read them.
        lines: the last lines of its other output.
    """

    code: int = 0
    scenes: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    empty: bool = False
    blender: str = ""
    libraries: dict[str, str] = field(default_factory=dict)
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))

    def take(self, line: str) -> float | None:
        """Record a line of its output; returns the fraction of the work done, if the line reports it."""
        event = _event(line)
        if event is None:
            if line.strip():
                self.lines.append(line.rstrip())
            return None
        kind = event["event"]
        if kind == "opened":
            self.blender = str(event["blender"])
            self.libraries = {str(path): library_digest(path) for path in event["libraries"]}
        elif kind == "done":
            self.scenes.append({key: value for key, value in event.items() if key not in ("event", "name")})
        elif kind == "warning":
            self.warnings.append(str(event["text"]))
            self.codes.append(str(event.get("code", "")))
        elif kind == "error":
            self.errors.append(str(event["message"]))
            self.empty = self.empty or bool(event.get("empty"))
        elif kind == "progress":
            return float(event["fraction"])
        return None


class Child:
    """The process that bakes one shot. ``follow`` blocks until it exits; ``end`` may be called from any thread."""

    def __init__(self, shot: Shot, out: Path | None) -> None:
        """Start it; without ``out`` it only checks the shot.

        Raises:
            OSError: the process cannot be started.
        """
        command, environment = _program()
        self._process = subprocess.Popen(
            [*command, *arguments(shot, out)],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )

    def follow(self, progress: Callable[[float], None]) -> Told:
        """Read its output until it exits."""
        told = Told()
        # leaving the block closes its pipes and waits for it
        with self._process as process:
            for line in process.stdout or ():
                fraction = told.take(line)
                if fraction is not None:
                    progress(fraction)
            # its standard input stays open until it exits, since closing that ends it
            told.code = process.wait()
        return told

    def end(self) -> None:
        """Kill it and its compute process."""
        self._process.kill()


def arguments(shot: Shot, out: Path | None) -> list[str]:
    """The arguments of the command ``bake`` for a shot."""
    line = ["bake", str(shot.source), "--log-json", "--end-with-stdin"]
    line += ["--out", str(out)] if out is not None else ["--check"]
    line += ["--scene", shot.scene] if shot.scene is not None else []
    line += ["--frames", *map(str, shot.frames)] if shot.frames else []
    for override in settings_overrides.flatten(shot.settings):
        line += ["--set", f"{override.address}={settings_overrides.toml_value(override.value)}"]
    return line


def _program() -> tuple[list[str], dict[str, str]]:
    """Command that runs this add-on in another process, and the environment variables that it needs."""
    bpy = sys.modules.get("bpy")
    if bpy is not None and bpy.app.binary_path:  # empty if Blender is a Python module
        return [bpy.app.binary_path, "--background", "--command", "condyle"], {"PYTHONIOENCODING": "utf-8"}
    if physics_access.PACKAGE.startswith("bl_ext."):
        return [sys.executable, "-c", _ENABLE.format(package=physics_access.PACKAGE)], {"PYTHONUTF8": "1"}
    home = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    return [sys.executable, "-P", "-m", physics_access.PACKAGE], {"PYTHONPATH": paths, "PYTHONUTF8": "1"}


def _event(line: str) -> dict[str, Any] | None:
    """Event of a line of JSON; None for any other line."""
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None
