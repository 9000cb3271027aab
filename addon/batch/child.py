"""A child process of a batch: runs the command ``bake`` on one shot after another.

The standard input of a child is a pipe (``shots.listen``), from which it takes the arguments of each shot: when the
parent closes it or dies, the child exits at once. A child writes only a temporary file, which the parent then moves
into place.
"""

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
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
        code: the shot's exit code; if negative, minus the number of the signal that ended the process.
        ended: whether the shot is over, and the process waits for the next one.
        scenes: facts about each baked scene. warnings, errors: one line each. codes: of the warnings.
        empty: its file has nothing to simulate.
        blender: version of its Blender. libraries: linked files, with their hashes when the child read them.
        lines: the last lines of its other output.
    """

    code: int = 0
    ended: bool = False
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
        elif kind == "ended":
            self.code, self.ended = int(event["code"]), True
        elif kind == "progress":
            return float(event["fraction"])
        return None


class Child:
    """A process that bakes shots. ``bake`` blocks until a shot ends; ``end`` may be called from any thread.

    Attributes:
        baked: number of shots that it has ended.
    """

    def __init__(self) -> None:
        """Start it.

        Raises:
            OSError: the process cannot be started.
        """
        command, environment = _program()
        self.baked = 0
        self._process = subprocess.Popen(
            [*command, "shots"],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self._asks: Any = self._process.stdin
        self._says: Any = self._process.stdout

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def bake(self, shot: Shot, out: Path | None, progress: Callable[[float], None]) -> Told:
        """Let it bake a shot, or without ``out`` only check it, and read what it says until it is done or exits."""
        return self.follow(arguments(shot, out), progress)

    def follow(self, asked: list[str], progress: Callable[[float], None]) -> Told:
        """As `bake`, by the arguments of the command."""
        told = Told()
        with suppress(OSError):  # it has died: the end of its output says how
            self._asks.write(json.dumps(asked) + "\n")
            self._asks.flush()
        for line in self._says:
            fraction = told.take(line)
            if fraction is not None:
                progress(fraction)
            if told.ended:
                self.baked += 1
                return told
        told.code = self._process.wait()
        return told

    def end(self) -> None:
        """Kill it and its compute process."""
        self._process.kill()

    def close(self) -> None:
        """Let it exit, and wait for that; it has nothing to do any more."""
        with suppress(OSError):  # what it did not read is lost with it
            self._asks.close()
        self._says.close()
        self._process.wait()


def arguments(shot: Shot, out: Path | None) -> list[str]:
    line = ["bake", str(shot.source), "--log-json"]
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
