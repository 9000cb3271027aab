"""Runs random operators one after the other, each with what it needs, and undoes and redoes them all."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from tests.addon.undo_stage import RECIPES
from tests.addon.undo_steps import chained
from tests.fuzz.scenes import staged
from tests.fuzz.sweeps import Try

STEPS = 6
NAMES = [name for name in RECIPES if name != "bake_unfinished"]  # it asserts that a whole scene diverges


def fault(path: Path, names: list[str]) -> str:
    """What an undo or redo does not bring back, twice: Blender itself loses a pointer now and then."""
    found: list[tuple[str, list[str]]] = []
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        found = chained([(name, RECIPES[name]) for name in names], strict=False)
        if not found:
            return ""
    return f"{found[:3]!r:.2000}"


def tries(rng: np.random.Generator, folder: Path) -> Iterator[Try]:
    path = staged(folder)
    while True:
        names = [str(name) for name in rng.choice(NAMES, STEPS)]
        yield Try("sessions", " ".join(names), partial(fault, path, names))
