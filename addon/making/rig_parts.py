"""Joints, connections, targets and muscles come along with their rig.

Blender's append, link and copy of an object follow its pointers, those of a collection its objects. So each rig points
at its parts, and they are in a collection beneath its own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import bpy
from bpy.types import Object, Scene

from ..blender import session
from ..data import findings
from ..data.collection import collection_of, own
from ..data.findings import Finding
from ..sliders import driver_empties

REMEDY = "condyle.move_to_rigs"
#: session uids of objects whose rows changed outside a step of undo since the last undo
_changed: set[int] = set()


def owner_of(item: Object) -> Object | None:
    """The object that a joint moves, that a connection or target is on, or that a muscle starts from."""
    data = item.condyle
    if item.type == "CURVE":
        hooks = (each.object for each in item.modifiers if each.type == "HOOK")
        return next(filter(None, hooks), None) if data.muscle.enabled else None
    if item.type != "EMPTY":
        return None
    roles = ((data.joint, "child"), (data.connection, "body"), (data.target, "body"))
    return next((getattr(role, name).object for role, name in roles if role.enabled), None)


def parts_in(items: Iterable[Object]) -> dict[Object, list[Object]]:
    """Parts among objects by the object that they belong to, in the order of their names."""
    found: dict[Object, list[Object]] = {}
    for item in sorted(items, key=lambda each: each.name):
        owner = owner_of(item)
        if owner is not None:
            found.setdefault(owner, []).append(item)
    return found


def renew(in_step: bool = False) -> None:
    """Let every object point at its own parts. Reports a copy that was made without the parts of its original.

    in_step: an operator changes the rows, so that its step of undo contains them.
    """
    owned = parts_in({item for scene in bpy.data.scenes for item in scene.objects})
    for item in bpy.data.objects:
        if item.library is not None or item.override_library is not None:
            continue
        if item not in owned and not item.condyle.schema_version:
            continue
        rows, wanted = item.condyle.parts, owned.get(item, [])
        before = [row.object for row in rows]
        if before == wanted:
            continue
        _tell_left(item, wanted, before)
        rows.clear()
        for each in wanted:
            rows.add().object = each
        if not in_step:
            _changed.add(item.session_uid)


def _tell_left(item: Object, wanted: list[Object], before: list[Object]) -> None:
    """Report the parts that stayed with the original of a copied object, which lists them, too."""
    left = []
    for each in before:
        owner = None if each is None or not each.users_collection else owner_of(each)
        if owner not in (None, item) and each in [row.object for row in owner.condyle.parts]:
            left.append(each.name)
    if left and not wanted:
        session.tell(f"{item.name} is a copy without {findings.few(left)}: copy these along with it")


def before_undo() -> None:
    """Empty the rows that changed: an undo keeps data-blocks that are the same in two steps, and a row could point at
    an object that it frees, so that Blender would crash. `renew` follows the undo.
    """
    for item in bpy.data.objects if _changed else ():
        if item.session_uid in _changed and item.library is None:
            item.condyle.parts.clear()
    _changed.clear()


def apart(scene: Scene) -> Iterator[tuple[Object, Object]]:
    """Parts of a scene, each with its owner, where a collection has the owner, but none has both."""
    homes = [set(each.all_objects) for each in own(scene.collection.children)]
    for owner, items in parts_in(scene.objects).items():
        around = [home for home in homes if owner in home]
        for item in items if around and owner.library is None else ():
            if item.library is None and not any(item in home for home in around):
                yield item, owner


def check(scene: Scene) -> Iterator[Finding]:
    """A hint for each object whose parts are in other collections than it."""
    owners: dict[Object, list[str]] = {}
    for item, owner in apart(scene):
        owners.setdefault(owner, []).append(item.name)
    for owner, names in owners.items():
        found = findings.about(owner, "parts-apart", object=owner.name, parts=findings.few(names))
        yield replace(found, remedy=REMEDY, is_hint=True)


def move_to_rigs(scene: Scene) -> int:
    """Move parts that are apart from their rigs, with control frames, ends and followers, beneath these; how many."""
    moved = list(apart(scene))
    frames: dict[Object, list[Object]] = {}
    for each in scene.objects:
        if each.type == "EMPTY" and each.condyle.frame_of is not None:
            frames.setdefault(each.condyle.frame_of, []).append(each)
    for item, owner in moved:
        home = collection_of(scene, owner)
        for each in (item, *frames.get(item, ()), *driver_empties.chain_of(item)):
            for old in own(each.users_collection):
                old.objects.unlink(each)
            home.objects.link(each)
    renew(in_step=True)
    session.findings = [each for each in session.findings if each.remedy != REMEDY]
    return len(moved)
