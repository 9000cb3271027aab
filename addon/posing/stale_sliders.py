"""Finds sliders that do not match the shape of their joint any more."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from bpy.types import Object, Scene

from ..animation import keyed_poses
from ..blender import physics_access, units
from ..data import findings, references
from ..data.findings import Finding
from ..reading import joints
from ..sliders import sliders
from . import project_poses

# Distance and angle [m, rad] of a child from the pose of its joint's sliders above which it is reported.
FAR, FAR_TURN = 1e-3, 1e-2


def check(scene: Scene, fitted: Collection[int] = ()) -> Iterator[Finding]:
    """Children whose evaluated pose differs from that of their joint at its sliders; joints that cannot be read are
    skipped. fitted: session uids of joints that were just fitted.
    """
    for item in references.joints_of(scene):
        if not item.condyle.joint.driven or item.condyle.joint.closes_loop or item.session_uid in fitted:
            continue
        try:
            away, turned = _apart(scene, item)
        except physics_access.physics().CondyleError:  # reported by the check of joints
            continue
        if away > FAR or turned > FAR_TURN:
            child, apart = references.resolve(item.condyle.joint.child), units.told_apart(away, turned)
            # only turned bones can follow where they are connected
            is_held = child.bone and child.pose_bone.bone.use_connect and turned <= FAR_TURN
            code = "slider-of-connected-bone" if is_held else "stale-slider"
            yield findings.about(item, code, joint=item.name, apart=apart)


def _apart(scene: Scene, item: Object) -> tuple[float, float]:
    """Distance and angle [m, rad] of a child from the pose of its joint's sliders; 0 if a slider is out of range."""
    joint, given = joints.read_joint(scene, item), keyed_poses.source_of_joint(item)
    readings, ranges = project_poses.readings_now(scene, item), sliders.slider_ranges(item, joint)
    if any(joint.prescribed) or len(readings) != len(ranges):
        return 0.0, 0.0
    if np.abs(np.clip(readings, *ranges.T) - readings).max(initial=0.0) > 1e-6:
        return 0.0, 0.0
    after = units.to_metres(joints.child_in_joint(item), scene)
    shown = units.to_metres(keyed_poses.pose_now(given, given.child.name), scene)
    lie = physics_access.physics().lie
    missing = lie.log(lie.inverse(joint.transform(joint.from_readings(readings)) @ after) @ shown)
    return float(np.linalg.norm(missing[3:])), float(np.linalg.norm(missing[:3]))
