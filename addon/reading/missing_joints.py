"""Joints that are missing from a scene with their bodies: left in a library, or in a collection that is not linked.

A rig points at its joints, which are beneath its collection, so that they come along. In files of older versions they
are in a collection of their own: linking only the character leaves them out. Overriding both collections fails, because
Blender copies each one's references separately. Moving one into the other mends existing shots once they are reopened.
"""

from collections.abc import Iterator

import bpy
from bpy.types import Library, Object, Scene

from ..data import findings, references
from ..data.findings import Finding
from ..data.references import Body


def why_nothing(scene: Scene) -> str:
    """Why a scene or snapshot without joints and free bodies has nothing to simulate, and the way out."""
    for item in scene.objects:
        shown = item.instance_collection if item.instance_type == "COLLECTION" else None
        if shown is not None and any(each.condyle.joint.enabled for each in shown.all_objects):
            way = (
                "make a library override of it (Object > Library Override > Make)"
                if shown.library is not None
                else "link the collection itself into the scene"
            )
            return f"{item.name} only instances the joints of the collection {shown.name}: {way}"
    for item, body in of(scene):
        return f"Nothing to simulate: {_about(item, body).text}"
    for body in references.bodies_of(scene):
        library = _library(body.object)
        if library is not None:
            where = f"{body.name} comes from {library.name} without joints"
            return f"Nothing to simulate: {where}; if it has any, {_way(body)}"
    return "Nothing to simulate: add a joint, or make a body Simulated"


def of(scene: Scene) -> Iterator[tuple[Object, Body]]:
    """Joints outside a scene whose child is in it, with that child; without deleted joints."""
    for item in getattr(scene, "joints_elsewhere", bpy.data.objects):
        # checks the type first, which is faster to read than condyle data
        if item.type != "EMPTY" or not item.condyle.joint.enabled or references.in_scene(scene, item):
            continue
        body = references.resolve(item.condyle.joint.child)
        left = _library(item) is not None or not references.is_deleted(item)
        if left and body is not None and references.in_scene(scene, body.object):
            yield item, body


def _about(item: Object, body: Body) -> Finding:
    """A finding about a joint and the body that it would move."""
    library, joint, called = _library(item), item.name, body.name
    if library is not None and not item.users_scene:
        found, way = library.name, _way(body, item)
        return findings.about(body, "joint-in-library", joint=joint, body=called, library=found, remedy=way)
    homes = findings.few(each.name for each in item.users_collection)
    return findings.about(body, "joint-not-in-scene", joint=joint, body=called, collections=homes)


def check(scene: Scene) -> Iterator[Finding]:
    """A finding for each missing joint, except for bodies in two scenes, which are simulated with their joints."""
    for item, body in of(scene):
        if not item.users_scene and references.joint_of(scene, body) is None:
            yield _about(item, body)


def _library(item: Object) -> Library | None:
    """The library of a linked or overridden object; None for a local one."""
    original = item if item.override_library is None else item.override_library.reference
    return None if original is None else original.library


def _way(body: Body, item: Object | None = None) -> str:
    """Remedy for a body of a library: an override brings the parts of an object, but of a collection only what is in
    it.
    """
    linked_alone = body.object.library and not any(each.library for each in body.object.users_collection)
    if item is not None and linked_alone:
        return f"make a library override of {body.object.name}, which brings it"
    return "there, use Check Scene and Move Joints to Their Rigs, save, and open this file again"


def has_work(item: Object) -> bool:
    """Whether an object is a joint, a free or soft body, or an armature with free bodies."""
    data = item.condyle
    if data.joint.enabled or data.soft.enabled or (data.body.enabled and data.body.motion == "FREE"):
        return True
    return item.pose is not None and any(
        bone.condyle.body.enabled and bone.condyle.body.motion == "FREE" for bone in item.pose.bones
    )
