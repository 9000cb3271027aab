"""All animation of a file as plain values, to the bit: what a bake must leave alone and Free Bake put back."""

import bpy

KEY = (
    *("interpolation", "easing", "type", "handle_left_type", "handle_right_type", "amplitude"),
    *("back", "period"),
)


def curve_state(curve):
    keys = [
        (
            [getattr(key, name) for name in KEY],
            [tuple(getattr(key, name)) for name in ("co", "handle_left", "handle_right")],
        )
        for key in curve.keyframe_points
    ]
    modifiers = [(each.type, each.mute) for each in curve.modifiers]
    group = curve.group.name if curve.group else None
    return curve.data_path, curve.array_index, curve.mute, curve.extrapolation, group, modifiers, keys


def bags(action):
    """(slot, curves, names of groups) of an action."""
    if not hasattr(action, "slots"):
        return [("", action.fcurves, [group.name for group in action.groups])]
    return [
        (bag.slot.identifier, bag.fcurves, [group.name for group in bag.groups])
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
    ]


def action_state(action):
    slots = [slot.identifier for slot in action.slots] if hasattr(action, "slots") else []
    return (
        slots,
        action.use_fake_user,
        [(slot, names, sorted(curve_state(each) for each in curves)) for slot, curves, names in bags(action)],
    )


def strip_state(strip):
    names = (
        *("name", "blend_type", "extrapolation", "influence", "use_animated_influence", "mute"),
        *("scale", "repeat"),
    )
    ends = (strip.frame_start, strip.frame_end, strip.action_frame_start, strip.action_frame_end)
    action = strip.action.name if strip.action else None
    return (
        [getattr(strip, name) for name in names],
        ends,
        action,
        slot_id(getattr(strip, "action_slot", None)),
    )


def slot_id(slot):
    return slot.identifier if slot is not None else None


def animation_state(data):
    if data is None:
        return None
    tracks = [
        (track.name, track.mute, track.lock, [strip_state(strip) for strip in track.strips])
        for track in data.nla_tracks
    ]
    own = [data.action_blend_type, data.action_extrapolation, data.action_influence, data.use_nla]
    action = data.action.name if data.action else None
    return action, slot_id(getattr(data, "action_slot", None)), own, tracks, len(data.drivers)


def file_digest(leave_out=()):
    """All animation, transforms and custom properties of the file, as plain values."""
    owners = [
        *bpy.data.objects,
        *bpy.data.scenes,
        *bpy.data.materials,
        *bpy.data.shape_keys,
        *bpy.data.worlds,
    ]
    found = {
        "actions": {action.name: action_state(action) for action in bpy.data.actions},
        "animation": {(each.id_type, each.name): animation_state(each.animation_data) for each in owners},
        "counts": [len(getattr(bpy.data, name)) for name in ("objects", "curves", "meshes", "materials")],
    }
    for item in bpy.data.objects:
        posed = [item, *(item.pose.bones if item.pose else ())]
        found[item.name] = [
            (each.rotation_mode, tuple(each.location), tuple(each.rotation_euler), tuple(each.scale))
            + (
                tuple(each.rotation_quaternion),
                tuple(each.rotation_axis_angle),
                sorted(set(each.keys()) - {"condyle"}),
            )
            for each in posed
        ]
    for scene in bpy.data.scenes:
        found[("scene", scene.name)] = sorted(set(scene.keys()) - {"condyle"})
    return found
