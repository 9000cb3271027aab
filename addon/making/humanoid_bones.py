"""Which bones of a rig are which parts of a human figure, by the names that rigs give them.

Known are Rigify (its metarig and DEF bones), Auto-Rig Pro, Mixamo, and VRM with names as VRoid's; others that name
bones likewise are found, too.
"""

import re
from dataclasses import dataclass
from functools import partial

from bpy.types import Bone, Object

from ..blender import compat
from ..data import references
from ..data.references import Body, key_of
from ..reading import conflicts

SIDES = {"l": "L", "r": "R", "left": "L", "right": "R"}
#: prefixes and suffixes that say nothing of the part
FILLERS = {"def", "org", "j", "bip", "mixamorig", "stretch", "x", "c", "b", "bn", "bone"}
#: parts by their names without side, fillers and numbers; of two that a rig has the one that is listed first
PARTS = {
    "pelvis": ("pelvis", "hips", "hip", "root"),
    "spine": ("spine", "chest", "upperchest", "waist", "abdomen", "torso"),
    "neck": ("neck",),
    "head": ("head",),
    "clavicle": ("shoulder", "clavicle", "collar"),
    "upper_arm": ("upperarm", "uparm", "arm"),
    "forearm": ("forearm", "lowerarm", "loarm"),
    "hand": ("hand", "wrist"),
    "thigh": ("thigh", "upleg", "upperleg"),
    "shin": ("shin", "calf", "lowerleg", "leg"),
    "foot": ("foot", "ankle"),
}
PART_OF = {name: part for part, names in PARTS.items() for name in names}
SIDED = {"clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot"}
#: candidates for the parent of each part: the first of these that the rig has, on its own side
CARRIERS = {
    "spine": ("pelvis",),
    "neck": ("spine", "pelvis"),
    "head": ("neck", "spine", "pelvis"),
    "clavicle": ("spine", "pelvis"),
    "upper_arm": ("clavicle", "spine", "pelvis"),
    "forearm": ("upper_arm",),
    "hand": ("forearm",),
    "thigh": ("pelvis",),
    "shin": ("thigh",),
    "foot": ("shin",),
}
#: without these it is no human figure
NEEDED = ("pelvis", "head", "upper_arm", "forearm", "thigh", "shin")


PREFIX = re.compile("^(DEF|ORG|MCH)-")


@dataclass(frozen=True)
class Part:
    """A bone of a human figure. side: "L", "R" or empty. carrier: name of its parent part's bone; empty: none."""

    name: str
    part: str
    side: str
    carrier: str


def meaning(name: str) -> tuple[str, str]:
    """Part of a human figure and side that a bone's name tells; both empty where it tells none."""
    words = _words(name)
    sides = [SIDES[word] for word in words if word in SIDES]
    part = PART_OF.get(_telling(words), "")
    if part == "" or (part in SIDED) != (len(sides) == 1):
        return "", ""
    return part, sides[0] if sides else ""


def _words(name: str) -> list[str]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name.rpartition(":")[2])
    return [word.lower() for word in words]


def _telling(words: list[str]) -> str:
    return "".join(word for word in words if word not in SIDES | dict.fromkeys(FILLERS))


def _rank(part: str, bone: Bone) -> tuple[int, int]:
    """The least of the bones that one part may be: a root's below hips, and the nearest to the armature's root."""
    names = PARTS[part] if part not in {"spine", "neck"} else ()
    name = _telling(_words(bone.name))
    return names.index(name) if name in names else 0, len(bone.parent_recursive)


def parts(rig: Object) -> list[Part]:
    """The parts of a human figure that an armature has, each after its carrier; empty: it is no human figure.

    Of several bones that could be a part (twists, ends, controls), the one is taken that is named most plainly, and of
    these nearest to the root, of the kind (Rigify's DEF, other prefixes) that has the most parts.
    """
    kinds: dict[str, dict[tuple[str, str], list[Bone]]] = {}
    for bone in rig.data.bones:
        part, side = meaning(bone.name)
        if part:
            kind = bone.name.partition("-")[0] if bone.name.startswith(("DEF-", "ORG-", "MCH-")) else ""
            kinds.setdefault(kind, {}).setdefault((part, side), []).append(bone)
    found = max(kinds.values(), key=len, default={})
    if ("pelvis", "") not in found:
        found = _by_numbers(found)
    if any((part, side) not in found for part in NEEDED for side in _sides(part)):
        return []
    chosen = {key: sorted(bones, key=partial(_rank, key[0])) for key, bones in found.items() if bones}
    made: list[Part] = []
    for part in PARTS:
        for side in _sides(part):
            bones = chosen.get((part, side), [])
            for number, bone in enumerate(bones if part in {"spine", "neck"} else bones[:1]):
                above = bones[number - 1].name if number else _carrier(chosen, part, side)
                made.append(Part(bone.name, part, side, above))
    return made


def companions(rig: Object, limbs: list[Part]) -> dict[str, str]:
    """The other bones that deform the skin and would stay behind, each with its limb: they are not below that, or have
    constraints to what stays. Whose a bone is its parents tell, whatever kind (Rigify's DEF, ORG) they are of.
    """
    names, found = {PREFIX.sub("", each.name): each.name for each in limbs}, dict[str, str]()
    along = {each.name for each in limbs}
    keys = {key_of(Body(rig, name)) for name in along}
    for bone in rig.data.bones:  # parents come first
        acting = (each for each in rig.pose.bones[bone.name].constraints if compat.acts(rig, each))
        held = (body for each in acting for body in references.looked_at(each))
        is_led = bone.parent is not None and bone.parent.name in along
        if bone.name in along:
            continue
        if is_led and all(conflicts.simulated_behind([body], keys) is not None for body in held):
            along.add(bone.name)
        elif bone.use_deform:
            above = (PREFIX.sub("", each.name) for each in (bone, *bone.parent_recursive))
            limb = next((names[each] for each in above if each in names), "")
            if limb:
                found[bone.name] = limb
                along.add(bone.name)
    return found


def _sides(part: str) -> tuple[str, ...]:
    return ("L", "R") if part in SIDED else ("",)


def _by_numbers(found: dict[tuple[str, str], list[Bone]]) -> dict[tuple[str, str], list[Bone]]:
    """The same with pelvis, neck and head, which Rigify calls spine, spine.004 and .005, and spine.006."""
    made = {key: list(bones) for key, bones in found.items() if key != ("spine", "")}
    for bone in found.get(("spine", ""), ()):
        digits = re.search(r"(\d+)$", bone.name)
        number = int(digits.group()) if digits else 0
        part = "pelvis" if number == 0 else "spine" if number < 4 else "neck" if number < 6 else "head"
        made.setdefault((part, ""), []).append(bone)
    return made


def _carrier(chosen: dict[tuple[str, str], list[Bone]], part: str, side: str) -> str:
    """Name of the carrier of a part's first bone."""
    for above in CARRIERS.get(part, ()):
        bones = chosen.get((above, side if above in SIDED else ""))
        if bones:
            return bones[-1 if above in {"spine", "neck"} else 0].name
    return ""
