"""Boxes linked by loops fall in piles: rows that say the same, and motions that nothing brings about."""

from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.constraints import HingeConstraint, PointConstraint
from physics.contacts import Box, Plane
from physics.geometry import lie

HALF = 0.1  # m
CORNERS = HALF * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def boxes(rng: np.random.Generator) -> tuple[ph.ModelBuilder, list[str], np.ndarray[Any, Any]]:
    """Four to seven free boxes of unlike masses, one above the other, and where they begin."""
    builder, count = ph.ModelBuilder(), int(rng.integers(4, 8))
    friction = float(rng.choice([0.3, 0.5, 0.8, 1.2]))
    names = [f"box {i}" for i in range(count)]
    for name in names:
        mass = float(10.0 ** rng.uniform(-1.0, 1.0))
        inertia = mass * (2.0 * HALF) ** 2 / 6.0 * np.eye(3)
        builder.add_body(name, joint=ph.joints.Free(), mass=mass, inertia=inertia)
    for name in names:
        builder.add_contact(f"{name} on ground", name, CORNERS, Plane(), friction=friction)
        for other in names:
            if other != name:
                builder.add_contact(
                    f"{name} on {other}",
                    name,
                    CORNERS,
                    Box((HALF, HALF, HALF)),
                    other=other,
                    friction=friction,
                )
    q = np.zeros((count, 6))
    q[:, :2] = 0.08 * rng.normal(size=(count, 2))
    q[:, 2] = HALF * (1.35 + 2.55 * np.arange(count))
    q[:, 3:] = 0.05 * rng.normal(size=(count, 3)) * (rng.random((count, 1)) < 0.5)
    return builder, names, q.ravel()


def linked(kind: str, seed: int) -> tuple[ph.Model, ph.State]:
    """Such boxes, most of which are linked to the next one half-way between them, about any axis or in a point."""
    rng = np.random.default_rng(seed)
    builder, names, q = boxes(rng)
    model = builder.build()
    poses = ph.body_poses(model, model.state(q=q))
    for i in range(len(names) - 1):
        if rng.random() < 0.4:
            continue
        frame = np.eye(4)
        frame[:3, :3] = lie.so3_exp(rng.normal(size=3))
        frame[:3, 3] = 0.5 * (poses[i][:3, 3] + poses[i + 1][:3, 3])
        mine, other = lie.inverse(poses[i]) @ frame, lie.inverse(poses[i + 1]) @ frame
        pair = names[i], names[i + 1]
        if kind == "point":
            constraint: Any = PointConstraint(*pair, point=mine[:3, 3], other_point=other[:3, 3])
        else:
            constraint = HingeConstraint(*pair, frame=mine, other_frame=other)
        builder.add_constraint(f"link {i}", constraint)
    model = builder.build()
    return model, model.state(q=q)


# Of these, impulses had grown without end in a step, and the links were torn.
@pytest.mark.parametrize(
    ("kind", "seed"),
    [("hinge", seed) for seed in (1, 4, 6, 9, 13, 14, 17, 18)]
    + [("point", seed) for seed in (0, 5, 6, 12, 21)]
    # faces that slip by nanometres a second, whose rows say the same but for round-off: 2e-9 to 7e-8
    + [("point", seed) for seed in (3, 4, 10, 13, 17)],
)
@pytest.mark.filterwarnings("ignore::physics.errors.SimulationWarning")
def test_linked_boxes_fall_in_piles_and_stay_linked(kind: str, seed: int) -> None:
    result = ph.simulate(*linked(kind, seed), 1.0, 1e-3)
    found = result.info["constraints"]
    # the residual that contacts are solved to; links are led back in each step, to round-off where they are not jammed
    assert found["residual"] < 1e-9


def test_links_that_press_against_contacts_are_not_led_astray() -> None:
    """Velocities half a step ahead knew of the links' forces and not of those of contacts against them: a box that
    turned at 2 rad/s was taken to turn at 40, and drifted off its link by 3 cm within a step.
    """
    found = ph.simulate(*linked("hinge", 58), 1.0, 1e-3).info["constraints"]
    # steps of 1 ms at some 15 rad/s leave a link of 0.1 m by (h w)^2 / 2 of that at most: 1e-5 m
    assert found["drift"] < 1e-3 and found["residual"] < 1e-9
