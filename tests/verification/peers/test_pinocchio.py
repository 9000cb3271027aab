"""Accelerations, torques and mass matrices of random trees against Pinocchio (Carpentier et al. 2019)."""

from typing import Any

import numpy as np
import pytest

pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from ..generators import random_body, random_state, unit_vector  # noqa: E402
from .pinocchio_model import PinocchioTree  # noqa: E402
from .sprung_trees import our_tree, sprung_tree  # noqa: E402

pytestmark = pytest.mark.peers

KINDS = (
    "hinge",
    "slider",
    "helical",
    "universal",
    "planar",
    "translational",
    "spherical",
    "free",
    "ellipsoid_plain",
)
# Both engines solve the same equations by different recursions. They differ by round-off times the condition of the
# mass matrix.
TOLERANCE = 1e-9


def pair(seed: int, num_bodies: int) -> tuple[Any, PinocchioTree, Any]:
    """One random tree for both engines, and a state of it."""
    rng = np.random.default_rng(seed)
    gravity = 9.81 * unit_vector(rng)
    builder = ph.ModelBuilder(gravity=gravity)
    bodies: list[dict[str, Any]] = []
    for index in range(num_bodies):
        parent = index - 1 if index else None
        # branch off an ancestor: Pinocchio's CRBA needs depth-first order
        while parent is not None and rng.random() < 0.4:
            parent = bodies[parent]["parent"]
        bodies.append(random_body(rng, KINDS) | {"parent": parent})
        named = bodies[-1] | {"parent": None if parent is None else f"body {parent}"}
        builder.add_body(f"body {index}", **named)
    model = builder.build()
    return model, PinocchioTree(bodies, gravity), random_state(model, rng)


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


@pytest.mark.parametrize("seed", range(40))
def test_random_trees(seed: int) -> None:
    model, peer, state = pair(seed, 1 + seed % 20)
    rng = np.random.default_rng(seed)
    matrix, bias = peer.velocity_map(state.q, state.qd)
    configuration, velocity = peer.configuration(state.q), matrix @ state.qd
    force = rng.standard_normal(peer.model.nv)
    tau = matrix.T @ force

    theirs = pinocchio.aba(peer.model, peer.data, configuration, velocity, force)
    ours = matrix @ ph.forward_dynamics(model, state, tau) + bias
    assert relative(ours, theirs) < TOLERANCE

    pinocchio.crba(peer.model, peer.data, configuration)
    upper = np.triu(peer.data.M)
    mass_matrix = matrix.T @ (upper + np.triu(upper, 1).T) @ matrix
    assert relative(ph.mass_matrix(model, state), mass_matrix) < TOLERANCE

    qdd = rng.standard_normal(model.num_coordinates)
    torque = matrix.T @ pinocchio.rnea(peer.model, peer.data, configuration, velocity, matrix @ qdd + bias)
    assert relative(ph.inverse_dynamics(model, state, qdd), torque) < TOLERANCE


def test_poses_of_a_tree() -> None:
    model, peer, state = pair(seed=7, num_bodies=20)
    pinocchio.forwardKinematics(peer.model, peer.data, peer.configuration(state.q))
    poses = ph.body_poses(model, state)
    for index, identifier in enumerate(peer.identifiers):
        joint_pose = peer.data.oMi[identifier].homogeneous
        # A product of up to 20 rigid transforms, each with round-off.
        assert np.allclose(joint_pose @ peer.body_in_joint[index], poses[index], atol=1e-12)


def forces_of_springs(peer: PinocchioTree, springs: list[dict[str, Any]]) -> Any:
    """Forces on Pinocchio's joints, each in its own frame, of springs between points placed by Pinocchio."""
    forces = pinocchio.StdVec_Force()
    for _ in range(peer.model.njoints):
        forces.append(pinocchio.Force.Zero())

    def end(body: int | None, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if body is None:
            return point, np.zeros(3), point
        joint, frame = peer.identifiers[body], peer.body_in_joint[body]
        local = frame[:3, :3] @ point + frame[:3, 3]
        velocity = peer.data.v[joint]
        moving = peer.data.oMi[joint].rotation @ (velocity.linear + np.cross(velocity.angular, local))
        return peer.data.oMi[joint].act(local), moving, local

    for spring in springs:
        a, va, local_a = end(spring["body"], spring["point"])
        b, vb, local_b = end(spring["other"], spring["other_point"])
        length = np.linalg.norm(b - a)
        along = (b - a) / length
        tension = spring["stiffness"] * (length - spring["rest_length"]) + spring["damping"] * along @ (
            vb - va
        )
        for body, local, pull in (
            (spring["body"], local_a, tension * along),
            (spring["other"], local_b, -tension * along),
        ):
            if body is not None:
                joint = peer.identifiers[body]
                turned = peer.data.oMi[joint].rotation.T @ pull
                forces[joint] += pinocchio.Force(turned, np.cross(local, turned))
    return forces


def test_sprung_trees() -> None:
    """q'' and tau on 200 trees with springs and dampers in joints and between points.

    Without ellipsoids: random states come near their singularity, where accelerations are unbounded.
    """
    kinds = KINDS[:-1]
    worst = np.zeros(2)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        bodies, springs, gravity = sprung_tree(rng, 1 + seed % 20, kinds, kinds)
        for body in bodies:  # Pinocchio's armature acts on its own velocities
            body["armature"] = np.zeros(body["joint"].num_coordinates)
        model, peer = our_tree(bodies, springs, gravity), PinocchioTree(bodies, gravity)
        state = random_state(model, rng)
        matrix, bias = peer.velocity_map(state.q, state.qd)
        configuration, velocity = peer.configuration(state.q), matrix @ state.qd
        pinocchio.forwardKinematics(peer.model, peer.data, configuration, velocity)
        outside = forces_of_springs(peer, springs)
        stiffness, damping, rest = (
            np.concatenate([body[name] for body in bodies]) for name in ("stiffness", "damping", "rest")
        )
        passive = -stiffness * (state.q - rest) - damping * state.qd
        tau = rng.standard_normal(model.num_coordinates)
        force = np.linalg.solve(matrix.T, tau + passive)
        theirs = pinocchio.aba(peer.model, peer.data, configuration, velocity, force, outside)
        ours = matrix @ ph.forward_dynamics(model, state, tau) + bias
        qdd = rng.standard_normal(model.num_coordinates)
        torque = pinocchio.rnea(peer.model, peer.data, configuration, velocity, matrix @ qdd + bias, outside)
        demanded = ph.inverse_dynamics(model, state, qdd)
        worst = np.maximum(worst, [relative(ours, theirs), relative(demanded, matrix.T @ torque - passive)])
    assert worst.max() < TOLERANCE, worst
