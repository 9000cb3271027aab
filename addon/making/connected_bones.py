"""Finds connected bones that joints move away from their parent's tail; only a bake can disconnect them.

Blender keeps the head of a connected bone at its parent's tail, whatever keys or a slider's constraints say.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from bpy.types import Object, Scene

from ..baked import channels_back
from ..blender import physics_access, units
from ..data import findings, references
from ..data.findings import Finding
from ..data.references import Body
from ..reading import scene as scene_to_model
from ..sliders import sliders

# Samples of each coordinate for the distance of a connected bone from its parent's tail, and its tolerance as a share
# of the bone's length.
LOOKS, CONNECTED = 17, 1e-3


def check(scene: Scene) -> Iterator[Finding]:
    """Findings: connected bones that make a bake fail, or that sliders show at another place than a bake will."""
    for item in references.joints_of(scene):
        child = _connected_child(item)
        if child is None or not (away := _away(scene, item, child)):
            continue
        if not _is_disconnected_by_bakes(scene, child):
            yield _about("connected-bone", item, child, away)
        elif item.condyle.joint.driven:
            yield _shown_off(item, child, away)


def told(scene: Scene, joints: Iterable[Object]) -> str:
    """Message about sliders that show connected bones at a wrong place; empty if there are none."""
    lines = []
    for item in joints:
        child = _connected_child(item)
        if child is not None and (away := _away(scene, item, child)):
            lines.append(_shown_off(item, child, away).text)
    more = f"; and {len(lines) - 1} more, see Check Scene" if len(lines) > 1 else ""
    return "".join([*lines[:1], more])


def _shown_off(item: Object, child: Body, away: str) -> Finding:
    is_linked = channels_back.is_armature_linked(child.object)
    return _about("connected-bone-linked" if is_linked else "connected-bone-shown", item, child, away)


def _about(code: str, item: Object, child: Body, away: str) -> Finding:
    remedy = channels_back.how_to_disconnect(child)
    return findings.about(child, code, bone=child.name, joint=item.name, distance=away, remedy=remedy)


def _is_disconnected_by_bakes(scene: Scene, child: Body) -> bool:
    allowed = scene.condyle.simulation.disconnect_bones
    return bool(allowed and not channels_back.is_armature_linked(child.object))


def _connected_child(item: Object) -> Body | None:
    """The child of a joint if it is a bone connected to the joint's parent."""
    settings = item.condyle.joint
    child, parent = references.resolve(settings.child), references.resolve(settings.parent)
    if child is None or not child.bone or settings.closes_loop or settings.to_world or parent is None:
        return None
    above = child.pose_bone.parent
    if above is None or not child.pose_bone.bone.use_connect:
        return None
    return child if references.same(parent, Body(child.object, above.name)) else None


def _away(scene: Scene, item: Object, child: Body) -> str:
    """Largest distance of a connected bone from its parent's tail over a joint's range, as text; empty if none."""
    settings, bone = item.condyle.joint, child.pose_bone
    joint = scene_to_model.read_joint(scene, item)
    base, _ = units.split_scale(item.matrix_world, item.name, item)
    end = physics_access.physics().lie.inverse(base) @ [*(child.object.matrix_world @ bone.parent.tail), 1.0]
    start = np.array([row.start for row in settings.coordinates])
    readings = [start[None]]
    for k, (lower, upper) in enumerate(sliders.slider_ranges(item, joint)):
        readings.append(np.tile(start, (LOOKS, 1)))
        readings[-1][:, k] = np.linspace(lower, upper, LOOKS)
    poses = joint.transform(joint.from_readings(np.concatenate(readings)))
    heads = (units.to_blender(poses, scene) @ scene_to_model.child_in_joint(item))[:, :3, 3]
    away = float(np.linalg.norm(heads - end[:3], axis=1).max())
    _, scale = units.split_scale(child.object.matrix_world, child.object.name, child.object)
    if not away > CONNECTED * bone.length * scale:
        return ""
    return units.told_length(away * units.length_scale(scene))
