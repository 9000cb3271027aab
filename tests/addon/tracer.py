"""Which modules of the add-on see Blender's data: whose frames hold an object of bpy while something runs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def seeing(package: str) -> Iterator[set[str]]:
    """The names, within a package, of modules of which an argument or a local is an object of bpy, or holds some: as
    an attribute `object`, or in a list, tuple or mapping.
    """
    found: set[str] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        is_new = event in {"call", "return"} and name.startswith(f"{package}.") and name not in found
        if is_new and any(_is_seen(value) for value in frame.f_locals.values()):
            found.add(name)

    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)


def _is_seen(value: Any, deep: bool = True) -> bool:
    import bpy

    if isinstance(value, bpy.types.bpy_struct | bpy.types.bpy_prop_collection):
        return True
    if isinstance(getattr(value, "__dict__", {}).get("object"), bpy.types.bpy_struct):
        return True
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    is_list = deep and isinstance(value, list | tuple | set)
    return is_list and any(_is_seen(each, deep=False) for each in value)
