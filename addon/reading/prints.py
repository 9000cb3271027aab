"""Fingerprints of all that a simulation reads of a scene: a bake keeps them, and is out of date where others are found.

They are of a snapshot, in which a bake may be in place: settings, channels, keys and meshes count as they are stored,
not as they are evaluated. A line of a value that begins with "@" is the name of an object, which may be renamed; see
`staleness`.
"""

import functools
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from bpy.types import Constraint, Object, PoseBone, Scene

from ..baked import temporarily
from ..blender import compat
from ..curves.rotation_channels import rotation_path
from ..data import colliders, force_fields, references, soft_bodies, stored_texts
from ..data.frame_times import frame_ends
from ..data.joints import FOLLOW_PATH, PRESCRIBED_PATH, slider_names, title_of
from ..data.records import Fields
from ..data.references import Body
from ..data.stored_texts import Prints
from . import carriers as read_carriers
from . import meshes, muscle_points, snapshot
from .own_animation import Animation, Moved, identity, moving, still

#: what changes nothing in a simulation: what is looked at, helpers, results
IDLE = frozenset(
    {
        *(
            "fit",
            "active_frame",
            "active_feedback_law",
            "cache",
            "modifier",
            "driven",
            "follower",
            "switched",
            "label",
            "title",
            "unit",
            "own_curve",
        ),
        *("bone_uid", "output", "statistics", "frame_start", "frame_end", "use_scene_range"),
    }
)
LONGEST = 24
#: what does not move anything; "mute" is "enabled" by another name
UNMOVING = frozenset({"active", "mute", "enabled", "show_expanded", "is_valid", "is_override_data"})
#: where a constraint names a bone or vertex group, the setting that tells of which object
HOLDERS = {"subtarget": "target", "pole_subtarget": "pole_target", "space_subtarget": "space_object"}


def prints(scene: Scene) -> Prints:
    """Fingerprints of all that a simulation of the scene reads."""
    return of(snapshot.take(scene))


def of(scene: Scene) -> Prints:
    """Fingerprints of a snapshot."""
    bodies, carriers = references.bodies_of(scene), _carriers(scene)
    animation = Animation(bodies)
    found: Prints = {"Scene": dict(_of_scene(scene, animation))}
    for item in {each.name_full: each for each in (*carriers, *_frames(scene))}.values():
        found[item.name_full] = dict(_of_item(item, animation, scene))
    for body in bodies:
        found.setdefault(body.name, {}).update(_of_body(body, animation))
    for body in colliders.in_use(scene):
        path = f"{body.path_prefix}condyle.collider."
        solid = _settings(body.data.collider, "Collider: ", animation.moved(body.object), path)
        found.setdefault(body.name, {}).update(solid)
    held = read_carriers.wanted(scene)
    rigs = {body.object.name_full: body.object for body in (*bodies, *held) if body.bone}
    for name, item in rigs.items():
        bones = {body.bone for body in bodies if body.bone and body.object == item}
        above = {body.bone for body in held if body.bone and body.object == item}
        found.setdefault(name, {}).update(_of_rig(item, animation, bones, above))
    parents = _parents([*(body.object for body in bodies), *carriers])
    followers = [joint.condyle.joint.follower for joint in references.joints_of(scene)]
    for item in (*parents, *moving((body.object for body in held), animation)):
        # what sliders move their child by is not looked at while a bake is in place
        ours = item.condyle.frame_of is not None or item in followers
        if item.name_full not in found and not ours:
            found[item.name_full] = dict(_placed(item, item, animation))
    return found


def _carriers(scene: Scene) -> list[Object]:
    """Joints, connections, muscles, wrap objects, soft bodies, colliders and force fields."""
    found = [
        *references.joints_of(scene),
        *references.connections_of(scene),
        *muscle_points.muscles_of(scene),
        *soft_bodies.soft_bodies_of(scene),
    ]
    shaped = (each.condyle.obstacle.enabled or each.condyle.collider.enabled for each in scene.objects)
    found += [item for item, is_shaped in zip(scene.objects, shaped) if is_shaped]
    return found + force_fields.in_use(scene)


def _frames(scene: Scene) -> Iterator[Object]:
    """Control points of joints, what their laws measure, and ends of connections."""
    for joint in references.joints_of(scene):
        settings = joint.condyle.joint
        yield from (row.object for row in settings.frames if row.object is not None)
        measured = (each for law in settings.feedback_laws for each in (law.point, law.origin))
        yield from (each.object for each in measured if each.object is not None and not each.bone_uid)
    for item in scene.objects:
        owner = item.condyle.frame_of if item.type == "EMPTY" else None
        if owner is not None and owner.condyle.connection.enabled:
            yield item


def data_names() -> set[str]:
    """Names of all to which a fingerprint may refer."""
    kinds = (bpy.data.objects, bpy.data.actions, bpy.data.cache_files, bpy.data.movieclips)
    return {each.name_full for kind in kinds for each in kind}


def titles(scene: Scene) -> dict[str, dict[str, str]]:
    """By joints, what people read for the coordinates that labels of fingerprints name."""
    return {
        item.name_full: {row.label: title_of(row) for row in item.condyle.joint.coordinates}
        for item in references.joints_of(scene)
    }


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
    yield stored_texts.LOOKED_AT
    yield "Unit Scale", f"{scene.unit_settings.scale_length:.7g}"
    yield "Frame Rate", f"{scene.render.fps / scene.render.fps_base:.7g}"
    if scene.condyle.start.begin != "PLAYHEAD":
        yield "Frames", str(frame_ends(scene))


def _of_item(item: Object, animation: Animation, scene: Scene) -> Iterator[tuple[str, str]]:
    """Of a joint, connection, muscle, obstacle, soft body or control frame."""
    moved = animation.moved(item)
    for name in ("joint", "connection", "muscle", "obstacle", "soft"):
        group = getattr(item.condyle, name)
        if group.enabled:
            yield from _settings(group, "", moved, f"condyle.{name}.")
    if force_fields.kind_of(item):
        yield from _settings(item.field, "Field: ", moved, "field.")
    if item.condyle.joint.enabled and _reads_sliders(scene, item, moved):
        yield from _sliders(item, moved)
    yield from _placed(item, item, animation)
    if item.condyle.soft.enabled:
        yield "Mesh", _hash([item], lambda each: meshes.stored_vertices(each).astype(np.float32))
    if item.type == "CURVE":
        yield "Points", _hash(muscle_points.own_curve(item).splines[:1], _points)
        hooks = (each for each in item.modifiers if each.type == "HOOK" and each.object)
        for number, each in enumerate(sorted(hooks, key=lambda hook: hook.name), 1):
            yield f"Hook {number}", f"@{each.object.name_full}\n{identity(each.object, each.subtarget)}"


def _reads_sliders(scene: Scene, item: Object, moved: Moved) -> bool:
    """Whether a simulation reads the sliders of a joint: it starts from there, or may follow them."""
    joint = item.condyle.joint
    source = scene.condyle.start.source if joint.start_from == "SCENE" else joint.start_from
    follows = joint.prescribed or joint.follow > 0.0 or joint.controller.enabled
    switched = {PRESCRIBED_PATH, FOLLOW_PATH} & moved.keys()
    return joint.driven and (source != "SETTINGS" or follows or bool(switched))


def _sliders(item: Object, moved: Moved) -> Iterator[tuple[str, str]]:
    """Values of a joint's sliders that are of no frame: neither without the bake nor with it are they animated. A click
    puts back what the interface has of such a double in single precision.
    """
    shown = {curve.data_path for curve in compat.curves_in_use(item)}
    for row, name in zip(item.condyle.joint.coordinates, slider_names(item.condyle.joint)):
        path = f'["{bpy.utils.escape_identifier(name)}"]'
        if path not in moved and path not in shown and isinstance(item.get(name), float):
            yield f"{row.label}: Slider", _text(float(np.float32(item[name])))


def _points(spline: Any) -> np.ndarray:
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
        yield "Mesh", _hash([shape], lambda each: meshes.stored_vertices(each).astype(np.float32))


def _of_rig(
    item: Object, animation: Animation, bodies: set[str], others: set[str]
) -> Iterator[tuple[str, str]]:
    """Of an armature of which these bones are bodies, and others carry something or are touched."""
    yield from _placed(item, item, animation)
    known = bodies | others
    above = {parent.name for name in known for parent in item.pose.bones[name].parent_recursive}
    above = (above | others) - bodies
    moved, posed, acting = animation.moved(item), list[str](), list[tuple[Constraint, str]]()
    for bone in item.pose.bones:
        if bone.name in above:
            posed += [value for _, value in _channels(bone, moved, f"{bone.path_from_id()}.")]
        # a chain that inverse kinematics bend may hold bodies that are further up
        if bone.name not in bodies:
            kinds = None if bone.name in above else ("IK", "SPLINE_IK")
            acting += [(each, bone.name) for each in bone.constraints if kinds is None or each.type in kinds]
    yield from _constraints("Constraint Settings of Bones", item, acting, moved)
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
    yield from _constraints("Constraint Settings", item, [(each, "") for each in owner.constraints], moved)
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
    is_quaternion = item.rotation_mode == "QUATERNION"
    turn = "delta_rotation_quaternion" if is_quaternion else "delta_rotation_euler"
    none, one = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    for path, called, usual in (
        ("delta_location", "Location", none),
        (turn, "Rotation", one if is_quaternion else none),
        ("delta_scale", "Scale", (1.0, 1.0, 1.0)),
    ):
        value, plain = (still(tuple(each), moved.get(path)) for each in (getattr(item, path), usual))
        if value != plain:
            yield f"Delta {called}", _text(value)


def _constraints(
    label: str, item: Object, constraints: Iterable[tuple[Constraint, str]], moved: Moved
) -> Iterator[tuple[str, str]]:
    """One fingerprint of the constraints of an item, and of its bones of these names, that act, but for those by which
    a joint's slider moves its child. moved: paths that are animated on the item.
    """
    values, aims = list[str](), list[str]()
    for constraint, bone in constraints:
        path = constraint.path_from_id()
        switched = f"{path}.mute" in moved or f"{path}.enabled" in moved
        if constraint.name.startswith("Condyle") or (temporarily.is_muted(constraint) and not switched):
            continue
        values += [constraint.type, identity(item, bone)]
        for name, text in _settings(constraint, "", moved, f"{path}."):
            aims += [text] if text.startswith("@") else []
            values += [name, "" if text.startswith("@") else text]
    if values:
        made = hashlib.sha1("\n".join(values).encode(), usedforsecurity=False).hexdigest()[:12]
        yield label, "\n".join([made, *aims])


@functools.cache
def _watched(fields: Fields, idle: frozenset[str]) -> list[tuple[str, str, str, Any, str]]:
    """Name, label, kind, and value where it was never set, also in short, of what a simulation may read."""
    return [
        (
            *(each.name, each.label, each.how, each.plain),
            "" if each.how in {"POINTER", "COLLECTION"} else _text(each.plain),
        )
        for each in fields.rows
        if each.name != "name" and each.name not in idle
    ]


def _settings(group: Any, label: str, moved: Moved, path: str = "") -> Iterator[tuple[str, str]]:
    """Settings of a group that are not as they would be if they had never been set, by what the panel calls them; not
    those that are animated.
    """
    if not (moved or group.names_set):
        return
    for name, called, kind, usual, plain in _watched(
        group.declared, UNMOVING if hasattr(group, "path") else IDLE
    ):
        if not moved and name not in group.names_set:
            continue
        value = getattr(group, name)
        if kind == "PLAIN" and value == usual:
            continue
        value = still(value, moved.get(f"{path}{name}"))
        if kind == "POINTER":
            if hasattr(value, "declared"):
                yield from _settings(value, f"{label}{called}: ", moved, f"{path}{name}.")
            elif value is not None:
                yield f"{label}{called}", f"@{value.name_full}"
        elif kind == "COLLECTION":
            if value:
                yield f"Number of {label}{called}", str(len(value))
            for index, entry in enumerate(value):
                number = getattr(entry, "label", "") or str(index + 1)
                yield from _settings(entry, f"{label}{number}: ", moved, f"{path}{name}[{index}].")
        elif value is not None:
            text = _text(value)
            if text == plain or (text, plain) == ("-0", "0"):  # a slider that is dragged back from below
                continue
            if name == "bone_name":  # which bone it is, whatever it is called
                meant = references.resolve(group)
                text = text if meant is None else _text(identity(meant.object, meant.bone))
            elif name in HOLDERS:
                text = _text(identity(getattr(group, HOLDERS[name], None), value))
            yield f"{label}{called}", text


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.7g}"
    if hasattr(value, "__len__") and not isinstance(value, (str, set)):
        return _short(" ".join([f"{each:.7g}" if type(each) is float else _text(each) for each in value]))
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
