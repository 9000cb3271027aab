"""Builds random mechanisms and sends each through every method; all numbers must be finite."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import physics as ph
from physics import contacts
from physics.integrators import INTEGRATORS, march
from tests.fuzz.sweeps import Try
from tests.physics.generators import TREE_KINDS, random_inertia, random_joint, random_pose, random_state

WARM = 3  # mechanisms that compile kernels
COORDINATES = 12
march.MOST_EVALUATIONS = 100_000  # explicit methods use up their budget on stiff ground
FUNCTIONS = """forward_dynamics inverse_dynamics mass_matrix body_poses energy forward_dynamics_derivatives
    inverse_dynamics_derivatives constrained_dynamics joint_reactions force_wrenches muscle_lengths"""


def random_mechanism(rng: np.random.Generator, share: float = 0.25) -> ph.Model:
    """A tree of some bodies, and this share of everything else that a model may have."""
    builder = ph.ModelBuilder(gravity=rng.normal(size=3) * 5.0)
    names: list[str] = []
    left = COORDINATES
    for i in range(int(rng.integers(1, 6))):
        joint = random_joint(rng, str(rng.choice(TREE_KINDS)))
        if joint.num_coordinates > left:
            continue
        left -= joint.num_coordinates
        mass = float(np.exp(rng.uniform(-2.0, 2.0)))
        springs: dict[str, Any] = {"stiffness": rng.uniform(0.0, 5.0), "damping": rng.uniform(0.0, 0.5)}
        if joint.num_coordinates == 1 and rng.uniform() < 0.3:
            springs |= {"limits": [(-1.0, 1.0)]}
            springs |= {"limit_restitution": 0.5} if rng.uniform() < 0.5 else {"limit_stiffness": 100.0}
        builder.add_body(
            f"body_{i}",
            str(rng.choice(names)) if names and rng.uniform() < 0.8 else None,
            joint=joint,
            joint_in_parent=random_pose(rng),
            body_in_joint=random_pose(rng, 0.1),
            mass=mass,
            com=rng.normal(size=3) * 0.1,
            inertia=random_inertia(rng, mass),
            armature=float(rng.choice([0.0, 0.01])),
            **springs,
        )
        names.append(f"body_{i}")
    if names:
        for add in MORE:
            if rng.uniform() < share:
                with contextlib.suppress(ph.ModelError):  # such as a path without length
                    add(builder, rng, str(rng.choice(names)))
    return builder.build()


def add_muscle(builder: ph.ModelBuilder, rng: np.random.Generator, body: str) -> None:
    places, muscles = rng.normal(size=(2, 3)), ph.muscles
    path: list[Any] = [muscles.PathPoint(None, places[0]), muscles.PathPoint(body, places[1])]
    if rng.uniform() < 0.5:
        ball = muscles.Sphere(frame=random_pose(rng), radius=rng.uniform(0.05, 0.3))
        path.insert(1, muscles.Wrap((ball,)))
    if rng.uniform() < 0.5:
        builder.add_muscle("muscle", path, law=muscles.Millard(100.0, 0.5, 0.5), excitation=rng.uniform())
    else:
        builder.add_muscle("muscle", path, mass=float(rng.choice([0.0, 0.2])), num_points=5, tension=20.0)


def add_point(builder: ph.ModelBuilder, rng: np.random.Generator, body: str) -> None:
    places = {"point": 0.2 * rng.normal(size=3), "other_point": rng.normal(size=3)}
    builder.add_constraint("point", ph.constraints.PointConstraint(body, **places))


def add_contact(builder: ph.ModelBuilder, rng: np.random.Generator, body: str) -> None:
    points, pose = 0.3 * rng.normal(size=(3, 3)), random_pose(rng, 1.0)
    builder.add_contact("contact", body, points, contacts.Plane(), pose=pose, friction=0.5, restitution=0.3)


def add_ground(builder: ph.ModelBuilder, rng: np.random.Generator, body: str) -> None:
    points, plane = 0.3 * rng.normal(size=(2, 3)), random_pose(rng, 1.0)
    builder.add_ground("ground", body, points, stiffness=1e4, damping=1.0, friction=0.5, plane=plane)


def add_force(builder: ph.ModelBuilder, rng: np.random.Generator, body: str) -> None:
    builder.add_input("pull", 2.0)
    builder.add_force("force", body, (0, 0, 1), "pull")
    builder.add_spring("spring", body, (0, 0, 0), None, rng.normal(size=3), stiffness=3.0)


MORE = (add_muscle, add_point, add_contact, add_ground, add_force)


def calls(model: ph.Model, state: ph.State) -> dict[str, Callable[[], Any]]:
    """Every method that takes a model and a state, by name."""
    found: dict[str, Callable[[], Any]] = {
        name: lambda name=name: getattr(ph, name)(model, state) for name in FUNCTIONS.split()
    }
    for name in INTEGRATORS:
        found[name] = lambda name=name: ph.simulate(model, state, 0.3, 1e-2, name, rtol=1e-4, atol=1e-6)
    target = ph.Target(model.bodies[-1].name, np.array([0.3, 0.1, 0.2]))
    found["inverse_kinematics"] = lambda: ph.inverse_kinematics(model, target, starts=2)
    samples = np.tile(state.q, (8, 1))
    found["samples"] = lambda: ph.inverse_dynamics_of_samples(model, np.linspace(0, 1, 8), samples)
    return found


def not_finite(value: Any) -> bool:
    """Whether a result has a number that is not finite."""
    if isinstance(value, ph.Result):
        return not all(np.isfinite(part).all() for part in (value.q, value.qd, value.poses))
    if isinstance(value, np.ndarray | float):
        return not bool(np.isfinite(value).all())
    if isinstance(value, tuple):
        return any(not_finite(part) for part in value)
    return False


def fault(call: Callable[[], Any]) -> str:
    return "a result that is not finite" if not_finite(call()) else ""


def tries(rng: np.random.Generator, _: Path) -> Iterator[Try]:
    number = 0
    while True:
        try:
            model = random_mechanism(rng)
        except ph.ModelError:
            continue
        number += 1
        for name, call in calls(model, random_state(rng, model)).items():
            yield Try(name, f"mechanism {number}", partial(fault, call), warm=number <= WARM)
