"""The list of findings that panels show, and the object or bone that a click on one selects."""

from dataclasses import replace

import bpy
from bpy.types import Context, Object, Scene

from ..blender import session
from . import references
from .findings import BAKE, IMPORT, Finding, place_of
from .references import Body, Handle

#: where the list of findings is
WHERE = "see the list beside Check Scene"


def culprit(finding: Finding) -> Body | None:
    """The object or bone of a finding; None if it has none, or if that no longer exists."""
    return Handle(finding.session_uid, finding.bone).find_in(bpy.data) if finding.session_uid else None


def culprit_in(scene: Scene, finding: Finding) -> Body | None:
    """As `culprit`, but None also if it was deleted from the scene; users keep deleted objects in the file."""
    found = culprit(finding)
    return found if found is not None and references.in_scene(scene, found.object) else None


def named(scene: Scene, finding: Finding) -> Finding:
    """The finding with the first object or bone of the scene that its text names, if any: for texts of physics."""
    bones = [body for body in references.bodies_of(scene) if body.bone]
    found = [
        (place, -len(body.name), body.handle())
        for body in [*(Body(item) for item in scene.objects), *bones]
        if (place := place_of(body.name, finding.text)) is not None
    ]
    if not found:
        return finding
    best = min(found, key=lambda each: each[:2])[2]
    return replace(finding, session_uid=best.session_uid, bone=best.bone)


def forget_gone() -> None:
    """Drop findings about objects that no longer exist, after an undo or redo."""
    there = {item.session_uid for item in bpy.data.objects}
    session.findings = [
        finding for finding in session.findings if {finding.session_uid, finding.maker} - {0} <= there
    ]


def show(scene_uid: int, found: list[Finding]) -> None:
    """Let panels show these findings of the scene with that session uid, and those of its last import after them."""
    if session.findings_scene == scene_uid:
        found = [*found, *(each for each in session.findings if each.source == IMPORT)]
    session.findings, session.findings_scene = found, scene_uid


def shown(scene: Scene) -> list[tuple[int, Finding]]:
    """Indices and findings of the list, if it is about this scene; without those about deleted objects."""
    if not session.findings or session.findings_scene != scene.session_uid:
        return []
    there = {0, *(item.session_uid for item in bpy.data.objects)}
    return [
        (k, finding)
        for k, finding in enumerate(session.findings)
        if {finding.session_uid, finding.maker} <= there
    ]


def forget_bake(scene: Scene) -> None:
    """Drop findings about a scene's bake."""
    if session.findings_scene == scene.session_uid:
        session.findings = [finding for finding in session.findings if finding.source != BAKE]


def select(context: Context, body: Body) -> bool:
    """Select an object, or a bone in pose mode, alone and make it active; False if it is not visible."""
    item = body.object
    if item.name not in context.view_layer.objects:
        return False
    if context.mode == "POSE" and context.view_layer.objects.active != item:
        bpy.ops.object.mode_set(mode="OBJECT")
    if context.mode != "POSE":
        for other in context.view_layer.objects:
            other.select_set(False)
    item.hide_set(False)
    item.select_set(True)
    context.view_layer.objects.active = item
    if body.bone:
        for bone in item.data.bones:
            _select_bone(item, bone.name, bone.name == body.bone)
        item.data.bones.active = item.data.bones[body.bone]
    return bool(item.visible_get())


def _select_bone(item: Object, name: str, selected: bool) -> None:
    """Select a bone: before 5.0 in the armature, later in the pose."""
    bone = item.data.bones[name]
    if hasattr(bone, "select"):
        bone.select = selected
    else:
        item.pose.bones[name].select = selected
