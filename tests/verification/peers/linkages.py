"""Linkages with hinges that close loops, as lists of bodies and of connected points for several engines at once."""

from collections.abc import Callable
from typing import Any

import numpy as np

import physics as ph
from blender_scenes import walker_model
from physics._typing import FloatArray
from tests.physics.constraints.mechanisms import four_bar

Loop = list[tuple[int, FloatArray]]


def jansen_leg(number: int) -> tuple[Any, Any]:
    """One leg of the walking machine on a fixed frame, with an initial speed of the shaft: six links, three loops.

    The legs are mirrored, and start at different angles of the crank.
    """
    model = depth_first(walker_model.build_model(walker_model.legs()[number : number + 1], walks=False))
    return model, ph.assemble(model, model.state(qd={"Shaft": 5.0}))


def depth_first(model: Any) -> Any:
    """The same model in depth-first order: Pinocchio's coordinates of a branch are contiguous."""
    description = model.to_dict()
    entries = description["bodies"]

    def branch(parent: str | None) -> list[dict[str, Any]]:
        hanging = [entry for entry in entries if entry["parent"] == parent]
        return [one for entry in hanging for one in (entry, *branch(entry["name"]))]

    return ph.ModelBuilder.from_dict(description | {"bodies": branch(None)}).build()


def moving(make: Callable[[], tuple[Any, Any]], seed: int) -> tuple[Any, Any, FloatArray]:
    """A linkage in motion, and random generalized forces on it."""
    rng = np.random.default_rng(seed)
    model, state = make()
    run = ph.simulate(model, state, rng.uniform(0.2, 0.5), 1e-3, "rk4")
    state = ph.assemble(model, model.state(q=run.q[-1], qd=run.qd[-1]))
    tau = rng.standard_normal(model.num_coordinates)
    return model, state, tau


MADE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "four-bar": four_bar,
    "Jansen's leg, rear": lambda: jansen_leg(0),
    "Jansen's leg, front": lambda: jansen_leg(3),
}


def described(model: Any) -> tuple[list[dict[str, Any]], list[Loop]]:
    """Bodies as arguments of `add_body` (parent an index or None), without those fixed to the world, and the points
    that each of the hinges that close loops connects.
    """
    kept = [k for k, body in enumerate(model.bodies) if body.joint.num_coordinates]
    place = {old: new for new, old in enumerate(kept)}
    keys = ("joint", "joint_in_parent", "body_in_joint", "mass", "com", "inertia")
    nothing = {name: np.zeros(1) for name in ("stiffness", "rest", "damping", "armature")}
    bodies = []
    for k in kept:
        body = model.bodies[k]
        entry = {key: getattr(body, key) for key in keys} | nothing
        bodies.append(entry | {"parent": place.get(body.parent)})
    loops = []
    for hinge in model.constraints.values():
        ends = (hinge.body, hinge.frame), (hinge.other, hinge.other_frame)
        loops.append(
            [(-1 if name is None else place[model.index(name)], frame[:3, 3]) for name, frame in ends]
        )
    return bodies, loops
