"""Sets what is stored of a scene to random and hostile values; then Check Scene, bake, save and open it again.

No bake that is refused may change anything, and nothing may get lost in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import bpy
import numpy as np

import addon
import physics as ph
from tests.addon import conftest, undo_stage, undo_steps
from tests.addon.digests import differences
from tests.fuzz.mutating import VALUES, changed, pick
from tests.fuzz.sweeps import Try

PATIENCE = 30.0  # seconds after which a simulation is interrupted


class Held:
    """A datablock, which no copy copies."""

    def __init__(self, item: Any) -> None:
        self.item = item

    def __deepcopy__(self, _: Any) -> Held:
        return self


def part(name: str) -> Any:
    return import_module(f"addon.{name}")


def owners() -> list[Any]:
    """All that has data of ours."""
    rigs = [item for item in bpy.data.objects if item.pose]
    return [*bpy.data.scenes, *bpy.data.objects, *(bone for rig in rigs for bone in rig.pose.bones)]


def properties(group: Any) -> list[Any]:
    return [each for each in group.bl_rna.properties if each.identifier != "rna_type"]


def groups(group: Any) -> Iterator[Any]:
    """A group of properties and all within."""
    yield group
    for known in properties(group):
        value = getattr(group, known.identifier)
        inner = value if known.type == "COLLECTION" else [value]
        for each in inner:
            if isinstance(each, bpy.types.PropertyGroup):
                yield from groups(each)


def set_property(rng: np.random.Generator) -> None:
    """As a script or the interface sets one: Blender refuses some values."""
    group = pick(rng, [*groups(pick(rng, owners()).condyle)])
    known = pick(rng, properties(group))
    items = [each.identifier for each in getattr(known, "enum_items", ())]
    length = getattr(known, "array_length", 0)
    value = pick(rng, items or [*VALUES, *bpy.data.objects])
    try:
        setattr(group, known.identifier, [pick(rng, VALUES) for _ in range(length)] if length else value)
    except (TypeError, ValueError, AttributeError, OverflowError):
        return


def set_stored(rng: np.random.Generator) -> None:
    """As a damaged file holds them: beyond all limits, of other types, lost or renamed."""
    owner = pick(rng, owners())
    stored = owner.bl_system_properties_get(do_create=True) if bpy.app.version >= (5, 0) else owner
    if "condyle" in stored.keys():  # noqa: SIM118
        try:
            stored["condyle"] = unwrapped(changed(rng, wrapped(stored["condyle"])))
        except (TypeError, ValueError, OverflowError, KeyError):
            return


def wrapped(value: Any) -> Any:
    if isinstance(value, bpy.types.ID):
        return Held(value)
    if hasattr(value, "items"):
        return {key: wrapped(each) for key, each in value.items()}
    return (
        [wrapped(each) for each in value] if isinstance(value, list) or hasattr(value, "to_list") else value
    )


def unwrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unwrapped(each) for key, each in value.items()}
    if isinstance(value, list):
        return [unwrapped(each) for each in value]
    return value.item if isinstance(value, Held) else value


def lost(before: Any) -> list[str]:
    found = differences(before, undo_steps.digest_in_time())
    passing = ("/users: ", "/simulation/statistics/")  # of a run that diverges, too
    return [
        each
        for each in found
        if not each.endswith("nan is not nan") and not any(map(each.__contains__, passing))
    ]


def fault(path: Path, alter: Any, seed: int) -> str:
    """What is lost by a bake that is refused, and by a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rng, scene, refused = np.random.default_rng(seed), bpy.context.scene, None
    for _ in range(int(rng.integers(1, 4))):
        alter(rng)
    before, bake = undo_steps.digest_in_time(), part("jobs.bake")
    try:
        bake.check_now(scene)
        bake.bake_now(scene)
    except ph.CondyleError as error:
        refused = error
    except BaseException:
        part("blender.compute_process").close()
        raise
    if refused and (found := lost(before)):
        return f"changed by a bake that is refused: {found[:5]}"
    versions = [owner.condyle.schema_version for owner in owners()]
    saved, before = path.with_name("saved.blend"), undo_steps.digest_in_time()
    bpy.ops.wm.save_as_mainfile(filepath=str(saved), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    found = lost(before)
    if found and versions == [owner.condyle.schema_version for owner in owners()]:  # else it was migrated
        return f"lost in the file: {found[:5]}"
    if refused:
        raise refused
    return ""


def staged(folder: Path) -> Path:
    """The file of the tests of undo, with the add-on registered."""
    addon.register()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    undo_stage.build(part, bpy.context.scene, conftest)
    path = folder / "stage.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return path


def tries(rng: np.random.Generator, folder: Path) -> Iterator[Try]:
    path = staged(folder)
    yield Try("warm", "as it is", partial(fault, path, lambda _: None, 0), warm=True)
    while True:
        for alter in (set_property, set_stored):
            seed = int(rng.integers(1 << 60))
            said = f"seed {seed}"
            yield Try(alter.__name__, said, partial(fault, path, alter, seed), patience=PATIENCE)
