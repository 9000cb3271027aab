"""Runs every operator that has a recipe, each in a freshly opened file, in a process of its own that has the add-on
registered; for what the add-on could leave behind afterwards.
"""

import importlib
from pathlib import Path

import bpy

from . import conftest, undo_stage


def run_all(package: str, folder: Path) -> list[str]:
    """Names of the operators that ran and could be undone.

    Args:
        package: name of the add-on's.
        folder: where the file goes in which they run.
    """

    def part(name: str):
        return importlib.import_module(f"{package}.{name}")

    path, done = folder / "stage.blend", []
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    undo_stage.build(part, bpy.context.scene, conftest)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    for name, prepare in undo_stage.RECIPES.items():
        bpy.ops.wm.open_mainfile(filepath=str(path))
        options = prepare()
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
            bpy.ops.ed.undo_push(message="before")
            outcome = getattr(bpy.ops.condyle, name)("EXEC_DEFAULT", True, **options)
            undone = bpy.ops.ed.undo()
        done += [name] * (outcome == undone == {"FINISHED"})
    return done
