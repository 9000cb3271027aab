"""Whether a bake is out of date, and why: fingerprints of what it read, kept with it, against those of now.

Nothing is evaluated for it: settings, channels, keys and meshes are looked at as they are stored.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from bpy.types import Mesh, Object, PoseBone, Property, Scene, Spline

from ..animation import follow_weights
from ..baked import channels_back
from ..baking import write
from ..blender import compat
from ..curves.rotation_channels import rotation_path
from ..data import findings, references, stored_texts
from ..data.joints import slider_names
from ..data.properties import shown_by
from ..data.references import Body
from ..data.simulation import frame_ends
from ..reading import carriers as read_carriers
from ..reading import muscle_points
from . import constraints, leading, names
from .animation import Animation, Moved, still
from .names import Plain, Prints

#: what changes nothing in a simulation: what is looked at, helpers, results
IDLE = {
    "fit",
    "active_frame",
    "driven",
    "follower",
    "label",
    "title",
    "unit",
    "own_curve",
    "bone_uid",
    "output",
    "statistics",
    "frame_start",
    "frame_end",
    "use_scene_range",
}
LONGEST = 24
MINUS_ZERO = {"0": "-0"}  # a slider that is dragged back from below may end there
#: kept with the prints, so that those of a bake by an earlier version are not compared with what it did not look at
LOOKED_AT = "What Is Looked At", "5"
#: marks what moves something that a simulation follows, and is nothing of the simulation itself
LEADS = "Leads", "yes"
SINCE = (constraints.LABEL, "Delta ", "Keys", "Drivers", "Slider ", "Pose", "Hook")
#: that says nothing where the channel is animated: earlier versions looked at it all the same
STILL = {"Location", "Rotation", "Scale"}
#: of a scene whose bodies another scene has baked since
ELSEWHERE = "Motion, baked in another scene,"


def prints(scene: Scene) -> Prints:
    """Fingerprints of all that a simulation of the scene reads."""
    joints, bodies = references.joints_of(scene), references.bodies_of(scene)
    others = [item for item in scene.objects if item.condyle.obstacle.enabled]
    carriers = [*joints, *references.connections_of(scene), *muscle_points.muscles_of(scene), *others]
    frames = [row.object for item in joints for row in item.condyle.joint.frames if row.object is not None]
    ends = [item for item in scene.objects if item.type == "EMPTY" and item.condyle.frame_of is not None]
    animation = Animation(bodies)
    found: Prints = {"Scene": dict(_of_scene(scene, animation))}
    for item in {each.name_full: each for each in (*carriers, *frames, *ends)}.values():
        found[item.name_full] = dict(_of_item(item, animation, scene))
    for body in bodies:
        found.setdefault(body.name, {}).update(_of_body(body, animation))
    held = read_carriers.wanted(scene)
    rigs = {body.object.name_full: body.object for body in (*bodies, *held) if body.bone}
    for name, item in rigs.items():
        bones = {body.bone for body in bodies if body.bone and body.object == item}
        above = {body.bone for body in held if body.bone and body.object == item}
        found.setdefault(name, {} if bones else dict([LEADS])).update(_of_rig(item, animation, bones, above))
    parents = _parents([*(body.object for body in bodies), *carriers])
    for item in {each.name_full: each for each in parents}.values():
        if item.name_full not in found:
            found[item.name_full] = dict(_placed(item, item, animation))
    for item in leading.of((body.object for body in held), animation):
        if item.name_full not in found:
            found[item.name_full] = dict([LEADS, *_placed(item, item, animation)])
    return found


def _parents(items: Iterable[Object]) -> Iterator[Any]:
    for item in items:
        while item.parent is not None:
            item = item.parent
            yield item


def _of_scene(scene: Scene, animation: Animation) -> Iterator[tuple[str, str]]:
    moved = animation.moved(scene)
    yield from _settings(scene.condyle.simulation, "", moved, "condyle.simulation.")
    yield from _settings(scene.condyle.start, "", moved, "condyle.start.")
    yield from _animated(scene, animation)
    yield LOOKED_AT
    yield "Unit Scale", f"{scene.unit_settings.scale_length:.7g}"
    yield "Frame Rate", f"{scene.render.fps / scene.render.fps_base:.7g}"
    if scene.condyle.start.begin != "PLAYHEAD":
        yield "Frames", str(frame_ends(scene))


def _of_item(item: Object, animation: Animation, scene: Scene) -> Iterator[tuple[str, str]]:
    """Of a joint, connection, muscle, obstacle or control frame."""
    moved = animation.moved(item)
    for name in ("joint", "connection", "muscle", "obstacle"):
        group = getattr(item.condyle, name)
        if group.enabled:
            yield from _settings(group, "", moved, f"condyle.{name}.")
    if item.condyle.joint.enabled and _reads_sliders(scene, item, moved):
        yield from _sliders(item, moved)
    yield from _placed(item, item, animation)
    if item.type == "CURVE":
        yield "Points", _hash(muscle_points.own_curve(item).splines[:1], _points)
        hooks = (each for each in item.modifiers if each.type == "HOOK" and each.object)
        for number, each in enumerate(sorted(hooks, key=lambda hook: hook.name), 1):
            bone = constraints.identity(each.object, each.subtarget)
            yield f"Hook {number}", f"@{each.object.name_full}\n{bone}"


def _reads_sliders(scene: Scene, item: Object, moved: Moved) -> bool:
    """Whether a simulation reads the sliders of a joint: it starts from there, or may follow them."""
    joint = item.condyle.joint
    source = scene.condyle.start.source if joint.start_from == "SCENE" else joint.start_from
    follows = joint.prescribed or joint.follow > 0.0 or joint.controller.enabled
    switched = {follow_weights.PATH, follow_weights.WEIGHT_PATH} & moved.keys()
    return joint.driven and (source != "SETTINGS" or follows or bool(switched))


def _sliders(item: Object, moved: Moved) -> Iterator[tuple[str, str]]:
    """Values of a joint's sliders that are of no frame: neither without the bake nor with it are they animated."""
    shown = {curve.data_path for curve in compat.curves_in_use(item)}
    for row, name in zip(item.condyle.joint.coordinates, slider_names(item.condyle.joint)):
        path = f'["{bpy.utils.escape_identifier(name)}"]'
        if path not in moved and path not in shown and isinstance(item.get(name), float):
            yield f"Slider {row.label}", _text(item[name])


def _points(spline: Spline) -> np.ndarray:
    values = np.empty(4 * len(spline.points), dtype=np.float32)
    spline.points.foreach_get("co", values)
    return values


def _of_body(body: Body, animation: Animation) -> Iterator[tuple[str, str]]:
    settings = body.data.body
    moved = animation.moved(body.object)
    yield from _settings(settings, "", moved, f"{body.path_prefix}condyle.body.")
    yield from _placed(body.owner, body.object, animation, body.path_prefix)
    shape = settings.shape or (body.object if not body.bone else None)
    if settings.mass_source == "MESH" and shape is not None and shape.type == "MESH":
        yield "Mesh", _hash([shape.data], _vertices)


def _vertices(mesh: Mesh) -> np.ndarray:
    values = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", values)
    return values


def _of_rig(
    item: Object, animation: Animation, bodies: set[str], others: set[str]
) -> Iterator[tuple[str, str]]:
    """Of an armature of which these bones are bodies, and others carry something or are touched."""
    yield from _placed(item, item, animation)
    known = bodies | others
    above = {parent.name for name in known for parent in item.pose.bones[name].parent_recursive}
    above = (above | others) - bodies
    moved, posed = animation.moved(item), []
    for bone in item.pose.bones:
        if bone.name in above:
            posed += [value for _, value in _channels(bone, moved, f"{bone.path_from_id()}.")]
        # a chain that inverse kinematics bend may hold bodies that are further up
        acting = [each for each in bone.constraints if bone.name in above or each.type in {"IK", "SPLINE_IK"}]
        if acting and bone.name not in bodies:
            yield from constraints.of(item, acting, moved, bone)
    if posed:
        yield "Pose", _short(" ".join(posed))
    yield "Rest Pose", _hash(item.data.bones, lambda bone: np.array(bone.matrix_local, dtype=np.float32))


def _placed(
    owner: Object | PoseBone, item: Object, animation: Animation, prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Where an object or bone is put, and its keys."""
    yield from _animated(item, animation, prefix)
    moved = animation.moved(item)
    yield from _channels(owner, moved, prefix)
    record = owner.condyle.channels
    if record.baked and record.rotation_mode not in ("", owner.rotation_mode):
        yield "Rotation Mode", owner.rotation_mode  # the baked keys are of another
    if not prefix:
        yield from _deltas(item, moved)
    yield from constraints.of(item, owner.constraints, moved)
    if item.parent is not None and not prefix:
        yield "Parent", f"@{item.parent.name_full}\n{_hash([item.matrix_parent_inverse], np.array)}"


def _channels(owner: Object | PoseBone, moved: Moved, prefix: str) -> Iterator[tuple[str, str]]:
    """Channels of an object or bone, but for numbers that are animated, as they are when no bake is in place."""
    record = owner.condyle.channels
    before = record if record.baked else owner
    mode = before.rotation_mode or owner.rotation_mode
    for path, source in (("location", before), (rotation_path(mode), before), ("scale", owner)):
        value = still(tuple(getattr(source, path)), moved.get(f"{prefix}{path}"))
        if value is not None:
            yield path.split("_")[0].title(), _text(value)


def _animated(item: Object | Scene, animation: Animation, prefix: str = "") -> Iterator[tuple[str, str]]:
    """What animates an object, a bone or the scene."""
    for label, made in (("Keys", animation.keys(item, prefix)), ("Drivers", animation.drivers(item, prefix))):
        if made:
            yield label, made


def _deltas(item: Object, moved: Moved) -> Iterator[tuple[str, str]]:
    """Transforms that are added to an object's channels, where there are any."""
    turn = "delta_rotation_quaternion" if item.rotation_mode == "QUATERNION" else "delta_rotation_euler"
    for path, called in (("delta_location", "Location"), (turn, "Rotation"), ("delta_scale", "Scale")):
        value, plain = (
            still(tuple(each), moved.get(path))
            for each in (getattr(item, path), item.bl_rna.properties[path].default_array)
        )
        if value != plain:
            yield f"Delta {called}", _text(value)


@functools.cache
def _watched(kind: type[bpy.types.bpy_struct]) -> list[tuple[str, str, str, str]]:
    """Identifier, name, type and default, in short, of the properties of a kind of group that a simulation may read."""
    found = kind.bl_rna.properties
    return [
        (item.identifier, item.name, item.type, _default(item))
        for item in found
        if item.identifier not in {"rna_type", "name"} | IDLE
        and shown_by(item.identifier) not in found  # that one shows it in the user's units
    ]


def _default(item: Property) -> str:
    """Print of a property's value where it was never set."""
    if item.type in {"POINTER", "COLLECTION"}:
        return ""
    if getattr(item, "is_array", False):
        return _text(tuple(item.default_array))
    return _text(item.default_flag if getattr(item, "is_enum_flag", False) else item.default)


def _settings(group: Any, label: str, moved: Moved, path: str = "") -> Iterator[tuple[str, str]]:
    """Settings of a group that were ever set, by what the panel calls them; not those that are animated.

    One that is as it would be if it had never been set is `Plain`: touching it changes nothing.
    """
    for name, called, kind, plain in _watched(type(group)):  # type: ignore[arg-type]  # classes are hashable
        value = still(getattr(group, name), moved.get(f"{path}{name}"))
        if kind == "POINTER":
            if isinstance(value, bpy.types.PropertyGroup):
                yield from _settings(value, f"{label}{called}: ", moved, f"{path}{name}.")
            elif value is not None:
                yield f"{label}{called}", f"@{value.name_full}"
        elif kind == "COLLECTION":
            yield f"{names.NUMBER}{label}{called}", Plain(len(value))
            for index, entry in enumerate(value):
                number = getattr(entry, "label", "") or str(index + 1)
                yield from _settings(entry, f"{label}{number}: ", moved, f"{path}{name}[{index}].")
        elif value is not None and group.is_property_set(name):
            text = _text(value)
            kept = Plain if text in (plain, MINUS_ZERO.get(plain)) else str
            if name == "bone_name":  # which bone it is, whatever it is called
                meant = references.resolve(group)
                text = text if meant is None else _text(constraints.identity(meant.object, meant.bone))
            yield f"{label}{called}", kept(text)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.7g}"
    if hasattr(value, "__len__") and not isinstance(value, (str, set)):
        return _short(" ".join(_text(each) for each in value))
    return _short(str(sorted(value)) if isinstance(value, set) else str(value))


def _short(text: str) -> str:
    return (
        text if len(text) <= LONGEST else hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]
    )


def _hash(items: Iterable[Any], arrays: Any) -> str:
    made = hashlib.sha1(usedforsecurity=False)
    for item in items:
        made.update(np.ascontiguousarray(arrays(item)).tobytes())
    return made.hexdigest()[:12]


def note(scene: Scene, before: Prints, at_writing: Prints) -> None:
    """Keep with a bake what it read: as things are now, but for what the user changed while it was computed.

    before, at_writing: prints when the scene was read, and just before the bake was written.
    """
    now = prints(scene)
    for owner in before.keys() & at_writing.keys() & now.keys():
        for label in names.different(before[owner], at_writing[owner]):
            now[owner].pop(label, None)
            if label in before[owner]:
                now[owner][label] = before[owner][label]
    for owner in before.keys() - at_writing.keys():  # removed meanwhile, or renamed
        now[owner] = before[owner]
    for owner in at_writing.keys() - before.keys():
        now.pop(owner, None)
    scene.condyle.simulation.output.read = _packed(now)
    _note_elsewhere(scene)


def _note_elsewhere(scene: Scene) -> None:
    """Other scenes with the same bodies (linked copies) show this bake now, and theirs no longer."""
    baked = {body.name for item in scene.objects for body in channels_back.baked_bodies(item)}
    for other in bpy.data.scenes:
        output = other.condyle.simulation.output
        if other == scene or other.library is not None or not output.read:
            continue
        kept = stored_texts.prints(output.read)
        if kept is not None and baked & kept.keys():
            kept["Scene"][ELSEWHERE] = "yes"
            output.read = _packed(kept)


def _packed(found: Prints) -> str:
    kept = {owner: names.telling(entries) for owner, entries in found.items()}
    return json.dumps(kept, separators=(",", ":"), ensure_ascii=False)


def changes(scene: Scene) -> list[findings.Finding]:
    """What has changed since the bake that is in place, one for each thing; empty: it is up to date, or none is."""
    kept = scene.condyle.simulation.output.read
    if not kept or not write.is_baked(scene):
        return []
    broken, old = [*write.gone(scene), *write.broken(scene)], stored_texts.prints(kept)
    return broken if old is None else [*broken, *_changed(scene, old, prints(scene))]


def _changed(scene: Scene, old: Prints, new: Prints) -> Iterator[findings.Finding]:
    """A finding for each thing that is another in these prints of now than in those of a bake."""
    name, number = LOOKED_AT
    if old["Scene"].get(name) != number:
        old["Scene"][name] = number
        old, new = _of_earlier(old, new), _of_earlier(new, old)
    renamed = names.owners(old, new)
    if renamed:
        old = {
            renamed.get(owner, owner): {
                label: names.called(value, renamed) for label, value in entries.items()
            }
            for owner, entries in old.items()
        }
    for owner in [*old, *(owner for owner in new if owner not in old)]:
        if owner not in new:
            yield findings.about(None, "gone-since-bake", owner=owner)
        elif owner not in old:
            yield findings.about(None, "new-since-bake", owner=owner)
        else:
            now = names.as_kept(new[owner], old[owner])
            labels = names.different(names.constraints_as_now(old[owner], now), now)
            if labels:
                titles = names.titles(scene, owner)
                spoken = ", ".join(names.spoken(label, titles) for label in labels)
                yield findings.about(None, "changed-since-bake", owner=owner, what=spoken)


def _of_earlier(these: Prints, others: Prints) -> Prints:
    """What one of two prints by different versions has that the other version looked at as well."""
    return {
        owner: {
            label: value
            for label, value in entries.items()
            if not label.startswith(SINCE)
            and not label.endswith(": Bone")
            and not (label in STILL and label not in others.get(owner, {}))
        }
        for owner, entries in these.items()
        if LEADS[0] not in entries
    }
