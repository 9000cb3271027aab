"""Bodies, chains and closed loops thrown onto rough ground."""

from itertools import pairwise
from typing import Any

import numpy as np

import physics as ph
from physics.constraints import HingeConstraint
from physics.contacts import Plane
from tests.physics.constraints.mechanisms import bar, pose

from .claim import Measurement, claim
from .claims_contacts import CORNERS, cube
from .generators import links, unit_vector
from .mechanisms import closure

GRAVITY = 9.81


def thrown_cube(rng: np.random.Generator, restitution: float) -> tuple[ph.Model, Any]:
    """A cube that flies and spins."""
    builder = ph.ModelBuilder()
    cube(builder, "cube")
    builder.add_contact("floor", "cube", CORNERS, Plane(), friction=0.6, restitution=restitution)
    model = builder.build()
    q = np.concatenate([[0.0, 0.0, 0.4], rng.normal(size=3)])
    return model, model.state(q=q, qd=np.concatenate([rng.normal(size=3), 3.0 * rng.normal(size=3)]))


def thrown_chain(rng: np.random.Generator, restitution: float) -> tuple[ph.Model, Any]:
    """Three rods on ball joints, with rounded ends."""
    builder, parent = ph.ModelBuilder(), None
    for index, link in enumerate(links(3)):
        joint = ph.joints.Spherical() if index else ph.joints.Free()
        parent = builder.add_body(f"link {index}", parent, joint=joint, **link)
        ends = [link["com"] * np.array(2.0)] + ([] if index else [(0.0, 0.0, 0.0)])
        laws = {"friction": 0.6, "restitution": restitution}
        builder.add_contact(f"floor {index}", f"link {index}", ends, Plane(), radius=0.02, **laws)
    model = builder.build()
    q = np.concatenate([[0.0, 0.0, 1.2], 0.7 * rng.normal(size=9)])
    return model, model.state(q=q, qd=rng.normal(size=12))


# During contact the method takes Euler steps of 0.1 ms, in which the fastest rods rotate by hundredths of a radian: the
# growth is their first-order error (3e-2 at 0.5 ms).
@claim("contacts.thrown", at_most=2e-3, cost="slow", count=60, seed=2)
@claim("contacts.thrown_quick", at_most=2e-3, count=6, seed=1)
def thrown(count: int, seed: int) -> Measurement:
    """{count} cubes and chains of three rods thrown onto rough ground, restitution 0 to 1, 0.8 s of the event-driven
    method: largest growth of the energy between samples, relative to that of the fall.
    """
    rng = np.random.default_rng(seed)
    growth: dict[str, float] = {}
    impacts = 0
    for index in range(count):
        restitution = float(rng.choice([0.0, rng.random(), 1.0]))
        name, make, mass, height = (("cube", thrown_cube, 1.0, 0.4), ("chain", thrown_chain, 3.0, 1.2))[
            index % 2
        ]
        model, state = make(rng, restitution)
        run = ph.simulate(model, state, 0.8, 1e-4, "event_driven", record_interval=0.01)
        rise = float(np.diff(run.energy[:, 2]).max() / (mass * GRAVITY * height))
        growth[name] = max(growth.get(name, -np.inf), rise)
        impacts += run.info["impacts"]
    return Measurement(max(growth.values()), growth | {"impacts": impacts})


# During contact the method takes Euler steps of 0.1 ms, in which the fastest rods rotate by hundredths of a radian: the
# growth is their first-order error (3e-2 at 0.5 ms).


def loose_linkage() -> tuple[ph.Model, Any]:
    """A closed four-bar linkage in free flight, with contact points at its corners."""
    builder = ph.ModelBuilder()
    inertia = np.diag([1e-3, 1.0 / 12.0, 1.0 / 12.0])
    builder.add_body("base", joint=ph.joints.Free(), mass=1.0, com=(0.5, 0.0, 0.0), inertia=inertia)
    lengths = {"base": 1.0, "second": 0.7, "third": 0.9, "fourth": 0.8}
    for before, name in pairwise(lengths):
        bar(builder, name, before, lengths[name], lengths[before])
    end = (lengths["fourth"], 0.0, 0.0)
    builder.add_constraint("loop", HingeConstraint("fourth", "base", frame=pose(end)))
    for name, length in lengths.items():
        laws = {"radius": 0.02, "friction": 0.5, "restitution": 0.3}
        builder.add_contact(f"floor {name}", name, [(length, 0.0, 0.0)], Plane(), **laws)
    model = builder.build()
    turn = 1.3 * unit_vector(np.random.default_rng(2))
    q = np.concatenate([[0.0, 0.0, 1.5], turn, [0.5 * np.pi - 0.2, 0.5 * np.pi + 0.2, 0.5 * np.pi - 0.2]])
    qd = np.concatenate([[0.5, 0.2, 0.0, 1.0, -0.5, 0.7], [1.0, -1.0, 1.0]])
    return model, ph.assemble(model, model.state(q=q, qd=qd))


@claim("contacts.linkage_on_the_floor", unit="m, rad", at_most=1e-8)
def linkage_on_the_floor() -> Measurement:
    """A closed four-bar linkage in free fall onto a rough floor, where it bounces and comes to rest, 2 s of RK4 at 1
    ms: largest violation of its closure.
    """
    model, state = loose_linkage()
    run = ph.simulate(model, state, 2.0, 1e-3, "rk4", record_interval=0.01)
    energy = run.energy[:, 2]
    details = run.info["constraints"] | {
        "energy lost [J]": float(energy[0] - energy[-1]),
        "largest growth of the energy [J]": float(np.diff(energy).max()),
        "lowest point [m]": float(run.poses[:, :, 2, 3].min()),
    }
    return Measurement(closure(model, run.poses), details)
