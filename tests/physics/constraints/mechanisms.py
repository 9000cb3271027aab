"""Mechanisms with closed loops that several tests use."""

import numpy as np

import physics as ph
from physics import constraints


def pose(position, rotation=(0.0, 0.0, 0.0)):
    frame = np.eye(4)
    frame[:3, :3] = ph.lie.so3_exp(np.array(rotation, dtype=float))
    frame[:3, 3] = position
    return frame


def bar(builder, name, parent, length, start, mass=1.0):
    """A thin bar along x that turns about z at `start` on its parent's x axis."""
    inertia = mass * np.diag([1e-3, length**2 / 12.0, length**2 / 12.0])
    link = {"joint": ph.joints.Hinge(), "mass": mass, "com": (length / 2.0, 0.0, 0.0), "inertia": inertia}
    return builder.add_body(name, parent, joint_in_parent=pose((start, 0.0, 0.0)), **link)


def four_bar(closure="hinge"):
    """A four-bar linkage in the x-y plane under gravity along -y: crank 1 m, coupler 2 m, rocker 1.5 m, base 2 m."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    bar(builder, "crank", None, 1.0, 0.0)
    bar(builder, "coupler", "crank", 2.0, 1.0)
    bar(builder, "rocker", "coupler", 1.5, 2.0)
    end, base = (1.5, 0.0, 0.0), (2.0, 0.0, 0.0)
    if closure == "point":
        builder.add_constraint("loop", constraints.PointConstraint("rocker", point=end, other_point=base))
    elif closure == "hinge":
        builder.add_constraint(
            "loop", constraints.HingeConstraint("rocker", frame=pose(end), other_frame=pose(base))
        )
    else:
        builder.add_loop_joint(
            "loop",
            "rocker",
            None,
            joint=ph.joints.Hinge(),
            joint_in_parent=pose(base),
            body_in_joint=pose((-1.5, 0.0, 0.0)),
        )
    model = builder.build()
    guess = [1.2, -1.0, -1.8] + ([-1.6] if closure == "joint" else [])
    return model, ph.assemble(model, model.state(guess))
