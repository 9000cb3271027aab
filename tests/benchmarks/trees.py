"""The trees of the races: a humanoid of 30 hinges and a hand of 25, for us, Pinocchio and MuJoCo."""

from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from tests.verification.generators import links, unit_vector


def branches(stem: int, *limbs: tuple[int, int]) -> list[int]:
    """Parents of the bodies of a stem, then of limbs: (parent body, number of bodies) each."""
    parents = list(range(-1, stem - 1))
    for root, count in limbs:
        parents += [root, *range(len(parents), len(parents) + count - 1)]
    return parents


# spine 3 with neck 1 and arms of 7 at its end, legs of 6 at its root; wrist 2, five fingers of 4, palm 3
PARENTS = {
    "humanoid": branches(3, (2, 1), (2, 7), (2, 7), (0, 6), (0, 6)),
    "hand": branches(2, (1, 5), (1, 5), (1, 5), (1, 4), (1, 4)),
}


class Tree:
    """A tree of equal rods on hinges at their origins, about random axes."""

    def __init__(self, parents: list[int]) -> None:
        rng = np.random.default_rng(len(parents))
        self.parents = parents
        self.bodies = [dict(link) for link in links(len(parents))]
        self.axes = np.array([unit_vector(rng) for _ in parents])
        self.start = 0.1 * rng.standard_normal(len(parents))
        for body, parent in zip(self.bodies, parents):
            place = np.eye(4)
            if parent >= 0:  # limbs begin at the end of their parent
                place[:3, 3] = (*(0.05 * rng.standard_normal(2)), -0.3)
            body["joint_in_parent"] = place

    def model(self) -> Any:
        """Ours."""
        builder, made = ph.ModelBuilder(gravity=(0.0, 0.0, -9.81)), []
        for index, (body, parent) in enumerate(zip(self.bodies, self.parents)):
            hinge = ph.joints.Hinge(self.axes[index])
            made.append(
                builder.add_body(f"b{index}", made[parent] if parent >= 0 else None, joint=hinge, **body)
            )
        return builder.build()

    def described(self) -> list[dict[str, Any]]:
        """Arguments for `PinocchioTree` and `MujocoTree`."""
        return [
            body
            | {
                "parent": parent if parent >= 0 else None,
                "joint": ph.joints.Hinge(axis),
                "body_in_joint": np.eye(4),
                "inertia": np.asarray(body["inertia"]),
                **dict.fromkeys(("rest", "stiffness", "damping", "armature"), np.zeros(1)),
            }
            for body, parent, axis in zip(self.bodies, self.parents, self.axes)
        ]


def chain(axes: FloatArray, start: FloatArray) -> Tree:
    """A chain of hinges as a tree."""
    tree = Tree(list(range(-1, len(axes) - 1)))
    tree.bodies, tree.axes, tree.start = links(len(axes)), axes, start
    return tree
