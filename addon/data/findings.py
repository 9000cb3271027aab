"""Findings about a scene: codes with values, and the object or bone to select by a click."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
from bpy.types import Context, Object, Scene

from ..blender import session
from . import references
from .messages import TEXTS
from .references import Body, Handle

#: sources of findings
CHECK, BAKE, IMPORT, LIVE = "Check", "Bake", "Import", "Live"
#: where the list of findings is
WHERE = "see the list beside Check Scene"
#: values that name what a finding is about
NAMES = ("name", "muscle", "body", "file")
MUSCLE = ("muscle",)


@dataclass(frozen=True)
class Finding:
    """A line for users: `code` names its text in `messages.TEXTS`, `values` are inserted into it.

    Attributes:
        session_uid: of the object that it is about; 0: none. bone: one of its bones.
        maker: session uid of the object without which the line is obsolete; 0: none.
        remedy: operator that helps. is_hint: nothing is wrong, but users should know.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)
    source: str = CHECK
    is_error: bool = False
    session_uid: int = 0
    bone: str = ""
    maker: int = 0
    remedy: str = ""
    is_hint: bool = False

    @property
    def text(self) -> str:
        return TEXTS[self.code].format_map(self.values)

    def culprit(self) -> Body | None:
        """Its object or bone; None if it has none, or if that no longer exists."""
        return Handle(self.session_uid, self.bone).find() if self.session_uid else None

    def culprit_in(self, scene: Scene) -> Body | None:
        """As `culprit`, but None also if it was deleted from the scene; users keep deleted objects in the file."""
        found = self.culprit()
        return found if found is not None and references.in_scene(scene, found.object) else None


def about(culprit: Body | Handle | Object | None, code: str, /, **values: Any) -> Finding:
    """A finding about an object, a `Body` or a `Handle`; None: about none of them."""
    if culprit is None or isinstance(culprit, Handle):
        found = culprit or Handle(0)
    else:
        found = (culprit if isinstance(culprit, Body) else Body(culprit)).handle()
    return Finding(code, values, session_uid=found.session_uid, bone=found.bone)


def error(
    culprit: Body | Object | None, problem: Exception | str, code: str = "error", /, **values: Any
) -> Finding:
    """An error in the words of its exception, which begin with a name."""
    name = str(problem).partition(": ")[0] if code == "error" and ": " in str(problem) else ""
    message = str(problem).removeprefix(name)
    return replace(about(culprit, code, name=name, message=message, **values), is_error=True)


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


def place_of(name: str, text: str) -> int | None:
    """Index in a text where it names an object or bone; None if it does not."""
    met = re.search(rf"(?<![\w.]){re.escape(name)}(?![\w/]|\.\d)", text) if name in text else None
    return None if met is None else met.start()


def of_source(found: Iterable[Finding], source: str, maker: Object | None = None) -> list[Finding]:
    """Findings with this source; maker: the object without which they are obsolete."""
    uid = 0 if maker is None else maker.session_uid
    return [replace(each, source=source, maker=uid) for each in found]


def few(names: Iterable[str], most: int = 4) -> str:
    """The first names of a list and the number of the others, for a sentence."""
    names = list(names)
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} other{'s' * (more > 1)}" if more > 0 else "")


def gathered(found: Iterable[Finding], names: Collection[str] = NAMES, most: int = 5) -> list[Finding]:
    """The findings, those that say the same of several things as one, about the first of these.

    Args:
        names: values in which they may differ. most: names in a finding.
    """
    groups: dict[Any, list[Finding]] = {}
    for each in found:
        rest = [(key, repr(value)) for key, value in each.values.items() if key not in names]
        groups.setdefault((each.code, each.is_error, each.is_hint, *rest), []).append(each)
    return [
        replace(
            same[0],
            values={
                key: few(dict.fromkeys(each.values[key] for each in same), most)
                if key in names and len(same) > 1
                else value
                for key, value in same[0].values.items()
            },
        )
        for same in groups.values()
    ]


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
