"""Bodies that stand where their joints cannot take them."""

from collections.abc import Collection, Iterator

import numpy as np
from bpy.types import Scene

from ..animation import single_pose
from ..animation.scene_model import SceneModel
from ..blender import physics_access, units
from ..data import findings, references
from ..data import stored_joints as joints
from ..data.findings import Finding
from ..posing.project_poses import FAR, FAR_TURN
from ..reading import keyed_poses


def check(scene: Scene, read: SceneModel, fitted: Collection[int]) -> Iterator[Finding]:
    """Bodies that stand where their joints cannot take them; not of joints that start where their animation has them:
    the search for their start reports those.
    """
    lie = physics_access.physics().lie
    known = {entry.joint_uid: read.model.joints[entry.index] for entry in read.bodies}
    starting: dict[tuple[physics_access.Joint, bytes], np.ndarray] = {}
    found, matrices = [], []
    for item in references.joints_of(scene):
        settings = item.condyle.joint
        if settings.driven or item.session_uid in fitted or not joints.starts_as_set(scene, item):
            continue
        joint = known.get(item.session_uid) or joints.read_joint(scene, item)
        if not 1 <= joint.num_coordinates <= 3 or any(joint.prescribed):
            continue
        body = references.resolve(settings.child)
        # held to the world: where the child is now does not depend on the body that the joint is on
        given = keyed_poses.source(f"joint {item.name!r}", body, None, item.matrix_world, item)
        pose = units.to_metres(keyed_poses.pose_now(given, body.name), scene)
        child = units.to_metres(joints.child_in_joint(item), scene)
        start, _ = joints.start_of(item, joint)
        same = joint, start.tobytes()
        if same not in starting:  # many joints of a rig are alike
            starting[same] = joint.transform(start)
        found.append((item, joint, body, start))
        matrices.append((pose, child, starting[same]))
    poses, children, starts = np.array(matrices).reshape(-1, 3, 4, 4).swapaxes(0, 1)
    poses = poses @ lie.inverse(children)
    missing = np.abs(lie.log(lie.inverse(starts) @ poses))  # most stand where they start
    away = (missing[:, 3:].max(axis=1) > FAR / 2.0) | (missing[:, :3].max(axis=1) > FAR_TURN / 2.0)
    for number in np.flatnonzero(away):
        item, joint, body, start = found[number]
        scale = item.condyle.joint.length_scale * units.length_scale(scene)
        far, turn = single_pose.place(joint, start, poses[number], scale if scale > 0.0 else 1.0)[1:]
        if far > FAR or turn > FAR_TURN:
            apart = units.told_apart(far, turn)
            yield findings.about(body, "out-of-reach", body=body.name, joint=item.name, apart=apart)
