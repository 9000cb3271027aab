"""Joints whose bodies are in a scene while they are not: left in a library, or in a collection that is not linked.

Joints' Empties lie in a collection of their own, the bodies in those of the character; who links the character alone
gets bodies that nothing moves. Overriding both collections is no way out: Blender makes each its own copies of what
the other holds. One within the other is, and shots made before get the joints when they are opened again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.types import Library, Object, Scene

from ..data import findings, references
from ..data.collection import COLLECTION
from ..data.findings import CHECK, Finding
from ..data.references import Body


def why_nothing(scene: Scene) -> str:
    """Why a scene without joints and free bodies has nothing to simulate, and the way out."""
    for item in scene.objects:
        held = item.instance_collection if item.instance_type == "COLLECTION" else None
        if held is not None and any(each.condyle.joint.enabled for each in held.all_objects):
            way = (
                "make a library override of it (Object > Library Override > Make)"
                if held.library is not None
                else "link the collection itself into the scene"
            )
            return f"{item.name} only shows the joints of the collection {held.name}: {way}"
    for item, body in of(scene):
        return f"Nothing to simulate: {told(item, body)}"
    for body in references.bodies_of(scene):
        library = _library(body.object)
        if library is not None:
            where = f"{body.name} comes from {library.name} without joints"
            return f"Nothing to simulate: {where}; if it has any, {_way(body)}"
    return "Nothing to simulate: add a joint, or let a body be free"


def of(scene: Scene) -> Iterator[tuple[Any, Body]]:
    """Joints that are not in a scene but move a body of it, and that body; none that were deleted."""
    for item in bpy.data.objects:
        # the type is quick to read, our own data is not
        if item.type != "EMPTY" or not item.condyle.joint.enabled or references.in_scene(scene, item):
            continue
        body = references.resolve(item.condyle.joint.child)
        left = _library(item) is not None or not references.is_deleted(item)
        if left and body is not None and references.in_scene(scene, body.object):
            yield item, body


def told(item: Object, body: Body) -> str:
    """A line about a joint and the body that it would move."""
    library = _library(item)
    if library is not None and not item.users_scene:
        return f"joint {item.name!r} of {body.name} was left in {library.name}; {_way(body)}"
    homes = findings.few(each.name for each in item.users_collection)
    return f"joint {item.name!r} of {body.name} is not in this scene; link its collection {homes} into it"


def check(scene: Scene) -> Iterator[Finding]:
    """A line for each; not of bodies that are in two scenes, which are simulated where their joints are."""
    for item, body in of(scene):
        if not item.users_scene and references.joint_of(scene, body) is None:
            text = told(item, body)
            yield findings.about(f"{text[0].upper()}{text[1:]}", CHECK, body)


def _library(item: Object) -> Library | None:
    """The library that an object comes from, as it is or overridden; None: none."""
    original = item if item.override_library is None else item.override_library.reference
    return None if original is None else original.library


def _way(body: Body) -> str:
    """What is to be done in the library that a body comes from; the collection has the name that it has as a rule:
    of one that was not linked nothing tells.
    """
    into = next((each.name for each in body.object.users_collection), "that of its bodies")
    return f"there, move the joints' collection ({COLLECTION}) into {into}, save, and open this file again"
