"""The shared libraries that Blender's Python module needs on Linux; uses the standard library only, as build.py."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Shared library -> Debian's package. `import bpy` needs the first group, pictures and overlays the second.
LIBRARIES_TO_IMPORT = {
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libXext.so.6": "libxext6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libGL.so.1": "libgl1",
}
LIBRARIES_TO_DRAW = {
    "libEGL.so.1": "libegl1",
    "libEGL_mesa.so.0": "libegl-mesa0",
    "libGLX_mesa.so.0": "libglx-mesa0 libgl1-mesa-dri",
}


class SetupError(Exception):
    """The environment cannot be created."""


def say(message: str) -> None:
    print(f"build.py: {message}", file=sys.stderr, flush=True)


def missing_libraries() -> dict[str, str]:
    """Shared libraries of Blender that this Linux lacks, with their Debian packages."""
    missing = {}
    if sys.platform == "linux":
        for library, package in {**LIBRARIES_TO_IMPORT, **LIBRARIES_TO_DRAW}.items():
            try:
                ctypes.CDLL(library)
            except OSError:
                missing[library] = package
    return missing


def provide_libraries(missing: dict[str, str]) -> None:
    """Install the libraries that `import bpy` needs if we may; else name them."""
    packages = " ".join(missing.values()).split()
    if os.geteuid() == 0 and Path("/etc/debian_version").exists() and shutil.which("apt-get"):
        say(f"installing the shared libraries that Blender needs: {' '.join(packages)}")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
        for command in (["apt-get", "update", "-qq"], install):
            # both are quiet, and only the second decides: an old package list may suffice
            done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL)
        if done.returncode == 0:
            return
    message = (
        f"Blender's Python module needs shared libraries that are missing here: {', '.join(missing)}. "
        f"On Debian and Ubuntu: sudo apt-get install {' '.join(packages)}"
    )
    if any(library in LIBRARIES_TO_IMPORT for library in missing):
        raise SetupError(message)
    say(message + "\nOnly pictures need them: continuing without.")
