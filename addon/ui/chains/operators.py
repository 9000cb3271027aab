"""Operators that make chains swing after their animation, and set how they do."""

from typing import Any

import bpy
from bpy.types import Context, Operator

from ...baking import restoring
from ...data import colliders as data
from ...data import finding_list, findings, references
from ...data.bodies import AIR, FREQUENCY, RATIO, SHARE
from ...data.property_options import Change, Edit, any_selected, counted, unless
from ...jobs import bake
from ...making import chain_presets, chains, clean_up, colliders, jiggle_settings, ragdolls
from ..asked import choice, flag, number, text

TUNING = ("frequency", "damping_ratio", "gravity", "drag")
SCOPES = (
    ("SELECTED", "Selected", "The selected bones or objects"),
    ("CHAIN", "Chain", "All links of the selected chains"),
    ("RIG", "Rig", "The selected armatures with all their bones, and objects with their children"),
    ("SCENE", "Scene", "Everything in the scene"),
)
FILE = ("FILE", "File", "Everything in all scenes of the file")


_any_selected = any_selected("Select the bones of a chain in Pose Mode, or objects that are parented")


def _of_preset(properties: Any, _context: Context) -> None:
    """Forget figures of the preset chosen before."""
    for name in TUNING:
        properties.property_unset(name)
    properties.figures_of = properties.preset


class AddChain(Edit, Operator):
    """Jiggle: let the selected bones or objects swing after their animation as a tail, hair, ears, a rope or fat do.
    Each gets a joint to its parent, the mass of its skin, and a spring to its pose; then play (Space)"""

    bl_idname = "condyle.add_chain"
    bl_label = "Add Chain"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    needs = _any_selected

    preset: choice(
        "Preset",
        "What it swings like",
        items=[(each.name, each.label, each.description) for each in chain_presets.CHAIN_PRESETS],
        update=_of_preset,
    )
    figures_of: text(
        "Figures Of",
        "Preset that the figures were set for; Blender offers those of the last call",
        options={"HIDDEN"},
    )
    frequency: number(
        "Frequency [Hz]",
        "How often the chain swings in a second. Lower is softer, sags more and trails farther behind",
        **FREQUENCY,
    )
    damping_ratio: number(
        "Damping Ratio",
        "0 swings for ever, 0.3 swings out in a few swings, 1 comes back without swinging over",
        **RATIO,
    )
    gravity: number("Gravity", "Share of the scene's gravity that pulls at it: 1 all of it, 0 none", **SHARE)
    drag: number("Drag [1/s]", "Resistance of the air: rate at which it loses its speed", **AIR)

    def change(self, context: Context) -> str:
        if self.figures_of not in ("", self.preset):
            _of_preset(self.properties, context)
        preset = chain_presets.BY_NAME[self.preset]
        for name in TUNING:
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(preset, name))
        self.figures_of = self.preset
        tuning = chains.Tuning(*(getattr(self, name) for name in TUNING))
        joints = chains.add(context.scene, references.selected_bodies(context), preset.kind, tuning)
        return f"{counted(len(joints), 'link')} of {preset.label.lower()} added: play (Space), or press Bake"


class AddRagdoll(Edit, Operator):
    """Make the active rig of a human figure a ragdoll: every limb gets a joint with limits, the mass of its skin and a
    collider, and it falls from the pose and the speed of its animation. Limbs are known by the bones' names of Rigify,
    Auto-Rig Pro, Mixamo and VRM; then play (Space)"""

    bl_idname = "condyle.add_ragdoll"
    bl_label = "Add Ragdoll"
    why_not = unless(
        lambda context: context.active_object is not None and context.active_object.type == "ARMATURE",
        "Make an armature the active object",
    )

    floor: flag("Floor", "The world's x-y plane stops it, with friction", default=True)

    def change(self, context: Context) -> str:
        joints = ragdolls.add(context.scene, context.active_object, self.floor)
        return f"Ragdoll of {len(joints) + 1} bones added: play (Space), or press Bake"


class ConvertJiggle(Edit, Operator):
    """Make chains of all bones in the scene that have settings of Wiggle 2 or Jiggle Physics, which need not be
    installed: with about the same frequency, damping, gravity and drag. Their settings stay; colliders and wind are not
    converted"""

    bl_idname = "condyle.convert_jiggle"
    bl_label = "Convert Wiggle 2, Jiggle Physics"

    mute_there: flag(
        "Mute There",
        "Mute the armatures in the other add-on, where it is installed: else both would move the bones",
        default=True,
    )

    def change(self, context: Context) -> str:
        found = jiggle_settings.convert(context.scene)
        if self.mute_there:
            jiggle_settings.mute(found)
        names = findings.few(each.body.name for each in found)
        sources = " and ".join(dict.fromkeys(each.source for each in found))
        return f"{counted(len(found), 'bone')} of {sources} converted: {names}; play (Space)"


class AddWind(Edit, Operator):
    """Add Blender's Wind: it blows on the links of all chains along its arrow. Turn it, key its strength; other force
    fields (Add menu, Force Field) act as well"""

    bl_idname = "condyle.add_wind"
    bl_label = "Add Wind"

    strength: number("Strength [m/s²]", "10 pushes as hard as gravity", default=10.0, soft_max=50.0)

    def change(self, context: Context) -> str:
        active = references.active_body(context)
        place = context.scene.cursor.location if active is None else active.matrix.translation
        name = chains.add_wind(context.scene, place, self.strength).name
        links = [each for each in chains.sprung(references.bodies_of(context.scene)) if each.data.body.fields]
        return f"{name} added: it blows on {counted(len(links) or 'no', 'link')} of chains, along its arrow"


class CopyToSelected(Change, Operator):
    """Give all selected links of chains the active one's frequency, damping, gravity and drag, and all selected
    colliders its friction, bounce, thickness and groups"""

    bl_idname = "condyle.copy_to_selected"
    bl_label = "Copy to Selected"
    needs = _any_selected

    @classmethod
    def why_not(cls, context: Context) -> str:
        active = references.active_body(context)
        if active is None or not (chains.sprung([active]) or active.data.collider.enabled):
            return "The active bone or object is no link of a chain, and no collider: add a chain first"
        return ""

    def execute(self, context: Context) -> set[str]:
        active = references.active_body(context)
        others = [body for body in references.selected_bodies(context) if not references.same(body, active)]
        links = chains.sprung(others) if chains.sprung([active]) else []
        for body in links:
            chains.copy(active.data.body, body.data.body)
        same = [body for body in others if body.data.collider.enabled == active.data.collider.enabled]
        solids = same if active.data.collider.enabled else chains.sprung(same)
        for body in solids:
            colliders.copy(active, body)
        targets = {references.key_of(body) for body in (*links, *solids)}
        self.report({"INFO"}, f"Copied to {len(targets)}")
        return {"FINISHED"} if targets else {"CANCELLED"}


class Mute(Change, Operator):
    """Let the selected bones or objects, their chain, rig or the scene follow their animation, as without Condyle, and
    colliders be passed through; again: simulate them"""

    bl_idname = "condyle.mute"
    bl_label = "Mute"

    scope: choice("Scope", "What to mute", items=SCOPES)

    why_not = unless(
        lambda context: references.carrying_joints(context.scene) or data.colliders_of(context.scene),
        "Nothing in the scene has a joint or is a collider",
    )

    def execute(self, context: Context) -> set[str]:
        scene = context.scene
        bodies = clean_up.bodies_in(scene, references.selected_bodies(context), self.scope)
        keys, solids = {references.key_of(body) for body in bodies}, data.chosen(bodies)
        children = [
            (item, references.resolve(item.condyle.joint.child)) for item in references.carrying_joints(scene)
        ]
        joints = [item for item, child in children if child is not None and references.key_of(child) in keys]
        if not (joints or solids):
            self.report({"ERROR"}, "Nothing that is selected has a joint or is a collider")
            return {"CANCELLED"}
        muted = [joint.condyle.joint.prescribed for joint in joints]
        mute = not all([*muted, *(not body.data.collider.active for body in solids)])
        for joint in joints:
            joint.condyle.joint.prescribed = mute
        for body in solids:
            body.data.collider.active = not mute
        done = f"{counted(len(joints), 'joint')} and {counted(len(solids), 'collider')}"
        self.report({"INFO"}, f"{done} {'muted' if mute else 'in use'}")
        return {"FINISHED"}


class CleanUp(Change, Operator):
    """Take Condyle away: joints, springs, masses, colliders, connections, targets of what is selected, of its chain or
    rig, or all of the scene or file. A bake is freed first, which puts the animation back"""

    bl_idname = "condyle.clean_up"
    bl_label = "Clean Up"

    scope: choice("Scope", "What to take Condyle away from", items=(*SCOPES, FILE))

    why_not = unless(
        lambda context: any(clean_up.has_any(scene) for scene in bpy.data.scenes),
        "The file has nothing of Condyle",
    )

    def execute(self, context: Context) -> set[str]:
        scenes, freed = [context.scene], 0
        if self.scope == "FILE":
            scenes = [scene for scene in bpy.data.scenes if scene.library is None and clean_up.has_any(scene)]
        bodies = clean_up.bodies_in(context.scene, references.selected_bodies(context), self.scope)
        whole = self.scope in {"SCENE", "FILE"}
        if not (bodies or whole):
            self.report({"ERROR"}, "Nothing is selected: choose Scene to take all away")
            return {"CANCELLED"}
        for scene in scenes:
            freed += bake.free_bake(scene) if restoring.is_baked(scene) else 0
            finding_list.forget_bake(scene)
        if whole:
            count = sum(clean_up.clean_scene(scene) for scene in scenes)
        else:
            count = clean_up.clean(context.scene, bodies)
        more = "; the bake is freed, so bake again" if freed and not whole else ""
        self.report({"INFO"}, f"Removed from {counted(count, 'body', 'bodies')}{more}")
        return {"FINISHED"}
