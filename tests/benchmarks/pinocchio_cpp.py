"""Pinocchio's own C++ loop (`pinocchio_rollout.cpp`), compiled once against the `pin` wheel.

The wheel has Pinocchio's and Boost's headers. Eigen's come from the system, from the package `cmeel-eigen`, or from
EIGEN3_INCLUDE_DIR. Without a compiler or a header there is no library, and the Python loop is used instead.
"""

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from physics._typing import FloatArray

from .timing import Contestant

SOURCE = Path(__file__).parent / "pinocchio_rollout.cpp"
# As in Pinocchio's CMake configuration, with the optimization of its releases.
FLAGS = (
    "-std=c++17",
    "-O3",
    "-DNDEBUG",
    "-shared",
    "-fPIC",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
)


def prefix() -> Path | None:
    """Folder of the wheel's headers and libraries; None if Pinocchio is not installed from its wheel."""
    found = importlib.util.find_spec("pinocchio")
    if found is None or found.origin is None:
        return None
    for parent in Path(found.origin).parents:
        for folder in (parent, parent / "cmeel.prefix"):
            if (folder / "include" / "pinocchio").is_dir():
                return folder
    return None


def eigen(folder: Path) -> Path | None:
    """Folder of Eigen's headers."""
    named = os.environ.get("EIGEN3_INCLUDE_DIR")
    places = [Path(named)] if named else []
    places += [folder / "include" / "eigen3", Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3")]
    return next((place for place in places if (place / "Eigen" / "Core").is_file()), None)


@cache
def library() -> tuple[Any, str]:
    """The compiled loop, or None and the reason. Compiling takes a minute; the result is cached."""
    folder, compiler = prefix(), shutil.which("g++") or shutil.which("clang++")
    if folder is None:
        return None, "the headers of Pinocchio's wheel are missing"
    if compiler is None:
        return None, "there is no C++ compiler"
    headers = eigen(folder)
    if headers is None:
        return None, "Eigen's headers are missing (package cmeel-eigen, or EIGEN3_INCLUDE_DIR)"
    key = hashlib.sha256(SOURCE.read_bytes() + repr((FLAGS, compiler, folder, headers)).encode()).hexdigest()[
        :16
    ]
    target = Path(tempfile.gettempdir()) / f"condyle-bench-{os.getuid()}" / f"pinocchio-{key}.so"
    if not target.is_file():
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = target.with_suffix(f".{os.getpid()}")
        places = [
            f"-I{folder / 'include'}",
            f"-I{headers}",
            f"-L{folder / 'lib'}",
            f"-Wl,-rpath,{folder / 'lib'}",
        ]
        command = [compiler, *FLAGS, *places, str(SOURCE), "-lpinocchio_default", "-o", str(unfinished)]
        made = subprocess.run(command, check=False, capture_output=True, text=True)
        if made.returncode != 0:
            first = next((line for line in made.stderr.splitlines() if "error" in line), "no message")
            return None, f"the compiler reports: {first}"
        os.replace(unfinished, target)
    loaded = ctypes.CDLL(str(target))
    loaded.tree_new.restype = ctypes.c_void_p
    return loaded, f"compiled by {Path(compiler).name} {FLAGS[1]}"


def address(values: Any, kind: Any = np.float64) -> tuple[Any, Any]:
    """Values as an array, and a pointer to them."""
    array = np.ascontiguousarray(values, dtype=kind)
    return array, ctypes.c_void_p(array.ctypes.data)


class CppTree:
    """A tree of hinges, each at its body's origin, in Pinocchio's C++."""

    def __init__(self, bodies: list[dict[str, Any]], parents: list[int], axes: FloatArray) -> None:
        self.library, _ = library()
        self.size = len(bodies)
        columns = [
            address(parents, np.intc),
            address(axes),
            address([body["joint_in_parent"][:3, 3] for body in bodies]),
            address([body["mass"] for body in bodies]),
            address([body["com"] for body in bodies]),
            address([body["inertia"] for body in bodies]),
        ]
        self.tree = ctypes.c_void_p(self.library.tree_new(self.size, *(pointer for _, pointer in columns)))

    def accelerations(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forward dynamics without forces (n,)."""
        result = np.zeros(self.size)
        kept = [address(q), address(v), (result, ctypes.c_void_p(result.ctypes.data))]
        self.library.tree_accelerations(self.tree, *(pointer for _, pointer in kept))
        return result

    def contestant(self, start: FloatArray, step: float) -> Contestant:
        """Rollout by symplectic Euler from rest."""

        def run(steps: int) -> FloatArray:
            q, q_pointer = address(start.copy())
            _v, v_pointer = address(np.zeros(self.size))
            self.library.tree_rollout(self.tree, steps, ctypes.c_double(step), q_pointer, v_pointer)
            return np.asarray(q)

        return Contestant("Pinocchio C++", run)
