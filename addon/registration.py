"""Adds to Blender what the add-on has: what other classes need comes before them.

Property groups are found from the types of Blender that hold them (`roots`). Classes of the interface are all those of
the files of ``ui`` whose names end in ``operators`` or ``panels``. Handlers, timers and drawing are in ``attached`` of
these files and of `HANDLERS`.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from inspect import get_annotations
from types import ModuleType
from typing import Any

import bpy

from . import ui
from .batch import command_line
from .blender import compute_process, lazy, session
from .blender.attachments import Attachment
from .data import callbacks, live, property_options, roots
from .handlers import (
    control_frames,
    duplicates,
    file_load,
    library_overrides,
    live_run,
    staleness,
    targets,
    undone_findings,
)
from .jobs import operator
from .making import muscles, obstacles
from .posing import keep_sliders
from .sliders import sliders

#: in this order they are called
HANDLERS = (
    file_load,
    undone_findings,
    control_frames,
    targets,
    duplicates,
    library_overrides,
    live_run,
    staleness,
)
CALLBACKS = callbacks.Callbacks(
    joint_shape_changed=lambda scene, joint: keep_sliders.shape_changed(scene, joint),
    loop_closed=lambda scene, joint: sliders.set_driven(scene, joint, False),
    obstacle_changed=lambda item: obstacles.reshape(item),
    muscle_thickness_changed=lambda item: muscles.show_thickness(item),
    targets_followed=targets.follow_soon,
)


def _interface() -> list[ModuleType]:
    """The files of ui that hold classes."""
    names = [each.name for each in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}.")]
    return [importlib.import_module(name) for name in names if name.endswith(("operators", "panels"))]


def _defined(module: ModuleType) -> list[type]:
    """The classes of Blender's that a file defines, in their order."""
    if lazy.is_waiting(module):
        lazy.run(module)
    found = [each for each in vars(module).values() if isinstance(each, type)]
    return [
        each
        for each in found
        if each.__module__ == module.__name__ and issubclass(each, bpy.types.bpy_struct)
    ]


def _groups(group: type) -> Iterator[type]:
    """The property groups that a class points to."""
    for base in group.__mro__:
        for prop in get_annotations(base).values():
            kind = getattr(prop, "keywords", {}).get("type")
            if isinstance(kind, type) and issubclass(kind, bpy.types.PropertyGroup):
                yield kind


def in_order(classes: Iterable[type]) -> tuple[type, ...]:
    """Classes, each after the groups that it points to and the panel that it is part of."""
    given = list(classes)
    panels = {getattr(each, "bl_idname", ""): each for each in given}
    found: dict[type, None] = {}

    def add(each: type) -> None:
        parent = getattr(each, "bl_parent_id", None)
        for needed in (*_groups(each), *([panels[parent]] if parent else ())):
            add(needed)
        found[each] = None  # where it was already, it stays there

    for each in given:
        add(each)
    return tuple(found)


INTERFACE = _interface()
CLASSES: tuple[Any, ...] = in_order(
    [
        *(group for _, group in roots.ROOTS),
        live.LiveSettings,
        *(each for module in INTERFACE for each in _defined(module)),
    ]
)
ATTACHED: list[Attachment] = [
    each for module in (*HANDLERS, *INTERFACE) for each in getattr(module, "attached", ())
]

_command: Any = None


def run_command(arguments: list[str]) -> int:
    """``blender --command condyle ...``."""
    return command_line.main(arguments, "blender --command condyle")


def register() -> None:
    """Add everything to Blender."""
    global _command
    callbacks.wire(CALLBACKS)
    for each in CLASSES:
        bpy.utils.register_class(
            property_options.reporting(each) if issubclass(each, bpy.types.Operator) else each
        )
    roots.attach()
    live.attach()
    for attachment in ATTACHED:
        attachment.add()
    if hasattr(bpy.data, "objects"):  # not while Blender starts; a file loaded later is told to the handler
        file_load.on_load()
    _command = bpy.utils.register_cli_command("condyle", run_command)


def unregister() -> None:
    """Take everything away again, the compute process too."""
    operator.end()
    bpy.utils.unregister_cli_command(_command)
    compute_process.close()
    for attachment in reversed(ATTACHED):
        attachment.remove()
    live.detach()
    roots.detach()
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
    callbacks.wire(None)
    session.tell("")
