"""Everything in a running Blender that an add-on could leave behind, as plain values that can be compared."""

import os
import sys
import threading
from typing import Any

import bpy


def traces() -> dict[str, Any]:
    """Handlers, types, their properties, operators, menus' entries, keymaps, tools, names for drivers, threads and
    child processes.
    """
    manager = bpy.context.window_manager
    return {
        "handlers": {
            name: [f"{each.__module__}.{each.__qualname__}" for each in getattr(bpy.app.handlers, name)]
            for name in dir(bpy.app.handlers)
            if isinstance(getattr(bpy.app.handlers, name), list)
        },
        "types": sorted(dir(bpy.types)),
        "properties": {name: sorted(properties_of(name)) for name in dir(bpy.types)},
        "operators": {name: sorted(dir(getattr(bpy.ops, name))) for name in dir(bpy.ops)},
        "draw": {name: found for name in dir(bpy.types) if (found := entries_of(name))},
        "keymaps": {
            config.name: [
                (keymap.name, [item.idname for item in keymap.keymap_items]) for keymap in config.keymaps
            ]
            for config in manager.keyconfigs
        },
        "tools": tools(),
        "drivers": sorted(bpy.app.driver_namespace),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "children": children(),
    }


def properties_of(name: str) -> set[str]:
    """RNA properties of a type, and what else has been hung on its class."""
    kind = getattr(bpy.types, name)
    rna = getattr(kind, "bl_rna", None)
    return {*getattr(kind, "__dict__", ()), *(rna.properties.keys() if rna is not None else ())}


def entries_of(name: str) -> list[str]:
    """What has been appended to a menu, header or panel, beside its own function."""
    functions = getattr(getattr(getattr(bpy.types, name), "draw", None), "_draw_funcs", ())
    own = f"{name}.draw"
    return [f"{each.__module__}.{each.__qualname__}" for each in functions if each.__qualname__ != own]


def tools() -> list[str]:
    """Tools of the 3D view's toolbar."""
    from bl_ui.space_toolsystem_toolbar import VIEW3D_PT_tools_active

    return sorted(repr(VIEW3D_PT_tools_active._tools[mode]) for mode in VIEW3D_PT_tools_active._tools)


def children() -> int | None:
    """Number of child processes, where the system tells."""
    if not sys.platform.startswith("linux"):
        return None
    count = 0
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            count += len(file.read().split())
    return count


def timers(package: str) -> list[str]:
    """Functions of a package's modules that a timer will call."""
    found = []
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(f"{package}."):
            functions = [each for each in vars(module).values() if callable(each)]
            found += [
                f"{name}.{each.__qualname__}"
                for each in functions
                if hasattr(each, "__qualname__") and bpy.app.timers.is_registered(each)
            ]
    return found
