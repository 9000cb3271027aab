"""Settings of a scene given from outside: nested tables of names and values, checked before any is set.

    {"simulation": {"time_step": 0.0005}, "joints": {"Knee": {"coordinates": {"1": {"damping": 0.2}}}}}

A section is the owner of its settings; the keys below it are the add-on's properties by their Python names. ``check``
needs no file: it checks names, types and ranges. ``apply`` finds the objects, and sets nothing if one is missing.
"""

from __future__ import annotations

import array
import difflib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..blender import compat, physics_access
from ..data import properties, references, roots
from ..reading import muscle_points

if TYPE_CHECKING:
    from bpy.types import Object, Property, Scene

#: property group of each section, or of each name in it; the first two sections belong to the scene, without names
SECTIONS = {
    "simulation": "",
    "start": "",
    "joints": "joint",
    "bodies": "body",
    "connections": "connection",
    "muscles": "muscle",
    "obstacles": "obstacle",
}

#: properties of any group that are stored or shown, but cannot be set here
NOT_SETTINGS = {
    *("rna_type", "name", "enabled", "statistics", "label", "title", "told", "read", "unit", "type"),
    *("to_world", "parent", "child", "body", "other", "bone_uid", "bone_name", "child_in_joint"),
    *("frames", "knots", "residuals", "metric_values", "num_poses", "worst_distance", "worst_angle"),
    *("worst_first", "show_ghosts", "iterations", "converged", "coverage", "driven"),
    *("use_scene_range", "frame_start", "frame_end"),
}

#: Blender's first and last frame
FRAMES = -1048574, 1048574


@dataclass(frozen=True)
class Override:
    """One setting: its keys and its value."""

    keys: tuple[str, ...]
    value: Any

    @property
    def address(self) -> str:
        """The keys as TOML writes them."""
        return address(self.keys)


@dataclass(frozen=True)
class _Target:
    """The property of the open file that a setting sets."""

    owner: Any
    property: Any
    path: str
    override: Override


def address(keys: Iterable[str]) -> str:
    """Keys as TOML writes them: ``joints."Knee.L".damping``."""
    return ".".join(
        key if key.replace("_", "").isalnum() and key.isascii() else toml_value(key) for key in keys
    )


def toml_value(value: Any) -> str:
    """A text, number, boolean or list of them as TOML writes it: as JSON does, except for DEL."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")


def flatten(settings: dict[str, Any], before: tuple[str, ...] = ()) -> Iterator[Override]:
    """Every setting of nested tables."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from flatten(value, (*before, key))
        else:
            yield Override((*before, key), value)


def merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both nested tables as one; the second takes precedence."""
    both = dict(first)
    for key, value in second.items():
        below = both.get(key)
        both[key] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return both


def check(settings: dict[str, Any]) -> None:
    """FormatError for the first setting that is wrong for any file: in name, type or range."""
    for override in flatten(settings):
        _check_value(_static_property(override), override)


def apply(scenes: list[Scene], settings: dict[str, Any]) -> None:
    """Apply all settings to these scenes of the open file, or none: FormatError if one cannot be set."""
    check(settings)
    targets = [
        target
        for override in flatten(settings)
        for owner, path in _owners(scenes, override)
        for target in [_find(owner, path, override)]
    ]
    for target in targets:
        _check_settable(target)
    for target in targets:
        many = target.property.type == "ENUM" and target.property.is_enum_flag
        value = set(target.override.value) if many else target.override.value
        setattr(target.owner, target.property.identifier, value)


def check_frames(frames: Iterable[int]) -> None:
    """FormatError for a frame outside Blender's range."""
    first, last = FRAMES
    for frame in frames:
        if not first <= frame <= last:
            told = f"frame {frame}: must be from {first} to {last}, Blender's range"
            raise physics_access.physics().FormatError(told)


def set_frames(scene: Scene, frames: tuple[int, int]) -> None:
    """Set the frames of the bake, and of the scene's playback and render.

    A scene's frame range cannot begin before frame 0; earlier frames are played by the preview range, but not rendered.
    """
    scene.condyle.start.begin = "RANGE"
    settings = scene.condyle.simulation
    settings.use_scene_range = False
    settings.frame_start, settings.frame_end = frames
    scene.use_preview_range = frames[0] < 0
    if frames[0] < 0:
        scene.frame_preview_start, scene.frame_preview_end = frames
    if frames[1] >= 0:
        scene.frame_start, scene.frame_end = frames


def _groups() -> dict[str, Any]:
    """The property group of each section, as bl_rna."""
    scene, item = roots.SceneData.bl_rna, roots.ObjectData.bl_rna
    return {
        section: (item if group else scene).properties[group or section].fixed_type
        for section, group in SECTIONS.items()
    }


def _static_property(override: Override) -> Property:
    """The property of a setting, found by names alone."""
    section, *keys = override.keys
    if section not in SECTIONS:
        raise _unknown(override, override.keys[:1], SECTIONS)
    if SECTIONS[section]:
        if not keys:
            raise _wrong(override, f"must be given by name: {section}.NAME.SETTING = VALUE")
        keys = keys[1:]
    group = _groups()[section]
    while keys:
        found = group.properties.get(keys[0])
        if found is None or not _is_setting(group, found):
            place = override.keys[: len(override.keys) - len(keys) + 1]
            raise _unknown(
                override, place, [each.identifier for each in group.properties if _is_setting(group, each)]
            )
        keys = keys[1:]
        if found.type not in {"POINTER", "COLLECTION"}:
            if keys:
                raise _wrong(override, f"{found.identifier} is a single setting and has no {keys[0]!r}")
            return found
        group = found.fixed_type
        keys = keys[1:] if found.type == "COLLECTION" else keys
    raise _wrong(override, "this is a group of settings; set those in it")


def _is_setting(group: Any, found: Property) -> bool:
    """Whether a property may be set from outside."""
    name = found.identifier
    shown = properties.shown_by(name) in group.properties  # it shows another property in the user's units
    if name in NOT_SETTINGS or name.startswith("active_") or shown:
        return False
    if found.type in _NESTING:
        base = found.fixed_type.base
        return base is not None and base.identifier == "PropertyGroup"
    return not found.is_readonly


_NESTING = {"POINTER", "COLLECTION"}


def _check_value(found: Property, override: Override) -> None:
    """FormatError for a value of another type than the property's, or out of its range."""
    values, length = override.value, getattr(found, "array_length", 0)
    many = found.type == "ENUM" and found.is_enum_flag
    if not (many or length):
        values = [values]
    elif not isinstance(values, list) or len(values) != (length or len(values)):
        raise _wrong(override, f"must be a list of {length}" if length else "must be a list")
    for each in values:
        _check_one(found, override, each)


def _check_one(found: Property, override: Override, value: Any) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if found.type == "BOOLEAN":
        if not isinstance(value, bool):
            raise _wrong(override, "must be true or false")
    elif found.type == "ENUM":
        choices = [item.identifier for item in found.enum_items]
        if value not in choices:
            raise _wrong(override, f"must be one of {', '.join(choices)}{meant(str(value), choices)}")
    elif found.type == "STRING":
        if not isinstance(value, str):
            raise _wrong(override, "must be a text")
    elif not is_number or (found.type == "INT" and not isinstance(value, int)):
        raise _wrong(override, f"must be a {'whole ' if found.type == 'INT' else ''}number")
    elif not math.isfinite(value) or not found.hard_min <= _stored(found, value) <= found.hard_max:
        raise _wrong(override, f"must be from {found.hard_min:g} to {found.hard_max:g}")


def _stored(found: Property, value: float) -> float:
    """A number as Blender stores it, in single precision, like the ends of ranges."""
    return array.array("f", [value])[0] if found.type == "FLOAT" else value


def _owners(scenes: list[Scene], override: Override) -> list[tuple[Any, str]]:
    """The property groups of a setting's section and name, and their data paths."""
    section = override.keys[0]
    if not SECTIONS[section]:
        return [(getattr(scene.condyle, section), f"condyle.{section}") for scene in scenes]
    found: dict[str, tuple[Any, str]] = {}
    for scene in scenes:
        found.update(_named(scene, section))
    name = override.keys[1]
    if name not in found:
        there = f"it has {_listed(found)}{meant(name, found)}"
        raise _wrong(override, f"the file has no {SECTIONS[section]} {name!r}; {there}")
    return [found[name]]


def _named(scene: Scene, section: str) -> dict[str, tuple[Any, str]]:
    """The property groups in a scene that a section can name, and their data paths."""
    if section == "bodies":
        bodies = references.bodies_of(scene)
        return {body.name: (body.data.body, f"{body.path_prefix}condyle.body") for body in bodies}
    listed: dict[str, Callable[[Scene], list[Object]]] = {
        "joints": references.joints_of,
        "connections": references.connections_of,
        "muscles": muscle_points.muscles_of,
        "obstacles": lambda scene: [item for item in scene.objects if item.condyle.obstacle.enabled],
    }
    items = listed[section](scene)
    group = SECTIONS[section]
    return {item.name: (getattr(item.condyle, group), f"condyle.{group}") for item in items}


def _find(owner: Any, path: str, override: Override) -> _Target:
    """Follow a setting's keys from its section's group to the owner of its property."""
    keys = list(override.keys[2 if SECTIONS[override.keys[0]] else 1 :])
    while True:
        name = keys.pop(0)
        found = owner.bl_rna.properties[name]
        path = f"{path}.{name}"
        if found.type not in _NESTING:
            return _Target(owner, found, path, override)
        owner = getattr(owner, name)
        if found.type == "COLLECTION":
            index = _index(owner, keys.pop(0), name, override)
            owner, path = owner[index], f"{path}[{index}]"


def _index(rows: Any, key: str, name: str, override: Override) -> int:
    """Index of a collection's row by a key: its label, or its number from 1."""
    labels = [getattr(row, "label", "") for row in rows]
    if key in labels:
        return labels.index(key)
    if key.isdecimal() and 1 <= int(key) <= len(rows):
        return int(key) - 1
    there = [label or str(number) for number, label in enumerate(labels, 1)]
    raise _wrong(override, f"{name} has no {key!r}; it has {_listed(there)}")


def _check_settable(target: _Target) -> None:
    """FormatError if a value would be lost or overridden: linked data, or an animated property."""
    block, override = target.owner.id_data, target.override
    if block.library is not None:
        raise _wrong(override, f"{block.name!r} is from {block.library.filepath}; make it a library override")
    drivers = block.animation_data.drivers if block.animation_data is not None else ()
    if any(curve.data_path == target.path for curve in (*compat.curves_in_use(block), *drivers)):
        raise _wrong(override, "it is animated; remove its keyframes or driver")


def _wrong(override: Override, reason: str) -> Exception:
    return physics_access.physics().FormatError(f"{override.address} = {override.value!r}: {reason}")


def _unknown(override: Override, keys: tuple[str, ...], known: Iterable[str]) -> Exception:
    known = list(known)
    return _wrong(
        override, f"unknown key {address(keys)!r}{meant(keys[-1], known)}; use one of {_listed(known)}"
    )


def meant(name: str, known: Iterable[str]) -> str:
    """A question whether a name means one of those that are known and like it; empty: none is."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
