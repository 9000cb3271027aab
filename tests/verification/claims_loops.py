"""Forces of closed loops: constraints with O(n) dynamics against one system of all bodies."""

from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph
from physics.constraints import DistanceConstraint, HingeConstraint, PointConstraint, WeldConstraint
from physics.dynamics.constraint_wrenches import constraint_wrenches

from .claim import Measurement, claim
from .claims_dynamics import norm
from .generators import random_pose, random_state, random_tree

KINDS = ("hinge", "slider", "helical", "universal", "cylindrical", "spherical", "spline_curve", "custom")
BODIES = 10
# A loop whose rows have a singular value below this share of the largest is stuck, or nearly.
CLEAR = 1e-2


def closure(model: Any, state: Any, kind: str, frame: Any) -> Any:
    """A constraint that the state satisfies: a frame on the last body against one in the middle of the list."""
    poses = ph.body_poses(model, state)
    one, other = model.body_names[-1], model.body_names[BODIES // 2]
    there = ph.lie.inverse(poses[BODIES // 2]) @ poses[-1] @ frame
    point = frame[:3, 3]
    if kind == "point":
        return PointConstraint(one, other, point, there[:3, 3])
    if kind == "hinge":
        return HingeConstraint(one, other, frame, there)
    if kind == "weld":
        return WeldConstraint(one, other, frame, there)
    return DistanceConstraint(one, None, point, length=norm((poses[-1] @ frame)[:3, 3]))


def closed_loop(rng: Generator, kind: str) -> tuple[Any, Any]:
    """A random tree with a loop closed in its pose, with independent rows, and a state with matching velocities."""
    while True:
        model = random_tree(rng, BODIES, KINDS)
        state = random_state(model, rng)
        constraint = closure(model, state, kind, random_pose(rng, length=0.1))
        values = np.linalg.svd(constraint.jacobian(model, state))[1]
        if values[-1] > CLEAR * values[0]:
            builder = ph.ModelBuilder.from_dict(model.to_dict())
            builder.add_constraint("loop", constraint)
            model = builder.build()
            return model, ph.assemble(model, state)


SOURCE = "Wang 2022, eqs. 3.40 and 4.101"


@claim("constraints.loop_forces", source=SOURCE, at_most=1e-9, cost="slow", count=200, seed=6)
@claim("constraints.loop_forces_quick", source=SOURCE, at_most=1e-9, count=16, seed=5)
def loops(count: int, seed: int) -> Measurement:
    """Accelerations of all bodies, wrenches that close a loop (point, hinge, weld, rod) and forces in all joints
    against one system of all bodies with joints and closure as rows, on {count} random trees of 10 bodies with a loop:
    largest relative difference.
    """
    rng = np.random.default_rng(seed)
    worst = {"accelerations": 0.0, "wrenches of the closure": 0.0, "joint forces": 0.0}
    for index in range(count):
        model, state = closed_loop(rng, ("point", "hinge", "weld", "distance")[index % 4])
        tau = rng.standard_normal(model.num_coordinates)
        system = ph.constrained_bodies(model, state, tau)
        found = ph.constrained_dynamics(model, state, tau)
        maximal = ph.maximal_coordinates(model, state)
        rates = maximal.jacobian_product(found.qdd) + maximal.jacobian_rate_product
        pulls = constraint_wrenches(maximal, found.forces)
        reactions = ph.joint_reactions(model, state, tau=tau)
        for name, ours, theirs in (
            ("accelerations", rates, system.accelerations),
            ("wrenches of the closure", pulls, system.constraint_wrenches),
            ("joint forces", reactions, system.joint_wrenches),
        ):
            worst[name] = max(worst[name], norm(ours - theirs) / norm(theirs))
    return Measurement(max(worst.values()), worst)
