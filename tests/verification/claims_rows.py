"""Forces of couplings, of points on planes and of rolling, against one system of all bodies with hand-derived rows.

The system of bodies does not know these constraints. It gets rows G phi' = -G' phi, derived from the constraints'
conditions on material points or from the function of a coupling.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.random import Generator

import physics as ph
from physics._typing import FloatArray
from physics.constraints import (
    CouplingConstraint,
    PlanarConnector,
    RollingConstraint,
    SegmentedPlanarConnector,
)
from physics.geometry import lie

from .claim import Measurement, claim
from .claims_dynamics import norm
from .claims_loops import BODIES
from .claims_loops import KINDS as JOINT_KINDS
from .generators import random_pose, random_state, random_tree, surface

KINDS = ("coupling", "plane", "unilateral plane", "segments", "rolling")
ONE, OTHER = BODIES - 1, BODIES // 2
SURFACE = 2  # coordinates of the surface with which a rolling joint begins


@dataclass(frozen=True)
class Rows:
    """Hand-derived rows of one constraint: on the bodies, or on the coordinates.

    Attributes:
        matrix: (m, 6 nb) or (m, nv). right: (m,). on_coordinates: which of the two.
    """

    matrix: FloatArray
    right: FloatArray
    on_coordinates: bool = False

    def arguments(self) -> dict[str, FloatArray]:
        """Arguments for `constrained_bodies`."""
        if self.on_coordinates:
            return {"coordinate_rows": self.matrix, "coordinate_right": self.right}
        return {"rows": self.matrix, "right": self.right}


def material_point(
    moving: Any, body: int, place: FloatArray, going: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Velocity of a body's material point at a point in the world: Gamma (3, 6 nb) and Gamma phi; and its rate at
    constant twists as the point moves with a velocity, or with the body if none is given.
    """
    pose, twist = moving.poses[body], moving.twists[body]
    turn, point = pose[:3, :3], pose[:3, :3].T @ (place - pose[:3, 3])
    gamma = np.zeros((3, 6 * moving.model.num_bodies))
    gamma[:, 6 * body : 6 * body + 6] = turn @ np.concatenate([-lie.hat(point), np.eye(3)], axis=1)
    velocity = twist[3:] + np.cross(twist[:3], point)
    rate = np.cross(twist[:3], velocity)
    if going is not None:
        rate = rate + np.cross(twist[:3], turn.T @ going - velocity)
    return gamma, turn @ velocity, turn @ rate


def plane_rows(moving: Any, point: FloatArray, normal: FloatArray) -> Rows:
    """Constant distance of a point (3,) of one body from a plane of the other, whose normal (3,) is in its frame."""
    place = moving.poses[ONE, :3, :3] @ point + moving.poses[ONE, :3, 3]
    first, velocity, rate = material_point(moving, ONE, place)
    second, under, drag = material_point(moving, OTHER, place, velocity)
    turn = moving.poses[OTHER, :3, :3]
    n, turning = turn @ normal, turn @ np.cross(moving.twists[OTHER, :3], normal)
    drift = turning @ (velocity - under) + n @ (rate - drag)
    return Rows((n @ (first - second))[None], np.array([-drift]))


def rolling_rows(moving: Any) -> Rows:
    """No slip of the body's material point at the contact along the surface of its parent."""
    model = moving.model
    body = model.bodies[OTHER]
    q, qd = (
        values[model.coordinate_slice(body.name)][:SURFACE] for values in (moving.state.q, moving.state.qd)
    )
    pose, subspace, _ = body.joint.joints[0].evaluate(q)
    frame = moving.poses[body.parent] @ body.joint_in_parent @ pose
    place, axes = frame[:3, 3], frame[:3, :3]
    relative = subspace @ qd
    going = axes @ relative[3:] + material_point(moving, body.parent, place)[1]
    turning = moving.poses[body.parent, :3, :3] @ moving.twists[body.parent, :3] + axes @ relative[:3]
    first, velocity, rate = material_point(moving, OTHER, place, going)
    second, under, drag = material_point(moving, body.parent, place, going)
    tangents = axes[:, :2].T
    drift = np.cross(turning, tangents) @ (velocity - under) + tangents @ (rate - drag)
    return Rows(tangents @ (first - second), -drift)


def coupled(model: Any, state: Any, rng: Generator) -> tuple[Any, Any]:
    """A coordinate that is a cubic function of two others, and a function for its row in a state."""
    follower, *drivers = rng.choice(model.num_coordinates, 3, replace=False)
    weights = rng.uniform(-2.0, 2.0, 2)
    slope = Polynomial([0.0, *rng.uniform(-1.0, 1.0, 3)])
    function = slope + (state.q[follower] - slope(weights @ state.q[drivers]))
    names = model.coordinate_names
    constraint = CouplingConstraint(
        names[follower],
        {names[driver]: float(weight) for driver, weight in zip(drivers, weights)},
        ph.joints.Polynomial(function.coef),
    )

    def rows(moving: Any) -> Rows:
        q, qd = moving.state.q, moving.state.qd
        at, speed = weights @ q[drivers], weights @ qd[drivers]
        matrix = np.zeros((1, len(q)))
        matrix[0, follower], matrix[0, drivers] = 1.0, -function.deriv(1)(at) * weights
        return Rows(matrix, np.array([function.deriv(2)(at) * speed**2]), on_coordinates=True)

    return constraint, rows


def on_a_plane(model: Any, state: Any, rng: Generator, kind: str) -> tuple[Any, Any]:
    """A point of one body on a plane, or on the middle one of three segments, of another body."""
    poses = ph.body_poses(model, state)
    point = 0.2 * rng.standard_normal(3)
    place = lie.inverse(poses[OTHER]) @ poses[ONE] @ np.append(point, 1.0)
    frame = random_pose(rng)
    ends = model.body_names[ONE], point, model.body_names[OTHER]
    if kind == "plane":
        local, normal = np.array([*rng.normal(size=2), 0.0]), np.array([0.0, 0.0, 1.0])
    else:
        corners = np.array([[-0.5, 0.3], [0.0, 0.0], [0.6, 0.2], [1.0, 0.9]])
        along, middle = corners[2] - corners[1], 0.5 * (corners[1] + corners[2])
        local = np.array([middle[0], rng.normal(), middle[1]])
        normal = np.array([-along[1], 0.0, along[0]]) / np.linalg.norm(along)
    frame[:3, 3] = place[:3] - frame[:3, :3] @ local
    if kind == "plane":
        constraint: Any = PlanarConnector(*ends, frame)
    else:
        constraint = SegmentedPlanarConnector(*ends, frame, segments=corners)
    turned = frame[:3, :3] @ normal
    return constraint, lambda moving: plane_rows(moving, point, turned)


def rolling_tree(rng: Generator) -> Any:
    """A random tree with a body that rolls on a bumpy surface of its parent, its frame away from the contact."""
    turns = tuple((axis, ph.joints.Linear(), name) for axis, name in zip(np.eye(3), "abc"))
    offset = 0.1 * rng.standard_normal(3)
    slides = tuple((axis, ph.joints.Linear(0.0, shift), None) for axis, shift in zip(np.eye(3), offset))
    about = ph.joints.Custom(("a", "b", "c"), turns, slides)
    description = random_tree(rng, BODIES, JOINT_KINDS).to_dict()
    old = description["bodies"][OTHER]
    kept = ("name", "joint_in_parent", "body_in_joint", "mass", "com", "inertia")
    new = {key: old[key] for key in kept} | {"parent": description["bodies"][OTHER - 1]["name"]}
    new["joint"] = ph.joints.Composite((surface(rng), about)).to_dict()
    description["bodies"][OTHER] = new
    return ph.ModelBuilder.from_dict(description).build()


def constrained_tree(rng: Generator, kind: str) -> tuple[Any, Any, Any, Any]:
    """A random tree with and without a constraint, a state that satisfies it, and a function for hand-derived rows."""
    if kind == "rolling":
        tree = rolling_tree(rng)
        constraint, rows = RollingConstraint(tree.body_names[OTHER]), rolling_rows
        state = random_state(tree, rng)
    else:
        tree = random_tree(rng, BODIES, JOINT_KINDS)
        state = random_state(tree, rng)
        if kind == "coupling":
            constraint, rows = coupled(tree, state, rng)
        else:
            constraint, rows = on_a_plane(tree, state, rng, "segments" if kind == "segments" else "plane")
    model = with_constraint(tree, constraint)
    state = ph.assemble(model, state)
    if kind == "unilateral plane":  # no velocity along the normal: the point neither approaches nor separates
        model = with_constraint(tree, replace(constraint, unilateral=True))
    return model, tree, state, rows


def with_constraint(tree: Any, constraint: Any) -> Any:
    builder = ph.ModelBuilder.from_dict(tree.to_dict())
    builder.add_constraint("row", constraint)
    return builder.build()


def differences(rng: Generator, kind: str) -> dict[str, float]:
    """For one random tree, relative: accelerations, forces of the constraint, forces in all joints."""
    model, tree, state, by_hand = constrained_tree(rng, kind)
    tau = rng.standard_normal(model.num_coordinates)
    rows = by_hand(ph.maximal_coordinates(tree, state))
    system = ph.constrained_bodies(tree, state, tau, **rows.arguments())
    force = -system.multipliers[-len(rows.right) :]
    if kind == "unilateral plane" and force[0] < 0.0:  # it would pull
        system, force = ph.constrained_bodies(tree, state, tau), np.zeros(1)
    found = ph.constrained_dynamics(model, state, tau)
    maximal = ph.maximal_coordinates(model, state)
    through_joints = system.joint_wrenches.copy()
    if kind == "rolling":  # the force that prevents slip belongs to the rolling joint
        through_joints[OTHER] += system.constraint_wrenches[OTHER]
    compared = {
        "accelerations": (
            maximal.jacobian_product(found.qdd) + maximal.jacobian_rate_product,
            system.accelerations,
        ),
        "joint forces": (ph.joint_reactions(model, state, tau=tau), through_joints),
    }
    if force.any():
        compared["forces of the constraint"] = found.forces["row"], force
    elif found.forces["row"].any():
        return {"forces of the constraint": np.inf}
    return {name: norm(ours - theirs) / norm(theirs) for name, (ours, theirs) in compared.items()}


SOURCE = "Wang 2022, eqs. 3.40, 4.101 and 4.105"


# Round-off times the condition of the bodies' system, as for constraints that close loops.
@claim("constraints.row_forces", source=SOURCE, at_most=1e-9, cost="slow", count=100, seed=16)
@claim("constraints.row_forces_quick", source=SOURCE, at_most=1e-9, count=20, seed=15)
def row_forces(count: int, seed: int) -> Measurement:
    """Forces of a coupled coordinate, of a point on a plane (two-sided, one-sided) and on plane segments, of rolling
    without slip, accelerations of all bodies and forces in all joints against one system of all bodies with
    hand-derived rows, on {count} random trees of 10 bodies: largest relative difference.
    """
    rng = np.random.default_rng(seed)
    details: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
    pushing = 0
    for index in range(count):
        kind = KINDS[index % len(KINDS)]
        found = differences(rng, kind)
        pushing += kind == "unilateral plane" and "forces of the constraint" in found
        worst = details[kind]
        for name, value in found.items():
            worst[name] = max(worst.get(name, 0.0), value)
    figure = max(max(worst.values()) for worst in details.values())
    return Measurement(figure, details | {"one-sided that push": pushing})
