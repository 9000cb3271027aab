"""Rigs with chains, and what a test does to them as an animator would."""

from typing import Any


def rig_with_tail(make: Any, links: int = 4, length: float = 0.1, connect: bool = True) -> Any:
    """An armature with a bone "Hips" and a tail of some links behind it, level, along -y."""
    bones: dict[str, Any] = {"Hips": ((0, 0.2, 1), (0, 0, 1), None)}
    above = "Hips"
    for number in range(links):
        bones[f"Tail.{number}"] = ((0, -length * number, 1), (0, -length * (number + 1), 1), above)
        above = f"Tail.{number}"
    return make.armature("Rig", bones, connect)


def select_bones(rig: Any, *names: str) -> None:
    """Pose mode with these bones selected, the last one active."""
    import bpy

    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        # Blender 5.0 keeps with the pose what is selected
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    rig.data.bones.active = rig.data.bones[names[-1]]


def add_chain(rig: Any, *names: str, **options: Any) -> Any:
    import bpy

    select_bones(rig, *names)
    return bpy.ops.condyle.add_chain(**options)


def tail(rig: Any) -> list[str]:
    """Names of the bones of a tail."""
    return [bone.name for bone in rig.data.bones if bone.name.startswith("Tail")]


#: parts of a human figure: head, tail, part that carries it; names below
FIGURE: dict[str, tuple[Any, Any, str | None]] = {
    "pelvis": ((0, 0, 1.0), (0, 0, 1.1), None),
    "spine": ((0, 0, 1.1), (0, 0, 1.25), "pelvis"),
    "chest": ((0, 0, 1.25), (0, 0, 1.45), "spine"),
    "neck": ((0, 0, 1.45), (0, 0, 1.55), "chest"),
    "head": ((0, 0, 1.55), (0, 0, 1.8), "neck"),
    "clavicle": ((0.03, 0, 1.42), (0.18, 0, 1.42), "chest"),
    "upper_arm": ((0.18, 0, 1.42), (0.45, 0.01, 1.42), "clavicle"),
    "forearm": ((0.45, 0.01, 1.42), (0.7, 0, 1.42), "upper_arm"),
    "hand": ((0.7, 0, 1.42), (0.85, 0, 1.42), "forearm"),
    "thigh": ((0.1, 0, 1.0), (0.1, 0, 0.55), "pelvis"),
    "shin": ((0.1, 0, 0.55), (0.1, 0, 0.1), "thigh"),
    "foot": ((0.1, 0, 0.1), (0.1, -0.15, 0.03), "shin"),
}
#: names of these parts, in this order, with {} for the side, and the sides' names
NAMINGS = {
    "rigify": (
        "spine spine.001 spine.002 spine.004 spine.006 shoulder{} upper_arm{} forearm{} hand{} thigh{} shin{} foot{}",
        (".L", ".R"),
    ),
    "rigify_def": (
        "DEF-spine DEF-spine.001 DEF-spine.002 DEF-spine.004 DEF-spine.006 DEF-shoulder{} DEF-upper_arm{} "
        "DEF-forearm{} DEF-hand{} DEF-thigh{} DEF-shin{} DEF-foot{}",
        (".L", ".R"),
    ),
    "auto_rig_pro": (
        "root.x spine_01.x spine_02.x neck.x head.x shoulder{} arm_stretch{} forearm_stretch{} hand{} thigh_stretch{} "
        "leg_stretch{} foot{}",
        (".l", ".r"),
    ),
    "mixamo": (
        "mixamorig:Hips mixamorig:Spine mixamorig:Spine1 mixamorig:Neck mixamorig:Head mixamorig:{}Shoulder "
        "mixamorig:{}Arm mixamorig:{}ForeArm mixamorig:{}Hand mixamorig:{}UpLeg mixamorig:{}Leg mixamorig:{}Foot",
        ("Left", "Right"),
    ),
    "vrm": (
        "J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_Neck J_Bip_C_Head J_Bip_{}_Shoulder J_Bip_{}_UpperArm "
        "J_Bip_{}_LowerArm J_Bip_{}_Hand J_Bip_{}_UpperLeg J_Bip_{}_LowerLeg J_Bip_{}_Foot",
        ("L", "R"),
    ),
    "unreal": (
        "pelvis spine_01 spine_02 neck_01 head clavicle{} upperarm{} lowerarm{} hand{} thigh{} calf{} foot{}",
        ("_l", "_r"),
    ),
}


def humanoid(make: Any, naming: str, more: dict[str, tuple[Any, Any, str | None]] | None = None) -> Any:
    """An armature of a human figure with bones named as a rig does; more: further bones."""
    names, sides = NAMINGS[naming]
    named = dict(zip(FIGURE, names.split()))
    bones: dict[str, Any] = {}
    for part, (head, tail_end, above) in FIGURE.items():
        for side, sign in zip(sides, (1, -1)) if "{}" in named[part] else (("", 1),):
            ends = [(sign * end[0], *end[1:]) for end in (head, tail_end)]
            bones[named[part].format(side)] = (*ends, above and named[above].format(side))
    return make.armature("Figure", bones | (more or {}))
