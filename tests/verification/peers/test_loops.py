"""Accelerations and forces of closed loops against Pinocchio's constraint dynamics (Carpentier et al. 2021)."""

from typing import Any

import numpy as np
import pytest

pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)
from physics.constraints import PointConstraint  # noqa: E402
from physics.geometry import lie  # noqa: E402

from ..generators import random_body, random_state, unit_vector  # noqa: E402
from .pinocchio_model import PinocchioTree, placement  # noqa: E402

pytestmark = pytest.mark.peers

# Pinocchio solves redundant rows by proximal steps; results differ by round-off times the condition of the loop.
TOLERANCE = 1e-9


def bar(parent: int | None, place: tuple[float, float, float], **options: Any) -> dict[str, Any]:
    """A bar of 1 m along x on a hinge about z."""
    pose = np.eye(4)
    pose[:3, 3] = place
    body = {
        "parent": parent,
        "joint": ph.joints.Hinge(),
        "joint_in_parent": pose,
        "body_in_joint": np.eye(4),
        "mass": 1.0,
        "com": np.array([0.5, 0.0, 0.0]),
        "inertia": np.diag([0.01, 0.1, 0.1]),
    }
    return body | options


def slider_crank() -> tuple[list[dict[str, Any]], np.ndarray]:
    """Crank, rod, and a slider along x on a separate branch, whose pin is at the rod's end."""
    slider = bar(None, (0, 0, 0), joint=ph.joints.Slider((1, 0, 0)), com=np.zeros(3), mass=3.0)
    place = np.array([0.7, np.arcsin(-np.sin(0.7) * 0.5 / 1.0) - 0.7])
    crank, rod = bar(None, (0, 0, 0)), bar(0, (0.5, 0, 0))
    return [crank, rod, slider], np.array([*place, 0.5 * np.cos(0.7) + np.cos(place.sum())])


def our_model(bodies: list[dict[str, Any]], gravity: Any) -> Any:
    builder = ph.ModelBuilder(gravity=gravity)
    for index, body in enumerate(bodies):
        parent = None if body["parent"] is None else f"body {body['parent']}"
        builder.add_body(f"body {index}", **(body | {"parent": parent}))
    return builder.build()


def closure_rows(model: Any, state: Any, ends: list[tuple[int, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows on the bodies' accelerations, with right sides, that keep two points of bodies (or the world, -1) together:
    R Gamma phi' = -R [w] Gamma phi for each.
    """
    maximal = ph.maximal_coordinates(model, state)
    rows, right = np.zeros((3, 6 * model.num_bodies)), np.zeros(3)
    for sign, (body, point) in zip((1.0, -1.0), ends):
        if body >= 0:
            gamma = np.concatenate([-lie.hat(point), np.eye(3)], axis=1)
            rotation, twist = maximal.poses[body][:3, :3], maximal.twists[body]
            rows[:, 6 * body : 6 * body + 6] += sign * rotation @ gamma
            right -= sign * rotation @ np.cross(twist[:3], gamma @ twist)
    return rows, right


def moving_with_the_loop(model: Any, q: np.ndarray, ends: Any, rng: Any) -> Any:
    """A state at q with random velocities that satisfy the loop."""
    state = model.state(q=q)
    rows = closure_rows(model, state, ends)[0] @ ph.maximal_coordinates(model, state).jacobian
    _, values, directions = np.linalg.svd(rows)
    free = directions[np.sum(values > 1e-9) :]
    return model.state(q=q, qd=free.T @ rng.standard_normal(len(free)))


def constrained(peer: PinocchioTree, loops: Any, state: Any, tau: Any) -> tuple[np.ndarray, np.ndarray]:
    """Pinocchio's q'' in our coordinates, and the forces (3 loops,) on the first ends in world axes."""
    constraints, datas = pinocchio.StdVec_RigidConstraintModel(), pinocchio.StdVec_RigidConstraintData()
    first = []
    for ends in loops:
        frames = []
        for body, point in ends:
            pose = np.eye(4)
            pose[:3, 3] = point
            if body >= 0:
                pose = peer.body_in_joint[body] @ pose
            frames.append((0 if body < 0 else peer.identifiers[body], placement(pose)))
        constraint = pinocchio.RigidConstraintModel(
            pinocchio.ContactType.CONTACT_3D,
            peer.model,
            *frames[0],
            *frames[1],
            pinocchio.ReferenceFrame.LOCAL,
        )
        constraints.append(constraint)
        datas.append(constraint.createData())
        first.append(frames[0])
    pinocchio.initConstraintDynamics(peer.model, peer.data, constraints, datas)
    matrix, bias = peer.velocity_map(state.q, state.qd)
    settings = pinocchio.ProximalSettings(1e-14, 1e-10, 100)
    acceleration = pinocchio.constraintDynamics(
        peer.model,
        peer.data,
        peer.configuration(state.q),
        matrix @ state.qd,
        np.linalg.solve(matrix.T, tau),
        constraints,
        datas,
        settings,
    )
    qdd = np.linalg.solve(matrix, acceleration - bias)
    forces = [
        peer.data.oMi[joint].rotation @ place.rotation @ data.contact_force.linear
        for (joint, place), data in zip(first, datas)
    ]
    return qdd, np.concatenate(forces)


def compare(bodies: list[dict[str, Any]], q: np.ndarray, ends: Any, rng: Any) -> None:
    gravity = np.array([0.0, -9.81, 0.0])
    model, peer = our_model(bodies, gravity), PinocchioTree(bodies, gravity)
    state = moving_with_the_loop(model, q, ends, rng)
    tau = rng.standard_normal(model.num_coordinates)
    rows, right = closure_rows(model, state, ends)
    ours = ph.constrained_bodies(model, state, tau, rows=rows, right=right)
    qdd, force = constrained(peer, [ends], state, tau)
    assert np.abs(ours.qdd - qdd).max() < TOLERANCE * np.abs(qdd).max()
    named = ph.ModelBuilder.from_dict(model.to_dict())
    (body, point), (other, other_point) = ends
    loop = PointConstraint(f"body {body}", None if other < 0 else f"body {other}", point, other_point)
    named.add_constraint("loop", loop)
    closed = ph.constrained_dynamics(named.build(), state, tau)
    assert np.abs(closed.qdd - qdd).max() < TOLERANCE * np.abs(qdd).max()
    # the multipliers are the negative forces on the first end in world axes
    assert np.abs(-ours.multipliers[-3:] - force).max() < 1e-8 * np.abs(force).max()


@pytest.mark.parametrize("seed", range(5))
def test_slider_crank(seed: int) -> None:
    bodies, q = slider_crank()
    compare(bodies, q, [(1, np.array([1.0, 0, 0])), (2, np.zeros(3))], np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(20))
def test_random_loops(seed: int) -> None:
    """Two tips of a random tree, pinned together at their current places."""
    rng = np.random.default_rng(seed)
    kinds = ("hinge", "slider", "helical", "universal", "spherical", "planar")
    bodies = [random_body(rng, kinds) | {"parent": None if i in (0, 5) else i - 1} for i in range(10)]
    model = our_model(bodies, 9.81 * unit_vector(rng))
    q = random_state(model, rng).q
    poses = ph.body_poses(model, model.state(q=q))
    point = np.append(0.2 * rng.standard_normal(3), 1.0)
    other = lie.inverse(poses[9]) @ poses[4] @ point
    compare(bodies, q, [(4, point[:3]), (9, other[:3])], rng)
