"""The leg of the claims about live runs: six coordinates, nine muscles with fibres and tendons, and ground."""

from typing import Any

import numpy as np

import physics as ph
from physics.muscles import PathPoint, Thelen

from .knee import fitted

THIGH, SHANK = 0.40, 0.43  # m
#: origin and insertion (body, x, y), largest force [N] and fibre length [m] of typical leg muscles; rounded
MUSCLES = {
    "iliopsoas": ((None, 0.04, 0.03), ("femur", 0.0, -0.06), 2000.0, 0.10),
    "gluteus": ((None, -0.09, 0.02), ("femur", -0.02, -0.12), 1600.0, 0.14),
    "rectus": ((None, 0.04, -0.02), ("tibia", 0.05, -0.04), 1200.0, 0.11),
    "hamstrings": ((None, -0.06, -0.04), ("tibia", -0.03, -0.06), 2600.0, 0.11),
    "short biceps": (("femur", 0.0, -0.20), ("tibia", -0.03, -0.05), 800.0, 0.17),
    "vasti": (("femur", 0.03, -0.19), ("tibia", 0.05, -0.04), 5000.0, 0.09),
    "gastrocnemius": (("femur", -0.03, -0.38), ("foot", -0.05, -0.03), 2200.0, 0.06),
    "soleus": (("tibia", -0.02, -0.15), ("foot", -0.05, -0.03), 3500.0, 0.05),
    "tibialis": (("tibia", 0.03, -0.16), ("foot", 0.08, -0.02), 900.0, 0.10),
}


def live_leg() -> tuple[Any, Any]:
    """The model and its initial state: hip of three angles, spline knee, universal ankle; y is up."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    hip = ph.joints.Composite([ph.joints.Hinge(axis) for axis in ((0, 0, 1), (1, 0, 0), (0, 1, 0))])
    bones = (
        ("femur", None, hip, None, 9.3, (0, -0.17, 0), (0.13, 0.04, 0.14)),
        ("tibia", "femur", fitted(5).joint, None, 3.7, (0, -0.19, 0), (0.05, 0.005, 0.05)),
        (
            "foot",
            "tibia",
            ph.joints.Universal((0, 0, 1), (1, 0, 0)),
            -SHANK,
            1.2,
            (0.04, -0.02, 0),
            3 * (0.004,),
        ),
    )
    for name, parent, joint, below, mass, com, inertia in bones:
        place = np.eye(4)
        place[1, 3] = below or 0.0
        inertial = {"mass": mass, "com": com, "inertia": np.diag(inertia)}
        builder.add_body(name, parent, joint=joint, joint_in_parent=place, damping=0.5, **inertial)
    floor = np.eye(4)
    floor[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]  # its z is up
    floor[1, 3] = -0.93
    builder.add_ground(
        "floor", "foot", [[0.15, -0.05, 0], [-0.05, -0.05, 0]], plane=floor, stiffness=2e4, damping=200.0
    )
    state = builder.build().state(q={"tibia": [0.3]})
    poses = dict(zip(("femur", "tibia", "foot"), ph.body_poses(builder.build(), state)))
    for name, (origin, insertion, force, fibre) in MUSCLES.items():
        ends = [_placed(poses, end) for end in (origin, insertion)]
        length = float(np.linalg.norm(ends[0] - ends[1]))
        law = Thelen(force, fibre, max(length - fibre, 0.2 * fibre))
        points = [PathPoint(body, (x, y, 0.01)) for body, x, y in (origin, insertion)]
        builder.add_muscle(name, points, law=law)
    model = builder.build()
    return model, model.state(q={"tibia": [0.3]})


def _placed(poses: dict[str, Any], end: tuple[str | None, float, float]) -> Any:
    body, x, y = end
    pose = np.eye(4) if body is None else poses[body]
    return pose[:3, :3] @ (x, y, 0.01) + pose[:3, 3]
